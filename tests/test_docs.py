"""The site builds without a warning, no link is broken, and every command in README and docs runs or says why not.

The blocks of a page run one after another in a folder of their own, with a domain, a problem, a SAS file and the
examples in it. What takes minutes for people takes seconds here: ``--minutes`` are cut.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gsp_fd.fd_integration.language.registry import FEATURES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHERS = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
FOLDERS = ("fd_integration", "examples", "docs/results")
TEXTS = [*PAGES, *(ROOT / name for name in OTHERS), *(ROOT / folder / "README.md" for folder in FOLDERS)]
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    reason: str

    @property
    def runs(self) -> bool:
        return self.language != "text" and not self.reason


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    found = [Block(match["language"], match["text"], match["reason"] or "") for match in BLOCK.finditer(text)]
    assert 2 * len(found) == len(re.findall(r"^```", text, re.M)), "a block without an end"
    return found


def folder_for(page: Path, folder: Path) -> None:
    """What commands of a page find where they run."""
    example = ROOT / "examples" / "blocksworld"
    shutil.copy(example / "domain.pddl", folder)
    shutil.copy(example / "p01.pddl", folder / "problem.pddl")
    (folder / "examples").symlink_to(ROOT / "examples")
    command = [sys.executable, "-m", "gsp_fd.fd_integration", "--translate", "domain.pddl", "problem.pddl"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def shortened(text: str) -> str:
    """The same commands with seconds in the place of minutes, and without other processes."""
    return re.sub(r"--minutes \S+", lambda match: f"--minutes {float(match[0].split()[1]) / 200} --workers 0", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_runs_or_says_why_not(page: Path, tmp_path: Path) -> None:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert {block.language for block in blocks} <= {"sh", "python", "text"}, "a block without a language"
    running = [block for block in blocks if block.runs]
    if not running:
        return
    folder_for(page, tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for block in running:
        if block.language == "sh":
            command = ["bash", "-e", "-o", "pipefail", "-c", shortened(block.text)]
        else:
            command = [sys.executable, "-c", block.text]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{block.text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_a_failing_command_would_be_seen() -> None:
    page = "```sh\nfalse\n```\n<!-- not run: no disk -->\n```sh\nrm\n```\n```text\nfalse\n```\n"
    assert [block.runs for block in blocks_of(page)] == [True, False, False]
    assert shortened("gsp-train d p --minutes 10") == "gsp-train d p --minutes 0.05 --workers 0"


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


def test_the_site_has_the_language_as_the_program_has_it(site: Path) -> None:
    text = (site / "search-language.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in text for name in FEATURES)
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert "--max-expansions" in commands
    assert "--relaxed-plan" in commands
    assert "<!-- " not in (site / "performance.html").read_text(encoding="utf-8").partition("<article")[2]


def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    """MkDocs checks links between pages; this also sees what hooks and the theme make of them."""
    pages = [page for page in site.glob("*.html") if page.stem != "404"]
    assert len(pages) > 10
    for page in pages:
        text = page.read_text(encoding="utf-8")
        names = set(re.findall(r'id="([^"]+)"', text))
        for target in set(re.findall(r'(?:href|src)="([^"]+)"', text)):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:|//", target):
                continue
            assert (page.parent / path).exists() if path else anchor in names or not anchor, f"{page.name}: {target}"
