"""What the pages of the site take from the program instead of repeating it; MkDocs calls this for every page.

``<!-- features -->`` becomes the search language as the registry has it, ``<!-- aliases -->`` the aliases,
``<!-- columns -->`` the columns of the table of gsp-train, ``<!-- help COMMAND -->`` the help of a command, and
``<!-- readme: TITLE -->`` a section of the README.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gsp_fd.fd_integration.help import help_text
from gsp_fd.fd_integration.language.aliases import describe_aliases
from gsp_fd.fd_integration.language.features import Feature
from gsp_fd.fd_integration.language.registry import FEATURES, GROUPS

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- (features|aliases|columns|help|readme:?)(?: ([^>]*?))? -->")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page with the marks replaced."""
    makers: dict[str, Callable[[str], str]] = {
        "features": lambda _: features(),
        "aliases": lambda _: _block(describe_aliases()),
        "columns": lambda _: training_columns(),
        "help": lambda command: _block(command_help(command)),
        "readme:": readme_section,
    }
    return MARK.sub(lambda match: makers[match[1]](match[2] or ""), markdown)


def features() -> str:
    """The search language, group by group."""
    parts = []
    for kind, title in GROUPS.items():
        parts.append(f"## {title}")
        parts += [_feature(feature) for feature in FEATURES.values() if feature.kind == kind]
    return "\n\n".join(parts)


def _feature(feature: Feature) -> str:
    """A feature with a table of its parameters."""
    lines = [f"### {feature.name}", "", f"**{feature.title}.** {feature.help}", "", _block(feature.signature()), ""]
    if feature.parameters:
        lines += ["| parameter | type | meaning |", "|---|---|---|"]
        lines += [
            f"| `{parameter.name}` | {_cell(str(parameter.type))} | {_cell(parameter.help)} |"
            for parameter in feature.parameters
        ]
    lines += ["", *(f"- {name}: {value}" for name, value in feature.properties)]
    return "\n".join(lines)


def training_columns() -> str:
    """The columns of the table of ``gsp-train``."""
    from gsp_fd.training.progress import MEANINGS

    rows = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    return "\n".join(["| column | meaning |", "|---|---|", *rows])


def command_help(command: str) -> str:
    """What a command prints with ``--help``."""
    if command == "gsp-plan":
        return help_text()
    from gsp_fd import models_cli
    from gsp_fd.compare import cli as compare_cli
    from gsp_fd.generate import cli as generate_cli
    from gsp_fd.training.run import cli as train_cli

    parsers = {
        "gsp-train": train_cli.parser,
        "gsp-compare": compare_cli.parser,
        "gsp-generate": generate_cli.parser,
        "gsp-models": models_cli.parser,
    }
    return str(parsers[command]().format_help())


def readme_section(title: str) -> str:
    """A section of the README without its heading; its links are those of the repository, so it must have none."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.find(f"\n## {title}\n")
    if start < 0:
        raise ValueError(f"README.md has no section '{title}', which a page of the site shows")
    section = text[start + len(title) + 5 :].partition("\n## ")[0].strip()
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", section)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
