"""Events of a round: what was drafted, judged, drawn and committed, and how caches and plan changed."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import field
from msgspec.structs import force_setattr

from hsd_core.core.events.parts import Figures, Level, Notes, Part, Record, Row, Work
from hsd_core.core.notes import read_notes
from hsd_core.typed import Int

How: TypeAlias = Literal["draft", "correct", "bonus"]
Outcome: TypeAlias = Literal["accepted", "rejected", "unjudged"]


class Prefill(Record, frozen=True):
    """A level processed the prompt (`round` None, `tokens` its length), or the `tokens` positions that it had missed
    when it joined the plan before a round."""

    level: Level
    tokens: Int
    t0: Int
    t1: Int
    round: Int | None = None


class Drafted(Part, frozen=True, omit_defaults=True):
    """A drafted token. `source`: which database, exit or model; `q`: its probability under the distribution that it was
    drawn from; `confidence`: the raw (temperature 1) top probability of that row, None for a drafter without one.

    `parent`, in a tree: the serial of the token that it follows, of this draft or an earlier one; -1: it follows the
    text. None in a chain: it follows the one before it."""

    serial: Int
    id: Int
    source: str
    q: float
    confidence: float | None = None
    parent: Int | None = None


class Draft(Record, frozen=True, omit_defaults=True):
    """Tokens drafted by the bottom level, a parent before its children, and the work for them. `at`: the position of
    the first. `notes`: of the level's system (`core/notes.py`)."""

    round: Int
    level: Level
    at: Int
    tokens: tuple[Drafted, ...]
    work: Work
    t0: Int
    t1: Int
    notes: Notes = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.notes:
            force_setattr(self, "notes", read_notes(self.notes, len(self.tokens)))

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token.id for token in self.tokens)

    @property
    def serials(self) -> tuple[int, ...]:
        return tuple(token.serial for token in self.tokens)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(token.source for token in self.tokens)

    @property
    def is_tree(self) -> bool:
        return bool(self.tokens) and self.tokens[0].parent is not None

    @property
    def parent_serials(self) -> tuple[int, ...]:
        """For each token the serial of the one that it follows; -1 where it follows the text, as the first token of a
        chain does."""
        before = (-1, *self.serials)
        return tuple(
            last if token.parent is None else token.parent for token, last in zip(self.tokens, before, strict=False)
        )

    @property
    def parents(self) -> tuple[int, ...]:
        """For each token the index of its parent in this draft; -1 where the parent is not part of it."""
        index = {serial: i for i, serial in enumerate(self.serials)}
        return tuple(index.get(serial, -1) for serial in self.parent_serials)


class Check(Part, frozen=True):
    """A verifier's judgement of one drafted token.

    `alpha`: acceptance probability (rule `block`: h_i). `coin`: the uniform number drawn, None if none was. `outcome`:
    a token after a rejected one is unjudged. `p`, `q`: the token's probability under the verifier's and the drafter's
    distribution. `p_row`, `q_row`: the heads of the raw rows at temperature 1 (`p_row` only of a judged token;
    `q_row` one-hot for a drafter without a distribution); `residual`: the distribution that a correction is drawn from.
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
    """The acceptance probability at a judged position: that one of its candidates is kept, over all candidates that its
    drafter could have drawn.

    `first`: the serial of the first candidate. `rule`: under the rule that judged, None if that was not computed.
    `best`: the maximum over exact rules (`models/best_acceptance.py`).
    """

    first: Int
    rule: float | None
    best: float


class Verify(Record, frozen=True, omit_defaults=True):
    """One forward of a verifier over the block of level `below` (None: plain decoding).

    `bounds`: of the positions judged token by token when sampling, in order (none in greedy runs, where every exact
    rule keeps the same tokens). `notes`: as of a draft.
    """

    round: Int
    level: Level
    below: Level | None
    at: Int
    work: Work
    checks: tuple[Check, ...]
    t0: Int
    t1: Int
    bounds: tuple[Bound, ...] = ()
    notes: Notes = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.notes:
            force_setattr(self, "notes", read_notes(self.notes))


class _Drawn(Record, frozen=True):
    """A verifier's own token, with its probability under the verifier's distribution."""

    round: Int
    level: Level
    at: Int
    serial: Int
    id: Int
    p: float
    t: Int
    p_row: Row | None = None


class Correct(_Drawn, frozen=True):
    """A token drawn from the residual after a reject."""


class Bonus(_Drawn, frozen=True):
    """A token drawn from the verifier's row after all drafted tokens (perhaps none) were accepted."""


class Committed(Part, frozen=True):
    """`level`: the one that made the token; `passed`: the levels that accepted it."""

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
    """Between passes: cached + catch_up == committed + held (the prompt counts as committed)."""

    level: Level
    cached: Int
    catch_up: Int
    committed: Int
    held: Int


class Kv(Record, frozen=True):
    round: Int
    levels: tuple[KvLength, ...]
    t: Int


class Report(Record, frozen=True):
    """Notes of a level's system that are about no single pass: at a commit, once the prompt is read, or after the
    footer. The level worked on them from `t0` to `t1`; None after the footer, where the clock is stopped."""

    level: Level
    t0: Int | None
    t1: Int | None
    notes: Notes

    def __post_init__(self) -> None:
        force_setattr(self, "notes", read_notes(self.notes))


class Plan(Record, frozen=True):
    """From this round on the run follows this plan, which was chosen from the rounds before.

    `stack`: the plan as a stack. `levels`: their indices in the header, the target last; `blocks`: T of each except the
    target. `predicted_ms`: per token under the present estimates; `left_ms`: the same for the previous plan.
    `acceptance`: those estimates, by "drafter->verifier" ("0->2"), and "hit" for the hit rate of a lookup. `t0`: when
    the choice began. `load`: the runs at once that it was chosen for; `predicted_ms` is then of all together.
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
    load: Int | None = None
