"""The trace: the append-only, versioned record of one run. Everything else reads it.

A trace is one `Header`, then events in the order in which they happened, then one `Footer`. A trace
without a footer was interrupted. Events are frozen and hold ids and numbers only; the one exception is
`Piece` (id -> bytes), which the recorder adds so that a reader needs no tokenizer.

Times are integers in nanoseconds on the engine's clock: 0 at the start of the run, stopped while the
consumer of the run holds the generator. `t0` and `t1` bound an event; `t` is a point.

A *serial* numbers every token that any level drafted or drew in a run (0, 1, 2, ...). Two tokens with one
id are still two serials, so a reader never has to guess who wrote, passed or caught a token.
`at` is a position in the output: 0 is the first generated token.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

SCHEMA = 5
# 2 added `LevelInfo.shares`, `ran` and `Depths`; 3 what a `Plan` says, and `simulated`; 4 `copied`; 5 `parents`: older
# files lack them.
READABLE = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Row:
    """The head of a probability row: the most likely ids, their probabilities, and what is left."""

    ids: tuple[int, ...]
    probs: tuple[float, ...]
    tail: float


@dataclass(frozen=True, slots=True)
class Span:
    """Layers lo, ..., hi - 1 of a model, run once on `rows` positions: their weights were read once."""

    lo: int
    hi: int
    rows: int


@dataclass(frozen=True, slots=True)
class Copied:
    """What a drafted token repeats: the token at `at` of the output (negative: of the prompt, -1 its last one), behind
    `alike` tokens that are the same in both places, as far as they were compared. `share`: how much of its raw
    probability is the copy's; 1 for a lookup."""

    at: int
    alike: int
    share: float


@dataclass(frozen=True, slots=True)
class LevelInfo:
    """A level as the run used it. `block` (T) is None for the target; `rule` is None for the bottom level.

    `layers`: the layers below its read-out (an exit at 8: 8). `shares`: the index of the deepest level over the same
    weights, keys and values (itself if no deeper one), None for a level that shares nothing.
    """

    index: int
    name: str
    kind: str
    label: str
    block: int | None
    policy: str | None
    theta: float | None
    rule: str | None
    bonus: bool
    device: str
    dtype: str
    layers: int | None = None
    weights: dict[str, Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    shares: int | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What was asked for. `stack` lists every level; where `replan` holds the settings of a replanner, each round runs
    the levels and block lengths of the last `Plan` before it, and the others rest.

    `simulated`: empty for a real run; else what stands in for models and clock, and where its figures come from. Every
    reader says so wherever the run appears.
    """

    event: ClassVar[str] = "header"
    schema: int
    stack: str
    levels: tuple[LevelInfo, ...]
    sampling: dict[str, Any]
    seed: int
    prompt_ids: tuple[int, ...]
    max_new_tokens: int
    lossless: bool
    lossless_reason: str
    preset: str | None = None
    machine: str = ""
    recorded: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    profile: dict[str, Any] | None = None
    title: str = ""
    replan: dict[str, Any] | None = None
    simulated: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of a token id, base64; written at the id's first use."""

    event: ClassVar[str] = "piece"
    id: int
    b64: str
    special: bool = False


@dataclass(frozen=True, slots=True)
class Prefill:
    """A level was given what it has not seen: the prompt (`round` None, `tokens` its length) or, when it joins the plan
    before a round, the `tokens` positions that it had missed."""

    event: ClassVar[str] = "prefill"
    level: int
    tokens: int
    t0: int
    t1: int
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Tokens drafted by the bottom level. `q`: their probability under the law they were drawn from;
    `confidence`: the raw (temperature 1) top probability of each row, None for a drafter without one;
    `sources`: which database, exit or model; `forwards` and `rows`: what it computed for them, of which
    `catch_up` rows only brought its cache up to date; `ran`: the layers of a shared model that were run for them, pass
    by pass (empty for a level that shares none); `theta`: the level's stop threshold as it stood, where it moves during
    a run; `copied`: for each token what it repeats, if it was copied (empty for a drafter that copies nothing)."""

    event: ClassVar[str] = "draft"
    round: int
    level: int
    at: int
    serials: tuple[int, ...]
    ids: tuple[int, ...]
    sources: tuple[str, ...]
    q: tuple[float, ...]
    confidence: tuple[float | None, ...]
    forwards: int
    rows: int
    catch_up: int
    t0: int
    t1: int
    ran: tuple[Span, ...] = ()
    theta: float | None = None
    copied: tuple[Copied | None, ...] = ()
    parents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """What a verifier thought of one drafted token.

    `alpha`: acceptance probability (rule `block`: h_i). `coin`: the uniform number thrown, None if none was.
    `outcome`: accepted | rejected | unjudged (behind a rejected one). `p`, `q`: the token's probability
    under the verifier's and the drafter's law. `p_row`, `q_row`: the heads of the raw rows at temperature 1 (a
    drafter without a distribution has a one-hot row); `residual`: the law that a correction is drawn from.
    """

    serial: int
    id: int
    alpha: float | None
    coin: float | None
    outcome: str
    p: float
    q: float
    p_row: Row | None = None
    q_row: Row | None = None
    residual: Row | None = None


@dataclass(frozen=True, slots=True)
class Verify:
    """One forward of a verifier over the block of level `below` (None: plain decoding).

    `rows` counts everything it computed; `catch_up` of them only brought its cache up to date, the others
    each decided one position (the last one is the bonus row, if the verifier wanted one). `ran`: as in `Draft`; layers
    that a level below had already run on a position are not run again. `theta`: as in `Draft`, this level's own.
    """

    event: ClassVar[str] = "verify"
    round: int
    level: int
    below: int | None
    at: int
    rows: int
    catch_up: int
    checks: tuple[Check, ...]
    t0: int
    t1: int
    ran: tuple[Span, ...] = ()
    theta: float | None = None


@dataclass(frozen=True, slots=True)
class _Own:
    """A token that a verifier drew itself, with its probability under the verifier's law."""

    round: int
    level: int
    at: int
    serial: int
    id: int
    p: float
    t: int
    p_row: Row | None = None


@dataclass(frozen=True, slots=True)
class Correct(_Own):
    """A token drawn from the residual after a reject."""

    event: ClassVar[str] = "correct"


@dataclass(frozen=True, slots=True)
class Bonus(_Own):
    """A token drawn from the verifier's own row when every drafted token (perhaps none) was accepted."""

    event: ClassVar[str] = "bonus"


@dataclass(frozen=True, slots=True)
class Committed:
    """`level`: who supplied the token; `how`: draft | correct | bonus; `passed`: the levels that accepted it."""

    serial: int
    id: int
    level: int
    how: str
    source: str
    passed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    event: ClassVar[str] = "commit"
    round: int
    at: int
    tokens: tuple[Committed, ...]
    t: int


@dataclass(frozen=True, slots=True)
class Rollback:
    """A level's cache was cut from `before` to `after` positions (prompt included)."""

    event: ClassVar[str] = "rollback"
    round: int
    level: int
    before: int
    after: int
    t: int


@dataclass(frozen=True, slots=True)
class KvLength:
    """At rest: cached + catch_up == committed + held (prompt counted in committed)."""

    level: int
    cached: int
    catch_up: int
    committed: int
    held: int


@dataclass(frozen=True, slots=True)
class Kv:
    event: ClassVar[str] = "kv"
    round: int
    levels: tuple[KvLength, ...]
    t: int


@dataclass(frozen=True, slots=True)
class Store:
    """An n-gram store's work since its last event. `hits` counts drafted tokens by database letter."""

    event: ClassVar[str] = "store"
    round: int
    level: int
    inserts: int
    evictions: int
    hits: dict[str, int]
    misses: int
    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Plan:
    """From this round on the run follows this plan; it was chosen from the rounds before it.

    `stack`: the plan written out. `levels`: those in it, by their index in the header, the target last; `blocks`: T of
    each but the target. `predicted_ms`: per token under the estimates of this moment; `left_ms`: of the plan that
    it leaves, under the same ones. `acceptance`: those estimates, by "drafter->verifier" ("0->2"), and "hit" for the
    hit rate of a lookup. `t0`: when the deciding began.
    """

    event: ClassVar[str] = "plan"
    round: int
    stack: str
    t: int
    levels: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    predicted_ms: float | None = None
    left_ms: float | None = None
    why: str = ""
    acceptance: dict[str, float] = field(default_factory=dict)
    t0: int | None = None


@dataclass(frozen=True, slots=True)
class LevelTotal:
    level: int
    forwards: int
    rows: int
    tokens_in: int
    tokens_out: int
    ns: int


@dataclass(frozen=True, slots=True)
class Footer:
    """`reason`: eos | length | context | stopped. Counts are taken after the cut at the end."""

    event: ClassVar[str] = "footer"
    reason: str
    rounds: int
    committed: int
    prefill_ns: int
    decode_ns: int
    totals: tuple[LevelTotal, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Plain decoding of the same target, measured for the same prompt and seed beside the run (after the footer).

    `token_ns`: the engine's time of each commit, prefill excluded. `equal`: how many leading ids agree with
    the run's; `margin`: at the first divergence, the gap between plain decoding's two best logits.
    """

    event: ClassVar[str] = "baseline"
    stack: str
    prefill_ns: int
    token_ns: tuple[int, ...]
    equal: int
    diverges: bool
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Depths:
    """At which layer the model already knew each committed token: one teacher-forced pass, after the footer.

    Row r reads the hidden states after `at[r]` layers through the read-out named `readouts[r]`: "lens" (the model's
    own last norm and head) or the name of a trained draft. `p[r][t]`: raw probability of committed token t there;
    `top[r][t]`: the most likely id there.
    """

    event: ClassVar[str] = "depths"
    at: tuple[int, ...]
    readouts: tuple[str, ...]
    p: tuple[tuple[float, ...], ...]
    top: tuple[tuple[int, ...], ...]


Event: TypeAlias = (
    Header | Piece | Prefill | Draft | Verify | Correct | Bonus | Commit | Rollback | Kv | Store | Plan
    | Footer | Baseline | Depths
)  # fmt: skip
EVENTS: dict[str, type] = {
    c.event: c
    for c in (
        Header, Piece, Prefill, Draft, Verify, Correct, Bonus, Commit, Rollback, Kv, Store, Plan, Footer, Baseline,
        Depths,
    )
}  # fmt: skip
