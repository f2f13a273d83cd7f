"""A race as one file: JSON lines, gzip by the ending .gz. The first line has the stacks and the times of every repeat;
then follow the traces of one repeat, lane by lane, each from its header to its footer.

Reading is as strict as for a trace, and the first line must agree with the traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from hsd_core.core.events import Event, Footer, Header, Part, Record, Words
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check
from hsd_core.typed import Int, Wrong, decode, encode, encode_lines, json_decoder
from hsd_core.typed.files import MAX_BYTES

SCHEMA = 1
MAX_REPEATS = 50
_CHOOSE = "choose a file that the Race tab or `python -m hsd_core race` wrote"
_CURE = "The file is damaged or was edited; download it again or run the race again"
LANES = _LEAST, _MOST = 2, 4  # at least, at most

Count = Annotated[int, Meta(ge=1, le=2**53)]
Line = Annotated[str, Meta(max_length=400)]
Text = Annotated[str, Meta(max_length=8000)]


class LaneTime(Part, frozen=True):
    """A lane's tokens in a repeat, and its ns on its own clock after the prefill and for the prefill."""

    tokens: Count
    decode_ns: Count
    prefill_ns: Int


class Race(Record, frozen=True):
    """The first line. `stacks`: of the lanes; the others are compared with the first. `repeats`: the times of each
    lane, repeat by repeat; the traces are of repeat `shown`. `about`: a sentence on what the race shows."""

    schema: Int
    title: Line
    stacks: Annotated[tuple[Line, ...], Meta(min_length=_LEAST, max_length=_MOST)]
    repeats: Annotated[
        tuple[Annotated[tuple[LaneTime, ...], Meta(min_length=_LEAST, max_length=_MOST)], ...],
        Meta(min_length=1, max_length=MAX_REPEATS),
    ]
    shown: Int
    prompt: Text = ""
    raw: bool = False
    about: Text = ""
    command: Text = ""
    recorded: Line = ""
    machine: Line = ""
    device: Line = ""
    dtype: Line = ""
    threads: Int = 0
    versions: Words = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raced:
    """A race and the events of its lanes."""

    race: Race
    lanes: tuple[list[Event], ...]


_DECODER = json_decoder(Race)


def check_storable(stacks: Sequence[str], repeats: int, **said: Any) -> None:
    """Check before a race that its file could be written. said: its title, prompt, ...

    Raises:
        ValueError: too many repeats, or too long texts.
    """
    lanes = [LaneTime(1, 1, 0)] * len(stacks)
    try:
        decode(encode(Race(SCHEMA, stacks=tuple(stacks), repeats=((*lanes,),) * repeats, shown=0, **said)), _DECODER)
    except Wrong as error:
        raise ValueError(f"the file of a race cannot hold it: {error}; give less, or leave --out out") from None


def dumps(raced: Raced) -> bytes:
    """A race as JSON lines."""
    return encode_lines([raced.race, *(event for lane in raced.lanes for event in lane)])


def write(path: str | Path, raced: Raced) -> None:
    """Write a race; compressed if the name ends in .gz."""
    path, data = Path(path), dumps(raced)
    path.write_bytes(tracefile.pack(data) if path.suffix == ".gz" else data)


def read(source: str | Path | bytes, *, max_bytes: int = MAX_BYTES) -> Raced:
    """Read a race from a path or from the bytes of a file, compressed or not.

    Raises:
        TraceError: it is no race, damaged, too large, of another version, or inconsistent.
        OSError: the path cannot be read.
    """
    data = source if isinstance(source, bytes) else tracefile.bytes_of(source, max_bytes)
    race: Race | None = None
    lanes: list[list[Event]] = []
    levels = 0
    for number, line in tracefile.numbered(tracefile.unpacked(data, max_bytes)):
        if race is None:
            race = read_race(line)
            continue
        event = tracefile.event_of(number, line, levels)
        if isinstance(event, Header):
            event = tracefile.event_of(number, line, 0)  # with 0 levels a header is fully checked
            assert isinstance(event, Header)
            levels = len(event.levels)
            lanes.append([])
        if len(lanes) > len(race.stacks):
            raise tracefile.TraceError(f"line {number}: more traces than the {len(race.stacks)} lanes. {_CURE}")
        lanes[-1].append(event)
    if race is None:
        raise tracefile.TraceError(f"the file is empty; {_CHOOSE}")
    if fault := _fault(race, lanes):
        raise tracefile.TraceError(f"the race contradicts itself: {fault}. {_CURE}")
    return Raced(race, tuple(lanes))


def read_race(line: bytes) -> Race:
    """The first line of a race's file.

    Raises:
        TraceError: it is no race, or of another version.
    """
    try:
        race = decode(line, _DECODER)
    except Wrong as error:
        if not line.startswith(b'{"event":"race"'):
            raise tracefile.TraceError(f"this is not a race; {_CHOOSE}") from None
        raise tracefile.TraceError(f"line 1: race.{error}. {_CURE}") from None
    except ValueError as error:
        raise tracefile.TraceError(f"this is not a race ({error}); {_CHOOSE}") from None
    if race.schema != SCHEMA:
        raise tracefile.TraceError(f"line 1: race schema {race.schema} is unknown; this version reads {SCHEMA}")
    if any(len(took) != len(race.stacks) for took in race.repeats):
        raise tracefile.TraceError(f"line 1: race.repeats: expected {len(race.stacks)} lanes in each. {_CURE}")
    if not 0 <= race.shown < len(race.repeats):
        raise tracefile.TraceError(f"line 1: race.shown: there is no repeat {race.shown}. {_CURE}")
    return race


def took(lane: Sequence[Event]) -> LaneTime:
    """The time of a finished trace.

    Raises:
        ValueError: it has no end, or no tokens.
    """
    footer = next((event for event in lane if isinstance(event, Footer)), None)
    if footer is None or footer.committed < 1:
        raise ValueError("a lane has no whole text")
    return LaneTime(footer.committed, max(1, footer.decode_ns), footer.prefill_ns)


def _fault(race: Race, lanes: Sequence[list[Event]]) -> str:
    """The first inconsistency of the first line and the traces, or within a trace; "" if there is none."""
    if len(lanes) != len(race.stacks):
        return f"{len(lanes)} traces of {len(race.stacks)} lanes"
    headers = [lane[0] for lane in lanes if isinstance(lane[0], Header)]
    for i, (lane, header) in enumerate(zip(lanes, headers, strict=True), 1):
        if faults := check(lane):
            return f"lane {i}: {faults[0]}"
        if header.stack != race.stacks[i - 1]:
            return f"lane {i} is of another stack than the first line says"
        if _run_of(header) != _run_of(headers[0]):
            return f"lane {i} is of another prompt, seed, length or preset than the first"
        try:
            found = took(lane)
        except ValueError as error:
            return f"lane {i}: {error}"
        if found != race.repeats[race.shown][i - 1]:
            return f"lane {i} took another time than the first line says"
    return ""


def _run_of(header: Header) -> tuple[object, ...]:
    return header.preset, header.prompt_ids, header.seed, header.sampling, header.max_new_tokens
