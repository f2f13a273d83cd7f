"""What a benchmark's runs say: a row a stack and a row a peer, Markdown tables of them, and the claim in a sentence."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hsd_core.measure.bench.prompts import task_of
from hsd_core.measure.bench.side_by_side import Measurement, PeerRun, plain_of
from hsd_core.measure.tables import OnClock, markdown, rounded, shares, stack_cells, with_interval
from hsd_core.models.sampling import is_greedy

RESAMPLES = 2000


class TimedStack(Protocol):
    """A run as its speed is read: tokens, and the ns on the engine's clock that they took."""

    @property
    def tokens(self) -> int: ...
    @property
    def decode_ns(self) -> int: ...


def sampled(about: Mapping[str, Any]) -> bool:
    """Whether a benchmark drew its tokens: then every stack writes a text of its own, and none is held to another's."""
    return not is_greedy(about)


def summary(measurements: Sequence[Measurement], *, drawn: bool = False) -> list[dict[str, Any]]:
    """A row a stack, fastest first: tokens/s, speed-up over its plain decoding with a 95 % interval, acceptance.

    `drawn`: see `sampled`; `equal` is None then.
    """
    by_stack: dict[str, dict[int, Measurement]] = {}
    for m in measurements:
        by_stack.setdefault(m.stack, {})[m.prompt] = m
    rows = [_summary_row(stack, own, by_stack[plain_of(stack)], drawn) for stack, own in by_stack.items()]
    return sorted(rows, key=lambda row: -row["tokens_per_s"])


def _summary_row(stack: str, own: dict[int, Measurement], plain: dict[int, Measurement], drawn: bool) -> dict[str, Any]:
    prompts = sorted(own.keys() & plain.keys())
    low, high = interval([(own[i], plain[i]) for i in prompts])
    judged, accepted = (
        [sum(counts) for counts in zip(*(getattr(own[i], name) for i in prompts), strict=True)]
        for name in ("judged", "accepted")
    )
    diverged, tasks = [own[i] for i in prompts if own[i].diverges], {i: task_of(own[i].category) for i in prompts}
    return {
        "stack": stack,
        "plain": plain_of(stack),
        "prompts": len(prompts),
        "tokens_per_s": rate([own[i] for i in prompts]),
        "speed_up": speed_up([(own[i], plain[i]) for i in prompts]),
        "interval": (low, high),
        "slower_on": sum(speed_up([(own[i], plain[i])]) < 1.0 for i in prompts),
        "tokens_per_target_forward": sum(own[i].tokens for i in prompts)
        / max(1, sum(own[i].target_forwards for i in prompts)),
        "acceptance": [a / n if n else None for a, n in zip(accepted, judged, strict=True)],
        "drafted": accepted[-1] / max(1, sum(own[i].tokens for i in prompts)),
        "draft_ms": _draft_ms([own[i] for i in prompts]),
        "equal": None if drawn else sum(own[i].holds for i in prompts),
        "ties": [m.margin for m in diverged if m.holds],
        "tasks": {
            task: speed_up([(own[i], plain[i]) for i in prompts if tasks[i] == task])
            for task in dict.fromkeys(tasks.values())
        },
    }


def _draft_ms(runs: Sequence[Measurement]) -> float | None:
    """Of all levels below the target, for each of its forward passes; None where it was not kept."""
    if not all(run.busy_ns for run in runs):
        return None
    return sum(sum(run.busy_ns[:-1]) for run in runs) / 1e6 / max(1, sum(run.target_forwards for run in runs))


def peer_rows(
    runs: Sequence[PeerRun], plain: Mapping[int, Measurement], missing: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A row a peer: its tokens/s over the prompts that it did not fail on, our plain decoding's over the same
    ones, or why there is none.

    Args:
        plain: prompt -> our plain decoding of the target. missing: name -> why it was not run.
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(run.peer for run in runs):
        asked = [run for run in runs if run.peer == name and run.prompt in plain]
        own, failed = [run for run in asked if not run.failed], [run for run in asked if run.failed]
        why = f"failed on {len(failed)} of {len(asked)} prompts ({failed[0].failed})" if failed else ""
        if not own:
            rows.append({"name": name, "tokens_per_s": None, "why": why})
            continue
        rows.append(
            {
                "name": name,
                "tokens_per_s": rate(own),
                "beside_plain": rate(own) / rate([plain[run.prompt] for run in own]),
                "prompts": len(own),
                "same_tokens": sum(run.equal for run in own) / max(1, sum(run.of for run in own)),
                "why": why,
            }
        )
    return rows + [{"name": name, "tokens_per_s": None, "why": why} for name, why in missing.items()]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The summary as a Markdown table."""
    head = ("stack", "tokens/s", "speed-up (95 % interval)", "slower on", "per target forward", "accepted, by level")
    called = stack_cells(row["stack"] for row in rows)
    return markdown((*head, "equal"), (_cells(row, called[row["stack"]]) for row in rows))


def _cells(row: Mapping[str, Any], stack: str) -> Sequence[object]:
    ties = f" ({len(row['ties'])} up to a tie of {max(row['ties']):.1g})" if row["ties"] else ""
    equal = "-" if row["equal"] is None else f"{row['equal']}/{row['prompts']}{ties}"
    gain = (with_interval(row["speed_up"], row["interval"], 2), f"{row['slower_on']}/{row['prompts']}")
    accepted = (f"{row['tokens_per_target_forward']:.2f}", shares(row["acceptance"]))
    return (stack, rounded(row["tokens_per_s"]), *gain, *accepted, equal)


def drafts_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """What drafting takes and brings, a row a stack, as a Markdown table."""
    head = ("stack", "speed-up (95 % interval)", "ms of drafting, per target forward", "of the text, drafted")
    called = stack_cells(row["stack"] for row in rows)
    return markdown(head, (_draft_cells(row, called[row["stack"]]) for row in rows))


def _draft_cells(row: Mapping[str, Any], stack: str) -> Sequence[object]:
    ms = "-" if row["draft_ms"] is None else f"{row['draft_ms']:.2f}"
    return (stack, with_interval(row["speed_up"], row["interval"], 2), ms, f"{row['drafted']:.1%}")


def rate(runs: Sequence[TimedStack]) -> float:
    """tokens/s of all runs together."""
    return sum(m.tokens for m in runs) / max(1e-9, sum(m.decode_ns for m in runs) / 1e9)


def speed_up(pairs: Sequence[tuple[TimedStack, TimedStack]]) -> float:
    """tokens/s of the first runs of all pairs / tokens/s of the second ones."""
    return rate([own for own, _ in pairs]) / rate([plain for _, plain in pairs])


def interval(pairs: Sequence[tuple[TimedStack, TimedStack]]) -> tuple[float, float]:
    """The speed-up's 95 % interval: a bootstrap over pairs."""
    drawn = _drawn(len(pairs))
    own, plain = ([pair[i] for pair in pairs] for i in (0, 1))
    ratios = np.sort(_rates(own, drawn) / _rates(plain, drawn))
    return float(ratios[int(0.025 * RESAMPLES)]), float(ratios[int(0.975 * RESAMPLES)])


def _rates(runs: Sequence[TimedStack], drawn: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """`rate` of each sample of these runs; drawn: (samples, runs), their places."""
    tokens, ns = (np.array([getattr(m, name) for m in runs]) for name in ("tokens", "decode_ns"))
    rates: npt.NDArray[np.float64] = tokens[drawn].sum(1) / np.maximum(1e-9, ns[drawn].sum(1) / 1e9)
    return rates


@lru_cache(maxsize=8)
def _drawn(pairs: int) -> npt.NDArray[np.int64]:
    """(RESAMPLES, pairs) places, drawn with replacement: the same ones for every stack over as many prompts."""
    chance = random.Random(0)
    return np.array([chance.choices(range(pairs), k=pairs) for _ in range(RESAMPLES)])


Row = dict[str, Any]


def best_by_levels(rows: Iterable[Row], plain: str) -> list[Row]:
    """The fastest stack of each number of levels over one target, fastest first; `rows` as `summary` gives them."""
    best: dict[int, Row] = {}
    for row in rows:
        if row["plain"] == plain:
            best.setdefault(levels(row["stack"]), row)
    return sorted(best.values(), key=lambda row: -row["tokens_per_s"])


def levels(stack: str) -> int:
    """How many levels a stack has."""
    return stack.count(",") + 1


def claim(rows: Sequence[Row], measured: Sequence[Measurement], plain: str) -> dict[str, Any]:
    """The claim of a benchmark over one target.

    Args:
        rows: as `summary` gives them; those on a clock that is named are no part of the claim. measured: what they were
            made of. plain: plain decoding of the target.
    Returns:
        `best`: of each number of levels but plain decoding, fastest first; `over`: what the first of them gains over
        the second on the same prompts, with its 95 % interval, or None; `loses`: the stacks whose whole interval is
        below plain decoding, slowest first. Of a stack `tokens` come from one round, which takes as long as `passes`
        of plain decoding: its speed-up is the one over the other.
    """
    rows = [row for row in rows if not OnClock.read(row["stack"]).clock]
    best = [row for row in best_by_levels(rows, plain) if row["stack"] != plain]
    loses = [row for row in rows if row["plain"] == plain and row["interval"][1] < 1.0]
    return {
        "best": [_entry(row) for row in best],
        "over": _over(best[0]["stack"], best[1]["stack"], measured) if len(best) > 1 else None,
        "loses": [_entry(row) for row in reversed(loses)],
    }


def _entry(row: Row) -> dict[str, Any]:
    tokens, gain = row["tokens_per_target_forward"], row["speed_up"]
    return {
        "stack": row["stack"],
        "levels": levels(row["stack"]),
        "speed_up": gain,
        "interval": row["interval"],
        "tokens": tokens,
        "passes": tokens / gain,
    }


def _over(stack: str, other: str, measured: Sequence[Measurement]) -> dict[str, Any]:
    own, beside = ({run.prompt: run for run in measured if run.stack == name} for name in (stack, other))
    pairs = [(own[i], beside[i]) for i in sorted(own.keys() & beside.keys())]
    return {"speed_up": speed_up(pairs), "interval": interval(pairs)}
