"""A race: lanes take turns, one round each, until all texts are written; and the standings.

Each lane is a run of its own with a clock of its own, which stops while the others work; so a slow moment of the
machine hits all lanes alike, and no lane pays for another's rounds. A lane whose levels work at the same time runs each
pass alone too, on a reckoned clock, which every comparison with it names. The lane that starts rotates from turn to
turn and from repeat to repeat. A short race is a warm-up and is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hsd_core.core.events import Commit, Event, Kv
from hsd_core.grammar.stack_text import StackError
from hsd_core.measure.bench.side_by_side import plain_of
from hsd_core.measure.bench.summary import interval, rate, speed_up
from hsd_core.measure.race.race_file import LANES, SCHEMA, Race, Raced, took
from hsd_core.measure.rawfile import now, ran_on
from hsd_core.measure.tables import markdown, rounded, stack_cells
from hsd_core.measure.timed import rotated
from hsd_core.models import machine
from hsd_core.models.machine import refuse
from hsd_core.models.sampling import is_greedy
from hsd_core.trace import metrics
from hsd_core.trace.comparison import TIE, compare
from hsd_core.trace.conventions import clock_of

if TYPE_CHECKING:
    from hsd_core.levels.memory import Memory


WARM_TOKENS = 16
HEADS = 3  # likeliest tokens of each row in a race's file, which holds several traces

Opened = Callable[[str, int], Generator[Event, None, None]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A lane has finished a round. repeat: 0 is the warm-up. tokens: committed by the lane in this repeat."""

    repeat: int
    lane: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Heat:
    """A finished repeat: the events of each lane."""

    lanes: tuple[list[Event], ...]


def race(opened: Opened, stacks: Sequence[str], *, tokens: int, repeats: int) -> Generator[Turn | Heat, None, None]:
    """Run the stacks in turn; yields heats as they are finished.

    Args:
        opened: (stack, most tokens) -> the events of a run. tokens: of a text, at most.
    Raises:
        ValueError: too few or too many stacks.
    """
    check_lanes(stacks)
    for repeat in range(repeats + 1):
        limit = min(tokens, WARM_TOKENS) if repeat == 0 else tokens
        lanes: tuple[list[Event], ...] = tuple([] for _ in stacks)
        yield from _heat(opened, stacks, limit, repeat, lanes)
        if repeat:
            yield Heat(lanes)


def check_lanes(stacks: Sequence[str]) -> None:
    """
    Raises:
        ValueError: too few or too many stacks.
    """
    least, most = LANES
    if not least <= len(stacks) <= most:
        raise ValueError(f"a race has {least} to {most} stacks, not {len(stacks)}")


def _heat(
    opened: Opened, stacks: Sequence[str], limit: int, repeat: int, lanes: Sequence[list[Event]]
) -> Generator[Turn, None, None]:
    with ExitStack() as held:
        runs = [held.enter_context(closing(opened(stack, limit))) for stack in stacks]
        going, turn, tokens = set(range(len(runs))), repeat, [0] * len(runs)
        while going:
            for lane in rotated(range(len(runs)), turn):
                if lane not in going:
                    continue
                events = _round(runs[lane])
                if not events:
                    going.remove(lane)
                lanes[lane].extend(events)
                tokens[lane] += sum(len(event.tokens) for event in events if isinstance(event, Commit))
                yield Turn(repeat, lane, tokens[lane])
            turn += 1


def _round(run: Generator[Event, None, None]) -> list[Event]:
    """The run's events up to the end of its next round, including its levels' work after the commit; empty at the
    end."""
    events: list[Event] = []
    committed = False
    for event in run:
        events.append(event)
        committed = committed or isinstance(event, Commit)
        if committed and isinstance(event, Kv):
            break
    return events


def refuse_too_large(memories: Sequence[Memory], tokens: int, device: str) -> None:
    """
    Args:
        memories: of the lanes' runs, without weights, which are loaded once for all lanes, and before this.
    Raises:
        TooLarge: the free memory cannot hold all of them; the message has both figures.
    """
    needed = sum(memory.kept for memory in memories) + max(memory.at_work for memory in memories)
    what = f"a race of {len(memories)} stacks over {tokens} tokens each"
    refuse(needed, machine.free_bytes(device), what, "race fewer stacks, or ask for fewer tokens")


MEASURED = ("", "real")  # clocks of measured times


def middle(heats: Sequence[Heat]) -> int:
    """The repeat to show: the one with the median total time."""
    times = [sum(took(lane).decode_ns for lane in heat.lanes) for heat in heats]
    return sorted(range(len(heats)), key=lambda i: times[i])[len(heats) // 2]


def rows(raced: Raced) -> list[dict[str, Any]]:
    """A row per lane, in order.

    `clock`: of its times, "" if levels ran one after another. Over all repeats: `tokens_per_s`, `speed_up` over the
    first lane with its `interval` (paired by repeat; None for one repeat), and the `place` by tokens/s among measured
    lanes (None on a reckoned clock). `same`: its text compared with the first lane's, None if texts are sampled:
    `equal` leading ids; `diverges`; `margin` of the first lane's two best logits there; `tie`, whether that is a near
    tie; `target`, whether both lanes have the same target. `spared`: the share of its tokens that are not the target's
    own choice, None if that was not read (exact stacks).
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
                "spared": None if (lost := metrics.measure(lane).get("spared")) is None else lost / shown[i].tokens,
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
    except StackError:  # a kind of another version
        return stack.rpartition(",")[2]


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a Markdown table."""
    head, body = ("place", "stack", "tokens/s", "speed-up (95 % interval)", "text"), []
    called = stack_cells(row["stack"] for row in found)
    for row in found:
        ends = " ({:.2f} to {:.2f})".format(*row["interval"]) if row["interval"] else ""
        gain = f"{row['speed_up']:.2f}{ends}{_on_clock(row, found[0])}"
        own = f" {row['clock']}" if row["clock"] else ""
        lost = "" if row["spared"] is None else f", {row['spared']:.1%} not the target's own"
        body.append(
            (row["place"] or "-", called[row["stack"]], f"{rounded(row['tokens_per_s'])}{own}", gain, _text(row) + lost)
        )
    return markdown(head, body)


def _on_clock(row: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """The remark on a ratio of times that are not both measured on the machine's clock."""
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
    """The race of these heats; imports torch. said: fields of `Race` that do not follow from the heats.

    Raises:
        ValueError: there is no heat, or a lane of one is not finished.
    """
    heats = list(heats)
    if not heats:
        raise ValueError("no repeat was finished")
    shown, title = middle(heats), said.pop("title", "")
    repeats = tuple(tuple(took(lane) for lane in heat.lanes) for heat in heats)
    about = {**said, "recorded": now(), "device": device, **ran_on(device)}
    return Raced(Race(SCHEMA, title, tuple(stacks), repeats, shown, **about), heats[shown].lanes)
