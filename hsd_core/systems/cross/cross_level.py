"""A draft model with another tokenizer: it drafts in its own tokens and hands up the target's tokens for the same text.

TokenTiming (arXiv 2510.15545) tokenizes the draft's text with the target's tokenizer. A retokenized token was not drawn
from any row, so it goes up as named and is accepted with the target's probability. The paper aligns both texts by
dynamic time warping and carries the draft's probabilities over (@map=warped), which is not exact (`warping`). A draft
that is restricted to tokens of both vocabularies (arXiv 2502.05202) draws them from its row over these, and they go up
as drawn.

The draft model's state is aligned with the target's text by bytes. When the text changes, the draft's ids that end
within the unchanged bytes stay, and the rest is tokenized again. Token counts cannot be compared: five of the target's
tokens may be three of the draft's.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from hsd_core.core.level import BY_NAME, DraftOrder, DrawnFrom, LevelRun, Outcome, Proposal, Work, drafter, scorer
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.levels.shared import SharedState, Sharing
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.one_pass import in_order
from hsd_core.systems.cross.notes import Ruler
from hsd_core.systems.cross.retokenizing import Retokenizer, Vocabulary, finished
from hsd_core.systems.cross.warping import carried, warped

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.levels.trunk import Features

TEXT, SHARED, WARPED = "text", "shared", "warped"
_SAMPLE = "A level drafts a few words, and the one above it keeps those that it would have written: 1, 2, 3."
_SPARE = 1.5  # draft tokens of a text, in multiples of what the sample needs
_LEAST = 64


class CrossLevel:
    """`inner` is the draft model over the vocabulary `own`; `size`: width of the target's rows. Read-only.

    It only drafts: a verifier needs a row over the target's vocabulary behind every token.
    """

    can_verify, has_cache = False, True
    max_positions: int | None = None  # it drafts nothing for a text that is longer than the draft model's context

    def __init__(
        self, inner: Level, own: Vocabulary, target: Vocabulary, size: int, *, map_: str = TEXT, name: str = "cross"
    ) -> None:
        """
        Raises:
            ValueError: `map_` is not "text", and the vocabularies share no token.
        """
        self.inner, self.vocab_size = inner, size
        self.name = name
        self.decoder: Any = getattr(inner, "decoder", None)  # what its memory is counted by
        self._retokenizer = Retokenizer(own, target)
        self._pairs = None if map_ == TEXT else _pairs(self._retokenizer.shared, inner.vocab_size, size, map_)
        self._warps = map_ == WARPED
        self._ratio = len(own.within(_SAMPLE)) / max(1, len(target.within(_SAMPLE)))
        shared = {} if self._pairs is None else {"shared": len(self._pairs.own)}
        params: dict[str, object] = {"map": map_, "vocabulary": inner.vocab_size, **shared}
        self.about = replace(inner.about, kind=name, params=params, sequences=1, probes=0, fed=False)

    def room(self, capacity: int) -> int:
        """How many draft ids its cache can hold for a context of `capacity` target ids."""
        room = math.ceil(_SPARE * max(1.0, self._ratio) * capacity) + _LEAST
        return min(room, self.inner.max_positions or room)

    def _state(self, shared: SharedState) -> SharedState:
        """The draft model shares nothing with the levels above."""
        return SharedState(self.room(shared.capacity), 0, self.inner.max_positions)

    def enter(self, shared: SharedState) -> Features | None:
        return self.inner.enter(self._state(shared)) if isinstance(self.inner, Sharing) else None

    def open(self, capacity: int, shared: SharedState) -> CrossRun:
        own = self._state(shared)
        run = self.inner.open(own.capacity, own)
        own.prepare()
        return CrossRun(run, self._retokenizer, own.capacity, self.name, self.vocab_size, self._pairs, self._warps)


def _pairs(shared: dict[int, int], own: int, target: int, map_: str) -> Pairs:
    both = [(mine, theirs) for theirs, mine in shared.items() if mine < own and theirs < target]
    if not both:
        raise ValueError(f"the two vocabularies share no token; leave @map={map_} out")
    mine, theirs = _tensor([m for m, _ in both]), _tensor([t for _, t in both])
    return Pairs(mine, theirs, target)


def _tensor(ids: Sequence[int]) -> torch.Tensor:
    return torch.tensor(ids)


WORD = 4  # draft tokens; longer words are not tokenized again
_NOTHING = Proposal((), (), Work(0, 0, 0))


class Pairs(NamedTuple):
    """The tokens that two vocabularies share: draft id own[i] stands for target id target[i]. size: of the target's
    vocabulary."""

    own: Tensor
    target: Tensor
    size: int


class CrossRun:
    """
    Args:
        inner: the draft model's state. retokenizer: between its ids and the target's. room: draft ids that the state
            can hold; for a longer text nothing is drafted. pairs: the shared tokens; None where it drafts text and
            hands up no row. warps: it drafts text, and carries its rows over by warping; otherwise it draws only from
            `pairs`.
    """

    def __init__(
        self,
        inner: LevelRun,
        retokenizer: Retokenizer,
        room: int,
        source: str,
        size: int,
        pairs: Pairs | None,
        warps: bool = False,
    ) -> None:
        self._inner, self._retokenizer, self._room, self._source, self._pairs = inner, retokenizer, room, source, pairs
        self._size, self._warps = size, warps
        self._tape = list[int]()  # the context as it was last read
        self._ends = list[int]()  # the byte at which each token ends
        self._text = bytearray()
        self._own, self._own_ends = list[int](), list[int]()  # the draft's ids
        self._spelled = bytearray()  # their bytes: the text, and what was drafted behind it
        self._read = 0

    @property
    def cached(self) -> int:
        """How many of the context's (target) tokens it has read."""
        return self._read

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Reads the prompt; the level never verifies. The logits are over the draft's vocabulary."""
        self._follow(context)
        self._read = len(context)
        if len(self._own) > self._room or len(self._own) == self._inner.cached:
            return torch.zeros(1, 1), Work(0, 0, 0)
        return scorer(self._inner).score(Context(self._own))

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        self._follow(context)
        if not self._own or len(self._own) + order.limit > self._room:
            return _NOTHING
        if self._inner.cached >= len(self._own):  # the row behind the last id is needed
            self._inner.keep(len(self._own) - 1, ())
        whole = self._own_ends[-1] == len(self._text)
        draws = self._pairs and whole and not self._warps
        return self._draw(context, order) if draws else self._write(context, order)

    def _write(self, context: Context, order: DraftOrder) -> Proposal:
        """Draft text, and offer the target's tokens for it: as named ones, or with rows that are carried over.

        The draft's tokens are more or fewer than the target's, so a choice's key has its number in place of a depth.
        """
        own_order = replace(order, ends=self._retokenizer.stops).drawing(
            pick=lambda row, depth, number: order.sampler.pick(row, 0, depth)
        )
        drafted = drafter(self._inner).propose(Context(self._own), own_order)
        text, special, lengths = self._retokenizer.drafted(drafted.ids)
        tail = bytes(self._text[-4:])
        open_ = tail[finished(tail) :]  # bytes of an unfinished character at the end of the text
        complete = max(0, finished(open_ + text) - len(open_))
        ids = self._retokenizer.target(self._tape, text[:complete], order.limit)
        ids = [id_ for at, id_ in enumerate(ids) if max(ids[: at + 1]) < self._size]
        spelled = sum(len(self._retokenizer.bytes_of(id_)) for id_ in ids)
        if special is not None and spelled == len(text) and len(ids) < order.limit:
            ids.append(special)
        self._wrote(drafted.ids, text, special)
        self._count(context, ids)
        work, source, ruler = drafted.work, (self._source,) * len(ids), Ruler(tuple(lengths))
        drawn = self._carried(drafted, ids) if self._warps and ids and lengths else BY_NAME
        return Proposal(tuple(ids), source, work, drawn, notes=noted(ruler if ids and lengths else None))

    def _carried(self, drafted: Proposal, ids: Sequence[int]) -> DrawnFrom:
        """Rows for the target's tokens, as the paper has them: see `warping`. None for a greedy draft."""
        assert self._pairs is not None
        if (rows := drafted.drawn.rows) is None:
            return BY_NAME
        rows = rows.cpu()
        moved = rows.new_zeros(len(rows), self._size)
        moved[:, self._pairs.target] = rows[:, self._pairs.own]
        target = [*map(self._retokenizer.bytes_of, ids)]
        own = [*map(self._retokenizer.own_bytes, drafted.ids)]
        while sum(map(len, own[:-1])) >= sum(map(len, target)):
            own.pop()  # spells nothing of what goes up
        beside = warped(own, target)
        chances = [float(row[id_]) for row, id_ in zip(rows, drafted.ids, strict=True)]
        return DrawnFrom(carried(beside, chances, moved, ids))

    def _draw(self, context: Context, order: DraftOrder) -> Proposal:
        """Draw from the draft's rows, restricted to the shared tokens; they go up as drawn."""
        assert self._pairs is not None
        drawing = _Drawing(self._inner, self._own, context, self._retokenizer.shared, self._pairs)
        drafted = draft_token_by_token(drawing, context, order, self._source)
        own = [self._retokenizer.shared[id_] for id_ in drafted.ids]
        text, special, lengths = self._retokenizer.drafted(own)
        self._wrote(own, text, special)
        self._count(context, drafted.ids)
        return replace(drafted, notes={**drafted.notes, **noted(Ruler(tuple(lengths)) if lengths else None)})

    def _follow(self, context: Context) -> None:
        """Update the text to the context's, and the draft's ids with it; ids before the first changed byte stay."""
        known = _common_prefix(self._tape, context)
        del self._tape[known:], self._ends[known:]
        del self._text[self._ends[-1] if self._ends else 0 :]
        for id_ in context[known:]:
            self._text += self._retokenizer.bytes_of(id_)
            self._ends.append(len(self._text))
            self._tape.append(id_)
        kept = self._word(bisect_right(self._own_ends, _common_prefix(self._spelled, self._text)))
        if self._inner.cached > kept:
            self._inner.keep(kept, ())
        del self._own[kept:], self._own_ends[kept:]
        if not kept:
            self._own += self._retokenizer.start(self._tape)
            self._own_ends += [0] * len(self._own)
        start = self._own_ends[-1] if self._own_ends else 0
        first = bisect_right(self._ends, start)
        text = bytes(self._text)
        for id_, end in self._retokenizer.own(self._tape[first:], self._ends[first:], text, start):
            self._own.append(id_)
            self._own_ends.append(end)
        self._spelled = bytearray(text)

    def _word(self, kept: int) -> int:
        """How many of the first `kept` ids stay if an unfinished word at their end is tokenized again."""
        at = self._own_ends[kept - 1] if kept else 0
        if at == len(self._text) or _starts_word(self._text[at]):
            return kept
        for back in range(1, min(WORD, kept) + 1):
            begins = self._own_ends[kept - back - 1] if kept > back else 0
            if begins < at and _starts_word(self._text[begins]):
                return kept - back
        return kept

    def _wrote(self, ids: Sequence[int], text: bytes, special: int | None) -> None:
        """Record drafted ids and their text, with the special token that ends it, if there is one."""
        at = len(self._text)
        self._spelled = self._text + text + (b"" if special is None else self._retokenizer.bytes_of(special))
        pieces, end = self._retokenizer.drafted(ids)[2], at
        for place, id_ in enumerate(ids[: len(pieces)]):
            end = len(self._spelled) if place == len(pieces) - 1 else end + pieces[place]
            self._own.append(id_)
            self._own_ends.append(end)
        for id_ in ids[len(pieces) :]:  # a special token of the draft alone: no target text goes on like this
            self._own.append(id_)
            self._own_ends.append(len(self._spelled) + 1)

    def _count(self, context: Context, ids: Sequence[int]) -> None:
        """Count how much it has read of the context and of these ids behind it; the last id is never read."""
        read = self._own_ends[self._inner.cached - 1] - len(self._text) if self._inner.cached else 0
        self._read, at = len(context) - (not ids), 0
        for id_ in ids[:-1]:
            at += len(self._retokenizer.bytes_of(id_))
            self._read += at <= read

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Cut what it has read; which draft ids stay is decided by bytes when the next text is known."""
        self._read = min(self._read, start + (len(path) if in_order(path) else 0))

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the next text shows which drafts were kept."""

    def close(self) -> None:
        self._inner.close()


class _Drawing:
    """The draft model over the target's vocabulary: tokens that are not shared have probability 0."""

    def __init__(
        self, inner: LevelRun, own: Sequence[int], context: Context, shared: dict[int, int], pairs: Pairs
    ) -> None:
        self._inner, self._own, self._start, self._shared, self._pairs = inner, own, len(context), shared, pairs

    def score(self, context: Context) -> tuple[Tensor, Work]:
        ids = [*self._own, *(self._shared[id_] for id_ in context[self._start :])]
        logits, work = scorer(self._inner).score(Context(ids))
        (here,) = fetched(logits)
        seen = here.new_full((len(here), self._pairs.size), float("-inf"))
        seen[:, self._pairs.target] = here[:, self._pairs.own]
        return seen, work

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: on the host every drafted token goes up."""


def _starts_word(byte: int) -> bool:
    """Whether a word may begin with it: whitespace, and the byte around special tokens."""
    return byte in b" \t\r\n\xff"


def _common_prefix(one: Sequence[int] | bytearray, other: Sequence[int] | bytearray) -> int:
    """The length of the common prefix, by bisection: slices compare quicker than items."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:  # the first `low` items are equal, the first `high` are not
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return low
