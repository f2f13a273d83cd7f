"""Stacks measured side by side with plain decoding of the same target.

For every prompt, plain decoding and all stacks run one after another in an order that rotates from prompt to prompt,
with the same kernels, seed and length; one run of each on the first prompt warms everything up and is dropped. A
stack's speed-up is the ratio of total tokens/s over all prompts; its interval is a bootstrap over prompts, so that one
odd prompt shows.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hsd_core.stacks.grammar import format_stack, parse
from hsd_core.trace import Event, Footer, metrics
from hsd_core.trace.comparison import Comparison, compare
from hsd_core.trace.texts import Line
from hsd_core.trace.typed import records

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the kind of text that it asks for."""

    text: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run. Times in ns on the engine's clock; `equal` and `margin` compare its ids with plain decoding's.

    `judged`, `accepted`: tokens of the level below that each level judged, and those of them that it accepted.
    """

    prompt: int
    category: str
    stack: str
    tokens: int
    decode_ns: int
    prefill_ns: int
    target_forwards: int
    judged: tuple[int, ...]
    accepted: tuple[int, ...]
    equal: int
    diverges: bool
    margin: float | None

    @property
    def holds(self) -> bool:
        """Equal to plain decoding as the project defines it."""
        return Comparison(self.equal, self.diverges, self.margin).holds


Runner = Callable[[str, str], Iterable[Event]]


def read_prompts(path: str | Path) -> list[Prompt]:
    """A prompts file: JSON lines with `prompt`, or Spec-Bench's `turns` (the first is used), and `category`.

    Raises:
        ValueError: a line is neither; the message names it.
    """
    prompts = []
    for where, line in records(path, Line, 'JSON with "prompt" or "turns"'):
        if line.text is None:
            raise ValueError(f'{where}: expected JSON with "prompt" or "turns"')
        prompts.append(Prompt(line.text, line.category))
    if not prompts:
        raise ValueError(f"{path}: no prompts in it")
    return prompts


def read_stacks(path: str | Path) -> list[str]:
    """A stacks file: one stack a line; empty lines and lines that begin with # are passed over."""
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    stacks = [format_stack(parse(line)) for line in lines if line and not line.startswith("#")]
    if not stacks:
        raise ValueError(f"{path}: no stacks in it")
    return stacks


def plain_of(stack: str) -> str:
    """Plain decoding of a stack's target: its own baseline."""
    target = parse(stack)[-1]
    options = "".join(f"@{k}={v}" for k in ("dtype", "device", "id") if (v := getattr(target, k)))
    return target.name + options


def with_plain(stacks: Iterable[str]) -> list[str]:
    """Plain decoding of each target, then the stacks; each once."""
    stacks = list(stacks)
    return list(dict.fromkeys([*map(plain_of, stacks), *stacks]))


def sweep(
    runner: Runner, stacks: Sequence[str], prompts: Sequence[Prompt], *, done: frozenset[int] = frozenset()
) -> Generator[Measurement, None, None]:
    """Measure. `runner(stack, prompt text)` gives a run's events; prompts in `done` are passed over."""
    everything = with_plain(stacks)
    todo = [i for i in range(len(prompts)) if i not in done]
    if todo:
        for stack in everything:  # warm-up: measured like the rest, and dropped
            for _ in runner(stack, prompts[todo[0]].text):
                pass
    for turn, i in enumerate(todo):
        at = turn % len(everything)
        runs = {stack: list(runner(stack, prompts[i].text)) for stack in everything[at:] + everything[:at]}
        for stack in everything:
            yield _measurement(i, prompts[i], stack, runs[stack], runs[plain_of(stack)])


def _measurement(i: int, prompt: Prompt, stack: str, run: list[Event], plain: list[Event]) -> Measurement:
    figures = metrics.measure(run)
    footer = next(e for e in run if isinstance(e, Footer))
    same = compare(run, plain)
    return Measurement(
        prompt=i,
        category=prompt.category,
        stack=stack,
        tokens=footer.committed,
        decode_ns=footer.decode_ns,
        prefill_ns=footer.prefill_ns,
        target_forwards=footer.totals[-1].forwards,
        judged=tuple(level["judged"] for level in figures["levels"]),
        accepted=tuple(level["accepted"] for level in figures["levels"]),
        equal=same.equal,
        diverges=same.diverges,
        margin=same.margin,
    )


def summary(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """A row a stack, fastest first: tokens/s, speed-up over its plain decoding with a 95 % interval, acceptance."""
    by_stack: dict[str, dict[int, Measurement]] = {}
    for m in measurements:
        by_stack.setdefault(m.stack, {})[m.prompt] = m
    rows = [_summary_row(stack, own, by_stack[plain_of(stack)]) for stack, own in by_stack.items()]
    return sorted(rows, key=lambda row: -row["tokens_per_s"])


def _summary_row(stack: str, own: dict[int, Measurement], plain: dict[int, Measurement]) -> dict[str, Any]:
    prompts = sorted(own.keys() & plain.keys())
    low, high = _interval([(own[i], plain[i]) for i in prompts])
    judged, accepted = (
        [sum(counts) for counts in zip(*(getattr(own[i], name) for i in prompts), strict=True)]
        for name in ("judged", "accepted")
    )
    diverged = [own[i] for i in prompts if own[i].diverges]
    return {
        "stack": stack,
        "plain": plain_of(stack),
        "prompts": len(prompts),
        "tokens_per_s": _rate([own[i] for i in prompts]),
        "speed_up": _speed_up([(own[i], plain[i]) for i in prompts]),
        "interval": (low, high),
        "median_speed_up": statistics.median(_speed_up([(own[i], plain[i])]) for i in prompts),
        "slower_on": sum(_speed_up([(own[i], plain[i])]) < 1.0 for i in prompts),
        "tokens_per_target_forward": sum(own[i].tokens for i in prompts)
        / max(1, sum(own[i].target_forwards for i in prompts)),
        "acceptance": [a / n if n else None for a, n in zip(accepted, judged, strict=True)],
        "equal": sum(own[i].holds for i in prompts),
        "ties": [m.margin for m in diverged if m.holds],
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The summary as a Markdown table."""
    lines = [
        "| stack | tokens/s | speed-up (95 % interval) | slower on | per target forward | accepted, by level | equal |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        accepted = " / ".join("-" if a is None else f"{a:.2f}" for a in row["acceptance"][1:]) or "-"
        equal = f"{row['equal']}/{row['prompts']}"
        if row["ties"]:
            equal += f" ({len(row['ties'])} up to a tie of {max(row['ties']):.1g})"
        low, high = row["interval"]
        lines.append(
            f"| `{row['stack']}` | {row['tokens_per_s']:.1f} | {row['speed_up']:.2f} ({low:.2f} to {high:.2f}) "
            f"| {row['slower_on']}/{row['prompts']} | {row['tokens_per_target_forward']:.2f} | {accepted} | {equal} |"
        )
    return "\n".join(lines)


def whole(measurements: Iterable[Measurement], stacks: Iterable[str]) -> list[Measurement]:
    """Those of the prompts on which all of the stacks were run: a sweep that was interrupted has others too."""
    by_prompt: dict[int, list[Measurement]] = {}
    for m in measurements:
        by_prompt.setdefault(m.prompt, []).append(m)
    wanted = set(stacks)
    return [m for own in by_prompt.values() if {x.stack for x in own} == wanted for m in own]


def from_record(record: Mapping[str, Any]) -> Measurement:
    """The inverse of `asdict`, also of what went through JSON.

    Raises:
        ValueError: it is no measurement.
    """
    try:
        counts = {name: tuple(int(n) for n in record[name]) for name in ("judged", "accepted")}
        return Measurement(**{**record, **counts})
    except (KeyError, TypeError):
        raise ValueError(f"{str(record)[:60]} is no measurement of this version; measure anew") from None


def _rate(runs: Sequence[Measurement]) -> float:
    return sum(m.tokens for m in runs) / max(1e-9, sum(m.decode_ns for m in runs) / 1e9)


def _speed_up(pairs: Sequence[tuple[Measurement, Measurement]]) -> float:
    return _rate([own for own, _ in pairs]) / _rate([plain for _, plain in pairs])


def _interval(pairs: Sequence[tuple[Measurement, Measurement]]) -> tuple[float, float]:
    chance = random.Random(0)
    ratios = sorted(_speed_up(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return ratios[int(0.025 * RESAMPLES)], ratios[int(0.975 * RESAMPLES)]
