"""The model card that stands beside a draft: what it is, what it was trained on, how, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from hsd_core.training.loop import Point
from hsd_core.training.recipes import Draft, Plan
from hsd_core.training.validate import Score


def card(
    name: str, *, draft: Draft, at: int, plan: Plan, target: str, data: str, examples: int, tokens: int, command: str,
    device: str, size: int, share: float, curve: Sequence[Point], kinds: Mapping[str, Sequence[Score]],
) -> str:  # fmt: skip
    """Markdown. kinds: by kind of prompt, the scores at each distance; share: see `loop.weight_share`."""
    reads = f"the state after layer {at}" if at else "the target's token embeddings"
    if draft.fed:
        reads += " and the target's last state of the position before (its own last state behind its own tokens)"
    total = _total(list(kinds.values()))
    lines = [
        f"# {name}",
        "",
        f"A draft for {target}. It reads {reads}, has {draft.layers} transformer layer(s) of its own and a head of",
        f"{plan.rows} rows (the tokens that the target writes most), shared with the target and not stored here.",
        "Licence: Apache-2.0, as the target's.",
        "",
        f"- file: {size / 1e6:.1f} MB, int8 weights with one scale a row",
        f"- one drafted token reads {share:.1%} of the weights that the target reads",
        f"- data: {data}; {examples} texts, {tokens} output tokens, loops cut off; one prompt in twenty held out",
        f"- trained on: {device}, {curve[-1].seconds / 60:.0f} min, {curve[-1].step} of {plan.steps} steps",
        f"- command: `{command}`",
        "- " + ", ".join(f"{key} {value}" for key, value in asdict(plan).items()),
        "",
        "## Validation",
        "",
        "Held-out prompts, with the rounded weights of the file. Agreement: its first choice is the target's.",
        "Acceptance: 1 - TV to the target's law at temperature 1. Distance: how many of its own states it has read",
        "since the target's last true one.",
        "",
        "| kind of prompt | tokens | distance | agreement | acceptance |",
        "|---|---|---|---|---|",
    ]
    for kind, scores in [*sorted(kinds.items()), ("all", total)]:
        for distance, score in enumerate(scores):
            lines.append(
                f"| {kind} | {score.positions} | {distance} | {score.agreement:.3f} | {score.acceptance:.3f} |"
            )
    lines += [
        "",
        "## Curve",
        "",
        "Predicted speed-up: the best two-level stack if acceptance were i.i.d. and time were weights read.",
        "",
        "| step | training loss | loss | agreement | acceptance | predicted speed-up |",
        "|---|---|---|---|---|---|",
    ]
    for p in curve:
        speed = f"{p.predicted_speed_up:.2f} at T = {p.predicted_block}"
        lines.append(
            f"| {p.step} | {p.train_loss:.3f} | {p.loss:.3f} | {p.agreement[0]:.3f} | {p.acceptance[0]:.3f} | {speed} |"
        )
    return "\n".join(lines).replace("| nan |", "| |") + "\n"


def _total(kinds: Sequence[Sequence[Score]]) -> list[Score]:
    return [sum(column, Score()) for column in zip(*kinds, strict=True)]
