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

from typing import Annotated, Any, ClassVar, TypeAlias, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from hsd_core.trace.typed import MAX_ENTRIES, Int

SCHEMA = 7
# 2 added `LevelInfo.shares`, `ran` and `Depths`; 3 what a `Plan` says, and `simulated`; 4 `copied`; 5 `parents`; 6 a
# `Baseline`'s `ids` and `margins`; 7 a `Draft`'s `keys` and `silent`: older files lack them.
READABLE = (1, 2, 3, 4, 5, 6, 7)

Level = Annotated[Int, Meta(extra={"names": "level"})]  # an index into the header's levels; readers check it
Words = Annotated[dict[str, str], Meta(max_length=MAX_ENTRIES)]
Counts = Annotated[dict[str, Int], Meta(max_length=MAX_ENTRIES)]
Figures = Annotated[dict[str, float], Meta(max_length=MAX_ENTRIES)]


class Part(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What events are made of. It refers to nothing that could refer back, so no collector need look at it."""


class Record(Part, frozen=True, tag=str.lower, tag_field="event"):
    """An event; `event` is its name, which stands first in its JSON."""

    event: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.event = cls.__name__.lower()


def _alike(record: Struct, *names: str) -> None:
    """Refuse lists that run side by side and differ in length."""
    if len({len(getattr(record, name)) for name in names}) > 1:
        raise ValueError(f"{', '.join(names)} differ in length")


class Row(Part, frozen=True):
    """The head of a probability row: the most likely ids, their probabilities, and what is left."""

    ids: tuple[Int, ...]
    probs: tuple[float, ...]
    tail: float

    def __post_init__(self) -> None:
        _alike(self, "ids", "probs")


class Span(Part, frozen=True):
    """Layers lo, ..., hi - 1 of a model, run once on `rows` positions: their weights were read once."""

    lo: Int
    hi: Int
    rows: Int


class Copied(Part, frozen=True):
    """What a drafted token repeats: the token at `at` of the output (negative: of the prompt, -1 its last one), behind
    `alike` tokens that are the same in both places, as far as they were compared. `share`: how much of its raw
    probability is the copy's; 1 for a lookup."""

    at: Int
    alike: Int
    share: float


class LevelInfo(Part, frozen=True):
    """A level as the run used it. `block` (T) is None for the target; `rule` is None for the bottom level.

    `layers`: the layers below its read-out (an exit at 8: 8). `shares`: the index of the deepest level over the same
    weights, keys and values (itself if no deeper one), None for a level that shares nothing.
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


class Header(Record, frozen=True):
    """What was asked for. `stack` lists every level; where `replan` holds the settings of a replanner, each round runs
    the levels and block lengths of the last `Plan` before it, and the others rest.

    `simulated`: empty for a real run; else what stands in for models and clock, and where its figures come from. Every
    reader says so wherever the run appears.
    """

    schema: Int
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


class Piece(Record, frozen=True):
    """The bytes of a token id, base64; written at the id's first use."""

    id: Int
    b64: str
    special: bool = False


class Prefill(Record, frozen=True):
    """A level was given what it has not seen: the prompt (`round` None, `tokens` its length) or, when it joins the plan
    before a round, the `tokens` positions that it had missed."""

    level: Level
    tokens: Int
    t0: Int
    t1: Int
    round: Int | None = None


class Draft(Record, frozen=True):
    """Tokens drafted by the bottom level. `q`: their probability under the law they were drawn from;
    `confidence`: the raw (temperature 1) top probability of each row, None for a drafter without one;
    `sources`: which database, exit or model; `forwards` and `rows`: what it computed for them, of which
    `catch_up` rows only brought its cache up to date; `ran`: the layers of a shared model that were run for them, pass
    by pass (empty for a level that shares none); `theta`: the level's stop threshold as it stood, where it moves during
    a run; `copied`: for each token what it repeats, if it was copied (empty for a drafter that copies nothing).

    Of lookups in n-gram databases: `keys`, for each token how many tokens before it were the key that it was found
    under (0 for one that a model drafted, empty for a drafter that looks nothing up); one lookup in D_c hands out
    several, the first of them with `copied.alike` equal to the key. `silent`: lookups that every database left
    unanswered.
    Both are bounded by what is drafted; the entries of D_c are not listed, as they follow from the committed text and
    the level's `params` (`Databases.settings`).

    `draws`: of siblings drawn with replacement, how often each token was drawn; left out where each was once. A draw is
    an offer of its own: the verifier judges the first one of a token (`Check`), and behind its rejection the others are
    rejected without a coin, each leaving its residual."""

    round: Int
    level: Level
    at: Int
    serials: tuple[Int, ...]
    ids: tuple[Int, ...]
    sources: tuple[str, ...]
    q: tuple[float, ...]
    confidence: tuple[float | None, ...]
    forwards: Int
    rows: Int
    catch_up: Int
    t0: Int
    t1: Int
    ran: tuple[Span, ...] = ()
    theta: float | None = None
    copied: tuple[Copied | None, ...] = ()
    parents: tuple[Int, ...] = ()
    keys: tuple[Int, ...] = ()
    silent: Int = 0
    draws: tuple[Int, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = (name for name in ("copied", "keys", "draws") if getattr(self, name))
        _alike(self, "serials", "ids", "sources", "q", "confidence", *given)


class Check(Part, frozen=True):
    """What a verifier thought of one drafted token.

    `alpha`: acceptance probability (rule `block`: h_i). `coin`: the uniform number thrown, None if none was.
    `outcome`: accepted | rejected | unjudged (behind a rejected one). `p`, `q`: the token's probability
    under the verifier's and the drafter's law. `p_row`, `q_row`: the heads of the raw rows at temperature 1 (a
    drafter without a distribution has a one-hot row); `residual`: the law that a correction is drawn from.
    """

    serial: Int
    id: Int
    alpha: float | None
    coin: float | None
    outcome: str
    p: float
    q: float
    p_row: Row | None = None
    q_row: Row | None = None
    residual: Row | None = None


class Bound(Part, frozen=True):
    """How much could be kept at a judged place: the chance that one of its candidates is, over all that its drafter
    might have offered there.

    `first`: the serial of the first candidate. `rule`: with the rule that judged, None where that was not computed.
    `best`: the most that any exact rule could reach (`engine.bound`).
    """

    first: Int
    rule: float | None
    best: float


class Verify(Record, frozen=True):
    """One forward of a verifier over the block of level `below` (None: plain decoding).

    `rows` counts everything it computed; `catch_up` of them only brought its cache up to date, the others
    each decided one position (the last one is the bonus row, if the verifier wanted one). `ran`: as in `Draft`; layers
    that a level below had already run on a position are not run again. `theta`: as in `Draft`, this level's own.

    Left out where there are none: `bounds`, of the places that were judged token by token when sampling, in order
    (greedy runs have none: there every exact rule keeps what equals the verifier's choice); `probes`, rows beside
    those, which decide nothing: they go back to the drafter (the window of lookahead decoding).
    """

    round: Int
    level: Level
    below: Level | None
    at: Int
    rows: Int
    catch_up: Int
    checks: tuple[Check, ...]
    t0: Int
    t1: Int
    ran: tuple[Span, ...] = ()
    theta: float | None = None
    bounds: tuple[Bound, ...] | UnsetType = UNSET
    probes: Int | UnsetType = UNSET


class _Own(Record, frozen=True):
    """A token that a verifier drew itself, with its probability under the verifier's law."""

    round: Int
    level: Level
    at: Int
    serial: Int
    id: Int
    p: float
    t: Int
    p_row: Row | None = None


class Correct(_Own, frozen=True):
    """A token drawn from the residual after a reject."""


class Bonus(_Own, frozen=True):
    """A token drawn from the verifier's own row when every drafted token (perhaps none) was accepted."""


class Committed(Part, frozen=True):
    """`level`: who supplied the token; `how`: draft | correct | bonus; `passed`: the levels that accepted it."""

    serial: Int
    id: Int
    level: Level
    how: str
    source: str
    passed: tuple[Level, ...]


class Commit(Record, frozen=True):
    round: Int
    at: Int
    tokens: tuple[Committed, ...]
    t: Int


class Rollback(Record, frozen=True):
    """A level's cache was cut from `before` to `after` positions (prompt included)."""

    round: Int
    level: Level
    before: Int
    after: Int
    t: Int


class KvLength(Part, frozen=True):
    """At rest: cached + catch_up == committed + held (prompt counted in committed)."""

    level: Level
    cached: Int
    catch_up: Int
    committed: Int
    held: Int


class Kv(Record, frozen=True):
    round: Int
    levels: tuple[KvLength, ...]
    t: Int


class Store(Record, frozen=True):
    """An n-gram store's work since its last event. `hits` counts drafted tokens by database letter.

    `window`, left out where there is none: the n-grams that a lookahead window gave, in the order in which they were
    filed, column by column; they come out of the verifier's passes, so no text gives them."""

    round: Int
    level: Level
    inserts: Int
    evictions: Int
    hits: Counts
    misses: Int
    t0: Int
    t1: Int
    window: tuple[tuple[Int, ...], ...] | UnsetType = UNSET


class Plan(Record, frozen=True):
    """From this round on the run follows this plan; it was chosen from the rounds before it.

    `stack`: the plan written out. `levels`: those in it, by their index in the header, the target last; `blocks`: T of
    each but the target. `predicted_ms`: per token under the estimates of this moment; `left_ms`: of the plan that
    it leaves, under the same ones. `acceptance`: those estimates, by "drafter->verifier" ("0->2"), and "hit" for the
    hit rate of a lookup. `t0`: when the deciding began.
    """

    round: Int
    stack: str
    t: Int
    levels: tuple[Level, ...] = ()
    blocks: tuple[Int, ...] = ()
    predicted_ms: float | None = None
    left_ms: float | None = None
    why: str = ""
    acceptance: Figures = field(default_factory=dict)
    t0: Int | None = None


class LevelTotal(Part, frozen=True):
    level: Level
    forwards: Int
    rows: Int
    tokens_in: Int
    tokens_out: Int
    ns: Int


class Footer(Record, frozen=True):
    """`reason`: eos | length | context | stopped. Counts are taken after the cut at the end."""

    reason: str
    rounds: Int
    committed: Int
    prefill_ns: Int
    decode_ns: Int
    totals: tuple[LevelTotal, ...]


class Baseline(Record, frozen=True):
    """Plain decoding of the same target, measured for the same prompt and seed beside the run (after the footer).

    `token_ns`: the engine's time of each commit, prefill excluded. `equal`: how many leading ids agree with
    the run's; `margin`: at the first divergence, the gap between plain decoding's two best logits. `ids`: what it
    wrote; `margins`: that gap at each of them, None where it is not known (both empty in older files, and where plain
    decoding was simulated).
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
            _alike(self, "ids", "margins")


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
        _alike(self, "at", "readouts", "p", "top")


Event: TypeAlias = (
    Header
    | Piece
    | Prefill
    | Draft
    | Verify
    | Correct
    | Bonus
    | Commit
    | Rollback
    | Kv
    | Store
    | Plan
    | Footer
    | Baseline
    | Depths
)
EVENTS: dict[str, type[Record]] = {kind.event: kind for kind in get_args(Event)}
