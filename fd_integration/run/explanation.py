"""``--explain``: a plan step by step, with what the learned Q-function and hFF say about every state on the way."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsp_fd import _core
from gsp_fd.common.errors import InputError

if TYPE_CHECKING:
    from gsp_fd.model import Model
    from gsp_fd.task import Task

SHOWN = 3
"""Actions that are shown of each state, the best first."""
WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP = 640, 270, 48, 84, 46, 12


@dataclass(frozen=True)
class Step:
    """One step of a plan, seen from the state before it."""

    action: str
    rest: int
    """Cost of the plan from here on."""
    hff: float
    q: tuple[tuple[str, float], ...] = ()
    """All actions of the state with their values, the best first; empty without a model."""

    @property
    def h(self) -> float:
        """What the model expects the way to the goal to cost."""
        return -self.q[0][1] if self.q else math.nan

    @property
    def rank(self) -> int:
        """How many actions the model likes better than the one of the plan."""
        values = dict(self.q)
        return sum(value > values[self.action] for value in values.values()) if self.q else 0


def explained(task: Task, plan: Sequence[str], model: str | None) -> tuple[list[Step], str]:
    """The steps of a plan with the values of a model, by default the one that fits; why there is none, if so."""
    from gsp_fd.model import Model
    from gsp_fd.model_library import AUTO, find_model

    if task.lifted is None:
        return steps_of(task, plan, None), "the task has no lifted form"
    try:
        found = Model(find_model(model or AUTO, task.lifted), device="cpu")
        found.check_fit(task.lifted)
    except InputError as error:
        return steps_of(task, plan, None), str(error)
    return steps_of(task, plan, found), ""


def steps_of(task: Task, plan: Sequence[str], model: Model | None) -> list[Step]:
    """The steps of a plan for the task."""
    space: _core.LiftedSpace | _core.GroundSpace
    lifted = _core.LiftedSpace(task.native_lifted(), False) if task.is_lifted else None
    space = lifted or _core.GroundSpace(task.ground())
    states, costs = [space.initial_state()], []
    for name in plan:
        operator = next(op for op in space.applicable(states[-1]) if space.operator_name(op) == name)
        costs.append(space.cost(operator))
        states.append(space.apply(states[-1], operator))
    numbers = np.array(states[:-1], np.int32)
    hff = task.heuristic("ff").evaluate(space, numbers).tolist() if len(numbers) else []
    rows = model.q_of_states(task)(lifted, numbers) if model is not None and lifted is not None else [[]] * len(plan)
    rest = [sum(costs[i:]) for i in range(len(plan))]
    return [
        Step(name, left, h, tuple(sorted(((space.operator_name(op), q) for op, q in row), key=lambda pair: -pair[1])))
        for name, left, h, row in zip(plan, rest, hff, rows, strict=True)
    ]


def summary(steps: Sequence[Step]) -> str:
    """What stands out."""
    left = [number for number, step in enumerate(steps, 1) if step.rank]
    if not steps or not steps[0].q:
        return f"{len(steps)} steps; there is no model for this task, so only hFF is shown."
    if not left:
        return f"{len(steps)} steps, each the greedy choice of the model."
    shown = ", ".join(map(str, left[:10])) + (" …" if len(left) > 10 else "")
    return f"{len(steps)} steps; the plan leaves the greedy choice of the model in {len(left)} of them: {shown}."


def text_lines(steps: Sequence[Step]) -> list[str]:
    """For the log."""
    width = max([6, *(len(step.action) for step in steps)])
    lines = [f"{'step':>5} {'rest':>6} {'GSP':>8} {'hFF':>6}  {'action':{width}}   best actions by Q"]
    for number, step in enumerate(steps, 1):
        best = ", ".join(f"{name} {value:.2f}" for name, value in step.q[:SHOWN])
        mark = f"! {step.rank} better: {best}" if step.rank else f"  {best}"
        values = f"{number:5} {step.rest:6} {_number(step.h):>8} {step.hff:6g}"
        lines.append(f"{values}  {step.action:{width}} {mark}".rstrip())
    return [*lines, summary(steps)]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


STYLE = """\
:root { --ink: #16181d; --soft: #5a6070; --grid: #dfe2e8; --page: #fff; --gsp: #2456c8; --hff: #b03a5b;
  --mark: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #a4abba; --grid: #343a46; --page: #14171d;
  --gsp: #8ab0ff; --hff: #f08aa8; --mark: #3b3115; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 0 auto; padding: 1em; color: var(--ink);
  background: var(--page); }
h1 { font-size: clamp(1.3rem, 1rem + 2vw, 2rem); line-height: 1.2; } figure { margin: 0 0 1em; }
svg { width: 100%; height: auto; } svg text { font: 14px system-ui, sans-serif; fill: var(--ink); }
@media (max-width: 600px) { svg text { font-size: 20px; }
  .wide::before { content: "⇆ scroll sideways for more"; position: sticky; left: 0; color: var(--soft); } }
polyline { fill: none; stroke-width: 2.5; } .gsp { stroke: var(--gsp); }
.hff { stroke: var(--hff); stroke-dasharray: 7 4; }
.rest { stroke: var(--soft); stroke-dasharray: 2 3; } .grid { stroke: var(--grid); } .key { font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; white-space: nowrap; font-size: 14px; font-variant-numeric: tabular-nums; }
td, th { padding: 3px 12px 3px 0; text-align: right; border-bottom: 1px solid var(--grid); vertical-align: top; }
.text { text-align: left; } tr.left { background: var(--mark); } .soft, figcaption { color: var(--soft); }"""


def page(title: str, steps: Sequence[Step]) -> str:
    """One HTML file without scripts, for phones and dark rooms too."""
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><meta name="color-scheme" content="light dark"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style></head><body>"
    )
    caption = (
        "What is left to do: of the plan (dotted), by the model (line) and by hFF (dashed), before every step. "
        "Marked steps below are not the greedy choice of the model."
    )
    rows = "".join(_row(number, step) for number, step in enumerate(steps, 1))
    columns = '<th>step</th><th>rest</th><th>GSP</th><th>hFF</th><th class="text">action</th>'
    table = f'<table><tr>{columns}<th class="text">best actions by Q</th></tr>{rows}</table>'
    return "\n".join(
        [
            head,
            f"<h1>{html.escape(title)}</h1><p>{html.escape(summary(steps))}</p>",
            f"<figure>{_curves(steps)}<figcaption>{caption}</figcaption></figure>" if steps else "",
            f'<div class="wide">{table}</div></body></html>\n',
        ]
    )


def _row(number: int, step: Step) -> str:
    best = "<br>".join(f"{value:.2f} {html.escape(name)}" for name, value in step.q[:SHOWN])
    cells = f"<td>{number}</td><td>{step.rest}</td><td>{_number(step.h)}</td><td>{step.hff:g}</td>"
    kind = ' class="left"' if step.rank else ""
    note = f' <span class="soft">({step.rank} better)</span>' if step.rank else ""
    return f'<tr{kind}>{cells}<td class="text">{html.escape(step.action)}{note}</td><td class="text">{best}</td></tr>'


def _curves(steps: Sequence[Step]) -> str:
    """Cost to go along the plan: one axis, for the three ways to know it."""
    series = {"rest": [float(step.rest) for step in steps], "hff": [step.hff for step in steps]}
    if steps[0].q:
        series["gsp"] = [step.h for step in steps]
    known = [value for values in series.values() for value in values if math.isfinite(value)]
    high = max([1.0, *known])
    bottom, across = HEIGHT - BOTTOM, (WIDTH - LEFT - RIGHT) / max(1, len(steps) - 1)

    def up(value: float) -> float:
        return bottom - (bottom - TOP) * max(0.0, value) / high

    parts = []
    for value in (0, high / 2, high):
        parts.append(f'<path class="grid" d="M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{value:.0f}</text>')
    for number in sorted({1, (len(steps) + 1) // 2, len(steps)}):
        place = f'x="{LEFT + across * (number - 1):.1f}" y="{bottom + 20}"'
        parts.append(f'<text {place} text-anchor="middle">{number}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">step</text>')
    for height, (name, values) in enumerate(series.items()):
        points = " ".join(
            f"{LEFT + across * i:.1f},{up(value):.1f}" for i, value in enumerate(values) if math.isfinite(value)
        )
        label, y = {"rest": "plan", "hff": "hFF", "gsp": "GSP"}[name], TOP + 24 * height
        parts.append(f'<polyline class="{name}" points="{points}"/>')
        parts.append(f'<text class="key" x="{WIDTH - RIGHT + 6}" y="{y + 14}">{label}</text>')
        parts.append(f'<polyline class="{name}" points="{WIDTH - 26},{y + 9} {WIDTH - 2},{y + 9}"/>')
    label = "Cost to go along the plan"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
