"""What a race says: a row a lane, from the traces of the repeat that is shown and from what every repeat took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.bench.side_by_side import plain_of
from hsd_core.measure.bench.summary import interval, rate, speed_up
from hsd_core.measure.race.race_file import SCHEMA, Race, Raced, took
from hsd_core.measure.race.running import Heat
from hsd_core.measure.results.rawfile import now, ran_on
from hsd_core.measure.results.sheet import markdown, rounded, stack_cells
from hsd_core.models.sampling import is_greedy
from hsd_core.trace import metrics
from hsd_core.trace.comparison import TIE, compare
from hsd_core.trace.naming import clock_of

MEASURED = ("", "real")  # clocks of times that passed


def middle(heats: Sequence[Heat]) -> int:
    """The repeat to show: that of the middle total time."""
    times = [sum(took(lane).decode_ns for lane in heat.lanes) for heat in heats]
    return sorted(range(len(heats)), key=lambda i: times[i])[len(heats) // 2]


def rows(raced: Raced) -> list[dict[str, Any]]:
    """A row a lane, in their order.

    `clock`: whose times they are, "" where they were measured one level after another. `tokens_per_s`, `speed_up` over
    the first lane, and its `interval` (paired by repeat; None of one repeat) are of all repeats together; so is the
    `place` by tokens/s among the lanes that were measured: None on a reckoned clock, which nobody ran against.
    `same`: how its text compares with the first lane's, None where chance draws each text: `equal` leading ids;
    `diverges`; `margin` of the first lane's two best logits there; `tie`, whether that is a near tie; `target`, whether
    both lanes have the same one.
    """
    race = raced.race
    greedy = is_greedy(metrics.header_of(raced.lanes[0]).sampling)
    shown = [took(lane) for lane in raced.lanes]
    speeds = [rate(own) for own in zip(*race.repeats, strict=True)]
    found = []
    clocks = [clock_of(metrics.header_of(lane)) for lane in raced.lanes]
    measured = [speed for speed, clock in zip(speeds, clocks, strict=True) if clock in MEASURED]
    for i, lane in enumerate(raced.lanes):
        pairs = [(repeat[i], repeat[0]) for repeat in race.repeats]
        info = metrics.header_of(lane)
        found.append(
            {
                "stack": race.stacks[i],
                "clock": clocks[i],
                "lossless": info.lossless,
                "lossless_reason": info.lossless_reason,
                "tokens": shown[i].tokens,
                "prefill_ns": shown[i].prefill_ns,
                "tokens_per_s": speeds[i],
                "place": 1 + sum(other > speeds[i] for other in measured) if clocks[i] in MEASURED else None,
                "speed_up": speed_up(pairs),
                "interval": interval(pairs) if i and len(pairs) > 1 else None,
                "same": _same(raced, i) if i and greedy else None,
                "accepted_per_pass": metrics.measure(lane)["tokens_per_target_forward"],
            }
        )
    return found


def _same(raced: Raced, lane: int) -> dict[str, Any]:
    found = compare(raced.lanes[lane], raced.lanes[0])
    return {
        **asdict(found),
        "tie": found.margin is not None and found.margin < TIE,
        "target": _target(raced.race.stacks[lane]) == _target(raced.race.stacks[0]),
    }


def _target(stack: str) -> str:
    try:
        return plain_of(stack)
    except StackError:  # of a version with other kinds of level
        return stack.rpartition(",")[2]


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a Markdown table."""
    head, body = ("place", "stack", "tokens/s", "speed-up (95 % interval)", "text"), []
    called = stack_cells(row["stack"] for row in found)
    for row in found:
        ends = " ({:.2f} to {:.2f})".format(*row["interval"]) if row["interval"] else ""
        gain = f"{row['speed_up']:.2f}{ends}{_on_clock(row, found[0])}"
        own = f" {row['clock']}" if row["clock"] else ""
        body.append(
            (row["place"] or "-", called[row["stack"]], f"{rounded(row['tokens_per_s'])}{own}", gain, _text(row))
        )
    return markdown(head, body)


def _on_clock(row: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """What is said of a ratio of times that are not both measured on the machine's own clock."""
    named = sorted({row["clock"], first["clock"]} - {""})
    return f", {' and '.join(named)}" if named and row is not first else ""


def _text(row: Mapping[str, Any]) -> str:
    same = row["same"]
    if same is None:
        return f"{row['tokens']} tokens"
    if not same["diverges"]:
        return f"identical to token {same['equal']}"
    margin = "" if same["margin"] is None else f", margin {same['margin']:.2g}"
    return f"differs at token {same['equal'] + 1}{margin}"


def raced(heats: Iterable[Heat], stacks: Sequence[str], *, device: str, **said: Any) -> Raced:
    """The race of these heats; imports torch. said: of the other fields of `Race` those that the heats do not tell.

    Raises:
        ValueError: there is no heat, or a lane of one has no whole text.
    """
    heats = list(heats)
    if not heats:
        raise ValueError("no repeat was finished")
    shown, title = middle(heats), said.pop("title", "")
    repeats = tuple(tuple(took(lane) for lane in heat.lanes) for heat in heats)
    about = {**said, "recorded": now(), "device": device, **ran_on(device)}
    return Raced(Race(SCHEMA, title, tuple(stacks), repeats, shown, **about), heats[shown].lanes)
