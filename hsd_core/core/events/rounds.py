"""Events of a round: what was drafted, judged, drawn and committed, and what became of caches, stores and the plan."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType, field

from hsd_core.core.events.parts import (
    Asked,
    Copied,
    Counts,
    Figures,
    Level,
    Moved,
    Part,
    Record,
    Row,
    Span,
    check_lengths,
)
from hsd_core.typed import Int

How: TypeAlias = Literal["draft", "correct", "bonus"]
Outcome: TypeAlias = Literal["accepted", "rejected", "unjudged"]


class Prefill(Record, frozen=True):
    """A level was given what it has not seen: the prompt (`round` None, `tokens` its length) or, when it joins the plan
    before a round, the `tokens` positions that it had missed."""

    level: Level
    tokens: Int
    t0: Int
    t1: Int
    round: Int | None = None


class Draft(Record, frozen=True):
    """Tokens drafted by the bottom level. `q`: their probability under the distribution they were drawn from;
    `confidence`: the raw (temperature 1) top probability of each row, None for a drafter without one;
    `sources`: which database, exit or model; `forwards` and `rows`: what it computed for them, of which
    `catch_up` rows only brought its cache up to date; `ran`: the layers of a shared model that were run for them, pass
    by pass (empty for a level that shares none); `theta`: the level's stop threshold as it stood, where it moves during
    a run; `copied`: for each token what it repeats, if it was copied (empty for a drafter that copies nothing);
    `parents`: of a tree, for each token which of them it stands behind (-1: behind the text), empty for a chain.

    Of lookups in n-gram databases: `keys`, for each token how many tokens before it were the key that it was found
    under (0 for one that a model drafted, empty for a drafter that looks nothing up); one lookup in D_c hands out
    several, the first of them with `copied.alike` equal to the key. `silent`: lookups that every database left
    unanswered.
    Both are bounded by what is drafted; the entries of D_c are not listed, as they follow from the committed text and
    the level's `params` (`Databases.settings`).

    `draws`: of siblings drawn with replacement, how often each token was drawn; left out where each was once. A draw is
    an offer of its own: the verifier judges the first one of a token (`Check`), and behind its rejection the others are
    rejected without a coin, each leaving its residual.

    `onto`, of a draft that goes on behind tokens drafted before, left out elsewhere: for each token that `parents` puts
    behind the text the serial of the token that it stands behind (-1: it is the text); -1 for the others.

    `own`, of a draft in a vocabulary of its own, left out elsewhere: how many bytes each of its own tokens has, from
    the text's end on; together at least as many as the tokens that went up.

    `stale`, left out where it is not so: while it was made, the text that it stands behind was cut; it was dropped.
    `moved`, left out where nothing was: what crossed between devices for it."""

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
    stale: bool | UnsetType = UNSET
    onto: tuple[Int, ...] | UnsetType = UNSET
    moved: Moved | UnsetType = UNSET
    own: tuple[Int, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = (name for name in ("copied", "keys", "draws", "onto") if getattr(self, name))
        check_lengths(self, "serials", "ids", "sources", "q", "confidence", *given)

    @property
    def behind(self) -> tuple[int, ...]:
        """For each token the serial of the one that it stands behind; -1 where that is the text, and for those of a
        chain's first."""
        onto = self.onto or (-1,) * len(self.ids)
        above = self.parents or range(-1, len(self.ids) - 1)
        return tuple(self.serials[up] if up >= 0 else on for up, on in zip(above, onto, strict=True))


class Check(Part, frozen=True):
    """What a verifier thought of one drafted token.

    `alpha`: acceptance probability (rule `block`: h_i). `coin`: the uniform number thrown, None if none was.
    `outcome`: unjudged is what stands behind a rejected one. `p`, `q`: the token's probability
    under the verifier's and the drafter's distribution. `p_row`, `q_row`: the heads of the raw rows at temperature 1 (a
    drafter without a distribution has a one-hot row); `residual`: the distribution that a correction is drawn from.
    """

    serial: Int
    id: Int
    alpha: float | None
    coin: float | None
    outcome: Outcome
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
    those, which decide nothing: they go back to the drafter (the window of lookahead decoding); `dropped`, the serials
    of tokens that were drafted meanwhile behind those judged, and fall with the rejected one or beside the one that was
    kept; `stale`: while it ran, the text that it stands behind was cut, so nothing was judged; `moved`, what crossed
    between devices for it; `asked`, the query of a store of a text.
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
    dropped: tuple[Int, ...] | UnsetType = UNSET
    stale: bool | UnsetType = UNSET
    moved: Moved | UnsetType = UNSET
    asked: Asked | UnsetType = UNSET


class _Own(Record, frozen=True):
    """A token that a verifier drew itself, with its probability under the verifier's distribution."""

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
    """`level`: who supplied the token; `passed`: the levels that accepted it."""

    serial: Int
    id: Int
    level: Level
    how: How
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


class Held(Part, frozen=True):
    """Positions lo, ..., hi - 1 of a context (the prompt counted), which so many heads of a view hold."""

    lo: Int
    hi: Int
    heads: Int


class View(Record, frozen=True):
    """What a level with a view of another level's cache holds of it, from now on: chosen after the prompt was read, and
    frozen.

    `of`: the level whose cache it is. `upto`: the positions that it had. `heads`: all of them, in every layer (layers
    times key heads); each holds positions of its own choice. `held`: how many hold which, in order; what none holds is
    left out. `slots`: the most that one holds. Later positions, once the other level has verified them, are held by
    all: they take empty slots first, then those of what was chosen last.
    """

    level: Level
    of: Level
    upto: Int
    slots: Int
    heads: Int
    held: tuple[Held, ...]
    t: Int


class Plan(Record, frozen=True):
    """From this round on the run follows this plan; it was chosen from the rounds before it.

    `stack`: the plan written out. `levels`: those in it, by their index in the header, the target last; `blocks`: T of
    each but the target. `predicted_ms`: per token under the estimates of this moment; `left_ms`: of the plan that
    it leaves, under the same ones. `acceptance`: those estimates, by "drafter->verifier" ("0->2"), and "hit" for the
    hit rate of a lookup. `t0`: when the deciding began.
    """

    round: Int
    stack: str
    levels: tuple[Level, ...]
    blocks: tuple[Int, ...]
    t0: Int
    t: Int
    predicted_ms: float | None = None
    left_ms: float | None = None
    why: str = ""
    acceptance: Figures = field(default_factory=dict)
