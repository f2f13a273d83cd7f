"""Early exits on the page: the studies in assets/results/*/depth.jsonl, as `depth --out` writes them, and the exits'
share of a pass, shown where a stack of exits loses in a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import AT
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import LevelSpec, StackError, parse
from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.exits.study_tables import quarter_of
from hsd_core.theory import Profile
from hsd_core.typed import convert

STUDY, FILES = "exits", "*/depth.jsonl"  # in the folder of results
LARGEST = 2_000_000  # bytes of a file; that of a target of 30 layers has 0.2 MB

Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Gain = Annotated[float, Meta(ge=0.0, lt=1e6)]
Depth = Annotated[int, Meta(ge=0, lt=1000)]
Text = Annotated[str, Meta(max_length=1000)]
Ends = tuple[Gain, Gain]


class AboutStudy(Struct):
    kind: Literal["depth"]
    recorded: Text
    command: Text
    preset: Text
    machine: Text
    prompts: Text
    texts: int
    tokens: int
    layers: Annotated[int, Meta(ge=2, lt=1000)]
    profile: Text


class Reading(Struct, tag_field="what", tag="reading"):
    """A read-out's agreement with the model's text."""

    at: Depth
    readout: Text
    agree: Share
    agree_interval: Ends
    kinds: dict[str, Share]


class PairOfExits(Struct, tag_field="what", tag="pair"):
    """See `Agreements.records`."""

    draft: tuple[Depth, Text]
    verifier: tuple[Depth, Text]
    accepts: Share
    kept: Share | None


class SweptStack(Struct, tag_field="what", tag="stack"):
    draft: Depth
    above: Depth | None
    blocks: list[int]
    speed_up: Gain


class CostRatio(Struct, tag_field="what", tag="ratio"):
    machine: Text
    draft: Text
    verify_ms: Gain
    draft_ms: Gain
    ratio: Gain


class ExitRun(Struct, tag_field="what", tag="run"):
    stack: Text
    speed_up: Gain
    interval: Ends
    accepted: list[Share | None]
    prompts: int
    machine: Text


class Today(Struct, tag_field="what", tag="today"):
    depths: tuple[Depth, Depth]
    share: Share
    inner: Share
    upper: Share
    alone: Share
    two: Gain
    one: Gain


class PredictedRun(Struct, tag_field="what", tag="predicted"):
    stack: Text
    speed_up: Gain
    measured: Gain


class MapRow(Struct, tag_field="what", tag="needed"):
    map: Literal["plain", "one"]
    costs: Literal["measured", "ideal"]
    y: Share
    x: list[Share]
    z: list[Gain]


Shown = Reading | PairOfExits | SweptStack | CostRatio | ExitRun | Today | PredictedRun | MapRow
_SHOWN = {kind.__struct_config__.tag for kind in Shown.__args__}


def study(path: Path) -> dict[str, Any]:
    """`{"about", "records"}` of a file, with the records that the page draws.

    Raises:
        ValueError: it is no study of exits.
    """
    about, records = read_raw(path)
    convert(about, AboutStudy)
    return {"about": about, "records": _drawn(records)}


def _drawn(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records that the page draws, checked; pairs only if their verifier is a quarter of the layers."""
    quarter = quarter_of(records)
    drawn = [r for r in records if r["what"] in _SHOWN and (r["what"] != "pair" or r["verifier"][0] == quarter)]
    convert(drawn, list[Shown])
    return drawn


def why_lost(stack: str, profile: Profile, preset: Preset | None) -> list[dict[str, Any]]:
    """The cost of each exit of a stack as a share of a full pass, cheapest first.

    Returns:
        For each exit: the layer `at` which it ends, the number `of` layers (0: unknown), and the `share` (0 to 1) of a
        one-token pass of the target. Exits that the profile does not know are left out.
    """
    whole, of = profile.levels[profile.target].cost(1), preset.layers if preset else 0
    known = {at: level.cost(1) for level in profile.levels for at in _ends(f"{level.spec},target")}
    return [{"at": at, "of": of, "share": known[at] / whole} for at in _ends(stack) if at in known]


def _ends(stack: str) -> list[int]:
    """The layers at which the exits of a stack end."""
    try:
        return [level[AT] for level in parse(stack) if _is_exit(level)]
    except StackError:
        return []


def _is_exit(level: LevelSpec) -> bool:
    """Whether a level reads the target's first layers at one depth, with a distribution there."""
    kind = kind_of(level)
    return kind.placement.verifies and kind.shares.reads is not None and kind.shares.reads.depth == AT.name
