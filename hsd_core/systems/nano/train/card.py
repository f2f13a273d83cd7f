"""The model card of a draft: what it is, its data and training, and its validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsd_core.systems.nano.train.evaluation import DraftScore
from hsd_core.systems.nano.train.loop import Point
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters


def card(
    name: str,
    draft: DraftShape,
    hyper: Hyperparameters,
    curve: Sequence[Point],
    kinds: Mapping[str, DraftScore],
    facts: Mapping[str, Any],
) -> str:
    """Markdown.

    Args:
        kinds: scores by kind of prompt. facts: `at`, `rows` (of the head), `joins` (where several layers are),
            `target`, `licence`, `data`, `examples` and `tokens` (of it), `device`, `command`, `size` (of the file,
            bytes), `share` (see `loop.weight_share`).
    """
    at, target, last = facts["at"], facts["target"], curve[-1]
    data = f"{facts['data']}; {facts['examples']} texts, {facts['tokens']} output tokens"
    reads = "" if not draft.layers else f"the state after layer {at}" if at else "the target's token embeddings"
    if draft.fed:
        states = f"states after layers {facts['joins'].replace('.', ', ')}" if draft.joins else "last state"
        fed = f"the target's {states} of the position before"
        own_state = " (its own last state behind its own tokens)" if draft.ahead == 1 else ""
        reads = f"{reads} and {fed}{own_state}" if reads else fed
    if draft.window:
        reads += f" and the keys and values of the target's last layer (own window: {draft.window} positions)"
    if draft.gated:
        reads += ", weighed against each other by a gate"
    own = (
        f"{draft.layers} transformer layer(s) of its own"
        if draft.layers
        else f"{draft.ahead} heads, one for each token"
    )
    if draft.mlp_width is not None:
        own += f" (MLPs of width {draft.mlp_width})"
    if draft.layers and draft.ahead > 1:
        own += f" that say {draft.ahead} tokens in one pass"
    lines = [
        f"# {name}",
        "",
        f"A draft for {target}. It reads {reads}, has {own} and a head of",
        f"{facts['rows']} rows (the tokens that the target writes most), shared with the target and not stored here.",
        f"Licence: {facts['licence']}, as the target's.",
        "",
        f"- file: {facts['size'] / 1e6:.1f} MB, int8 weights with one scale a row",
        "- it copies what the text says again, as far as a trained gate trusts that",
        f"- one drafted token reads {facts['share']:.1%} of the weights that the target reads",
        f"- data: {data}, loops cut off; one prompt in twenty held out",
        f"- trained on: {facts['device']}, {last.seconds / 60:.0f} min, {last.step} of {hyper.steps} steps",
        f"- command: `{facts['command']}`",
        "- " + ", ".join(f"{key}{' (at most)' * (key == 'rows')} {value}" for key, value in hyper.named().items()),
        "",
        "## Validation",
        "",
        "Held-out prompts, with the rounded weights of the file and the target's own states wherever it reads some.",
        "Agreement: its first choice is the target's. Acceptance: 1 - TV to the target's distribution at "
        "temperature 1.",
        "",
        "| kind of prompt | tokens | agreement | acceptance |",
        "|---|---|---|---|",
    ]
    for kind, score in [*sorted(kinds.items()), ("all", sum(kinds.values(), DraftScore()))]:
        lines.append(f"| {kind} | {score.positions} | {score.agreement:.3f} | {score.acceptance:.3f} |")
    lines += [
        "",
        "## Curve",
        "",
        "Predicted speed-up: the best two-level stack if acceptance were i.i.d. and time were weights read. Further",
        "values: of the second, third and fourth token of a draft, each where those before it were right.",
        "",
        "| step | training loss | loss | agreement | acceptance | predicted speed-up |",
        "|---|---|---|---|---|---|",
    ]
    for p in curve:
        speed = f"{p.predicted_speed_up:.2f} at T = {p.predicted_block}"
        lines.append(
            f"| {p.step} | {'' if p.train_loss is None else f'{p.train_loss:.3f}'} | {p.loss:.3f} | "
            f"{_several(p.agreement)} | {_several(p.acceptance)} | {speed} |"
        )
    return "\n".join(lines) + "\n"


def _several(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
