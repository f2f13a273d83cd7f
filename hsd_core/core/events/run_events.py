"""Events about a whole run: what was asked for, the bytes of its ids, how it ended, plain decoding for comparison."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from msgspec import field

from hsd_core.core.events.parts import Level, Part, Record, Words, check_lengths
from hsd_core.typed import Int

FORMAT: Final = "hsd-trace"
SCHEMA: Final = 3
Ending: TypeAlias = Literal["eos", "length", "context", "stopped"]


class LevelInfo(Part, frozen=True):
    """A level as the run used it. `block` (T) is None for the target; `rule` is None for the bottom level.

    `layers`: the layers below its read-out (an exit at 8: 8). `shares`: the index of the deepest level over the same
    weights, keys and values (itself if there is no deeper one), None for a level that shares nothing. `reads`: bytes of
    weights that one of its passes reads; 0 for a lookup, None if unknown. `lane`: where it works, counted from the
    bottom; levels on different lanes work at the same time, and all are on lane 0 where one works after another.
    """

    index: Int
    name: str
    kind: str
    label: str
    block: Int | None
    policy: str | None
    theta: float | None
    rule: str | None
    bonus: bool
    device: str
    dtype: str
    layers: Int | None = None
    weights: dict[str, Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    shares: Level | None = None
    reads: Int | None = None
    lane: Int = 0


class Header(Record, frozen=True):
    """The settings of the run. `stack` lists every level; with `replan`, the settings of a replanner, each round runs
    the levels and block lengths of the last `Plan` before it, and the others rest.

    `format`, `schema`: the file format and its version. `simulated`: empty for a real run; else what replaces models
    and clock, and where its figures come from. Every reader shows it wherever the run appears.

    `reckoned`: of a run with several lanes, every pass ran alone and was timed, and the passes were then laid side by
    side as on machines of this kind; false where they did run at the same time, or nothing ran. With several lanes a
    pass may end before an event that is listed before it.
    """

    format: Literal["hsd-trace"]
    schema: Literal[3]
    stack: str
    levels: tuple[LevelInfo, ...]
    sampling: dict[str, Any]
    seed: Int
    prompt_ids: tuple[Int, ...]
    max_new_tokens: Int
    lossless: bool
    lossless_reason: str
    preset: str | None = None
    machine: str = ""
    recorded: str = ""
    versions: Words = field(default_factory=dict)
    profile: dict[str, Any] | None = None
    title: str = ""
    replan: dict[str, Any] | None = None
    simulated: str = ""
    reckoned: bool = False


class Piece(Record, frozen=True):
    """The bytes of a token id, base64; written at the id's first use."""

    id: Int
    b64: str
    special: bool = False


class LevelTotal(Part, frozen=True):
    level: Level
    forwards: Int
    rows: Int
    tokens_in: Int
    tokens_out: Int
    ns: Int


class Footer(Record, frozen=True):
    """How the run ended. Counts are of the text after the cut at its end."""

    reason: Ending
    rounds: Int
    committed: Int
    prefill_ns: Int
    decode_ns: Int
    totals: tuple[LevelTotal, ...]


class Baseline(Record, frozen=True):
    """Plain decoding of the same target for the same prompt and seed, measured after the run.

    `token_ns`: the engine's time of each commit, prefill excluded. `equal`: how many leading ids agree with the run's;
    `margin`: at the first divergence, the gap between plain decoding's two best logits. `ids`: its output; `margins`:
    that gap at each of them, None if unknown (both empty in a simulated run).
    """

    stack: str
    prefill_ns: Int
    token_ns: tuple[Int, ...]
    equal: Int
    diverges: bool
    margin: float | None = None
    ids: tuple[Int, ...] = ()
    margins: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        if self.ids and self.margins:
            check_lengths(self, "ids", "margins")
