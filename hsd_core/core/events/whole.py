"""Events of a run as a whole: what was asked for, the bytes of its ids, how it ended, what was measured beside it."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType, field

from hsd_core.core.events.parts import Level, Part, Record, Words, check_lengths
from hsd_core.typed import Int

FORMAT: Final = "hsd-trace"
SCHEMA: Final = 2
Ending: TypeAlias = Literal["eos", "length", "context", "stopped"]


class LevelInfo(Part, frozen=True):
    """A level as the run used it. `block` (T) is None for the target; `rule` is None for the bottom level.

    `layers`: the layers below its read-out (an exit at 8: 8). `shares`: the index of the deepest level over the same
    weights, keys and values (itself if no deeper one), None for a level that shares nothing. `reads`: bytes of weights
    that one of its passes reads; 0 for a lookup, None where that is not known. `lane`: on which it works, counted from
    the bottom, where levels below the target have more than one; else it is left out.
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
    lane: Int | UnsetType = UNSET


class Header(Record, frozen=True):
    """What was asked for. `stack` lists every level; where `replan` holds the settings of a replanner, each round runs
    the levels and block lengths of the last `Plan` before it, and the others rest.

    `format`, `schema`: what file this is, and in which version. `simulated`: empty for a real run; else what stands in
    for models and clock, and where its figures come from. Every reader says so wherever the run appears.

    `overlap`: whose clock it is where levels work at the same time. "none": one level works after another. "reckoned":
    every pass ran alone and was timed, then passes were laid side by side, as on a second machine of this kind. "real":
    they ran at the same time, in two processes of one thread each. "simulated": no model ran. Where it is not "none",
    passes of the target overlap with those of the levels below, and one of them may end before an event that stands
    before it.
    """

    format: Literal["hsd-trace"]
    schema: Literal[2]
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
    overlap: Literal["none", "reckoned", "real", "simulated"] = "none"


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


class Handed(Part, frozen=True):
    """Where lanes are processes: how often one was given work, and the ns that it took to hand that over and what came
    out back."""

    times: Int
    ns: Int


class Footer(Record, frozen=True):
    """How it ended. Counts are taken after the cut at the end."""

    reason: Ending
    rounds: Int
    committed: Int
    prefill_ns: Int
    decode_ns: Int
    totals: tuple[LevelTotal, ...]
    handed: Handed | UnsetType = UNSET


class Baseline(Record, frozen=True):
    """Plain decoding of the same target, measured for the same prompt and seed beside the run (after the footer).

    `token_ns`: the engine's time of each commit, prefill excluded. `equal`: how many leading ids agree with
    the run's; `margin`: at the first divergence, the gap between plain decoding's two best logits. `ids`: what it
    wrote; `margins`: that gap at each of them, None where it is not known (both empty where it was simulated).
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


class Depths(Record, frozen=True):
    """At which layer the model already knew each committed token: one teacher-forced pass, after the footer.

    Row r reads the hidden states after `at[r]` layers through the read-out named `readouts[r]`: "lens" (the model's
    own last norm and head) or the name of a trained draft. `p[r][t]`: raw probability of committed token t there;
    `top[r][t]`: the most likely id there.
    """

    at: tuple[Int, ...]
    readouts: tuple[str, ...]
    p: tuple[tuple[float, ...], ...]
    top: tuple[tuple[Int, ...], ...]

    def __post_init__(self) -> None:
        check_lengths(self, "at", "readouts", "p", "top")
