"""Commands run for real, and what they printed and when, as a film of a terminal: one SVG that plays without a script.

The one of the README is made by ``python scripts/terminal_recording.py --out docs/images/terminal.svg``.
"""

from __future__ import annotations

import argparse
import html
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMANDS = (
    "gsp-plan examples/blocksworld/p03.pddl --compare gsp-policy,hff-wastar",
    "gsp-plan examples/ferry/p02.pddl --heuristic gsp --search policy --explain plan.html | grep -A 17 'best actions'",
)
"""What is recorded by default."""
IDLE_SECONDS = 1.0
"""Longer silences are cut to this."""
TYPING_SECONDS = 0.02
"""For each letter of a command."""
LETTER, LINE, EDGE, BAR = 7.85, 18, 16, 34
"""Pixels: width of a letter, height of a line, empty border, title bar."""
STYLE = """\
svg { --page: #f7f8fa; --ink: #16191f; --quiet: #6b7280; --bar: #e3e6eb; --prompt: #0b5cad; }
@media (prefers-color-scheme: dark) { svg { --page: #14171c; --ink: #eceef2; --quiet: #8b95a5; --bar: #262c36;
  --prompt: #6cb2ff; } }
.page { fill: var(--page); } .bar { fill: var(--bar); } .dot { fill: var(--quiet); opacity: .6; }
text { font: 13px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink);
  white-space: pre; }
.command { font-weight: 700; } .prompt { fill: var(--prompt); font-weight: 700; }
@media (prefers-reduced-motion: no-preference) {
  .line { opacity: 0; animation: show .01s forwards; } @keyframes show { to { opacity: 1; } } }"""


@dataclass(frozen=True)
class Line:
    """A line of the terminal and the second in which it appears."""

    second: float
    text: str
    is_command: bool = False


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=COMMANDS, metavar="COMMAND", help="run by bash beside examples/")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.svg")
    options = parser.parse_args()
    try:
        lines = recorded(options.commands)
    except subprocess.CalledProcessError as error:
        print(f"terminal_recording: exit code {error.returncode} of: {error.cmd}", file=sys.stderr)
        return 1
    options.out.write_text(picture(lines), encoding="utf-8")
    return 0


def recorded(commands: Sequence[str]) -> list[Line]:
    """Runs the commands one after another; CalledProcessError if one fails."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    lines, now = [], 0.5
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(ROOT / "examples")
        for command in commands:
            lines.append(Line(now, command, is_command=True))
            now += TYPING_SECONDS * len(command)
            shell = ["bash", "-o", "pipefail", "-c", command]
            last = time.monotonic()
            with subprocess.Popen(shell, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for text in process.stdout:
                    now += min(IDLE_SECONDS, time.monotonic() - last)
                    last = time.monotonic()
                    lines.append(Line(now, text.rstrip("\n")))
            if process.returncode != 0:
                raise subprocess.CalledProcessError(process.returncode, command)
            now += IDLE_SECONDS
            lines.append(Line(now, ""))
    return lines[:-1]


def picture(lines: Sequence[Line]) -> str:
    """The SVG: every line appears in its second and stays; without motion all of them are there at once."""
    width = 2 * EDGE + LETTER * max(len(line.text) + 2 * line.is_command for line in lines)
    height = BAR + 2 * EDGE + LINE * len(lines)
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    dots = "".join(f'<circle class="dot" cx="{EDGE + 4 + 18 * i}" cy="{BAR / 2:g}" r="5"/>' for i in range(3))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="A terminal: {_label(lines)}">',
            f"<style>{STYLE}</style>",
            '<rect class="page" width="100%" height="100%" rx="8"/>',
            f'<path class="bar" d="M0,{BAR}V8a8,8 0 0 1 8,-8H{width - 8:.0f}a8,8 0 0 1 8,8V{BAR}z"/>{dots}',
            *(_text(line, BAR + EDGE + LINE * (place + 0.75)) for place, line in enumerate(lines) if line.text),
            "</svg>\n",
        ]
    )


def _label(lines: Sequence[Line]) -> str:
    return html.escape("; ".join(line.text for line in lines if line.is_command))


def _text(line: Line, height: float) -> str:
    prompt = '<tspan class="prompt">$ </tspan>' if line.is_command else ""
    kind = "line command" if line.is_command else "line"
    style = f'style="animation-delay:{line.second:.2f}s"'
    return f'<text class="{kind}" x="{EDGE}" y="{height:g}" {style}>{prompt}{html.escape(line.text)}</text>'


if __name__ == "__main__":
    sys.exit(main())
