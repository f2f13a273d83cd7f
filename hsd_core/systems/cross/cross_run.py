"""A draft model's state over a text of the target's, kept by bytes.

What stays of its own ids when the text changes is what ends within the bytes that are the same; the rest is spelled
anew. Counts of tokens say nothing here: five of the target's may be three of the draft's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, LevelRun, Outcome, Proposal, Work, drafter, scorer
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.drafting import draft_token_by_token
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.one_pass import in_order
from hsd_core.systems.cross.notes import Ruler
from hsd_core.systems.cross.wording import Wording, finished

WORD = 4  # of its own tokens; longer words are not spelled anew
_NOTHING = Proposal((), (), Work(0, 0, 0))


class Pairs(NamedTuple):
    """The tokens that two vocabularies share: own[i] of the draft's stands for target[i]; and how many ids the target
    has."""

    own: Tensor
    target: Tensor
    size: int


class CrossRun:
    """
    Args:
        inner: the draft model's own state. wording: between its ids and the target's. room: for how many of its ids its
            state has place; over a longer text it drafts nothing. pairs: of the tokens that it draws, where it draws
            shared ones; None: it drafts text.
    """

    def __init__(
        self, inner: LevelRun, wording: Wording, room: int, source: str, size: int, pairs: Pairs | None
    ) -> None:
        self._inner, self._wording, self._room, self._source, self._pairs = inner, wording, room, source, pairs
        self._size = size
        self._tape = list[int]()  # the context as it was last read
        self._ends = list[int]()  # where in its bytes each token ends
        self._text = bytearray()
        self._own, self._own_ends = list[int](), list[int]()
        self._said = bytearray()  # what its own ids stand for: the text, and what was drafted behind it
        self._read = 0

    @property
    def cached(self) -> int:
        """How many tokens of the context it has read, whatever they are in its own."""
        return self._read

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Only for the prompt: the level never verifies. The logits are those of its own vocabulary."""
        self._follow(context)
        self._read = len(context)
        if len(self._own) > self._room or len(self._own) == self._inner.cached:
            return torch.zeros(1, 1), Work(0, 0, 0)
        return scorer(self._inner).score(Context(self._own))

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        self._follow(context)
        if not self._own or len(self._own) + order.limit > self._room:
            return _NOTHING
        if self._inner.cached >= len(self._own):  # the row behind the last one is asked for
            self._inner.keep(len(self._own) - 1, ())
        whole = self._own_ends[-1] == len(self._text)
        return self._draw(context, order) if self._pairs and whole else self._write(context, order)

    def _write(self, context: Context, order: DraftOrder) -> Proposal:
        """Draft text, and offer the target's tokens for it as named ones: nobody drew them.

        Its own tokens are more or fewer than the target's, so choices are told apart by their number alone.
        """
        own_order = replace(order, ends=self._wording.stops).drawing(
            pick=lambda row, depth, number: order.sampler.pick(row, 0, depth)
        )
        drafted = drafter(self._inner).propose(Context(self._own), own_order)
        text, special, lengths = self._wording.drafted(drafted.ids)
        tail = bytes(self._text[-4:])
        open_ = tail[finished(tail) :]  # of a character that the text ends within
        said = max(0, finished(open_ + text) - len(open_))
        ids = self._wording.target(self._tape, text[:said], order.limit)
        ids = [id_ for at, id_ in enumerate(ids) if max(ids[: at + 1]) < self._size]
        spelled = sum(len(self._wording.bytes_of(id_)) for id_ in ids)
        if special is not None and spelled == len(text) and len(ids) < order.limit:
            ids.append(special)
        self._wrote(drafted.ids, text, special)
        self._count(context, ids)
        work, source = drafted.work, (self._source,) * len(ids)
        return Proposal(tuple(ids), source, work, notes=noted(Ruler(tuple(lengths)) if ids and lengths else None))

    def _draw(self, context: Context, order: DraftOrder) -> Proposal:
        """Draw from its rows, cut to the tokens that both vocabularies have: they go up as drawn."""
        assert self._pairs is not None
        drawing = _Drawing(self._inner, self._own, context, self._wording.shared, self._pairs)
        drafted = draft_token_by_token(drawing, context, order, self._source)
        own = [self._wording.shared[id_] for id_ in drafted.ids]
        text, special, lengths = self._wording.drafted(own)
        self._wrote(own, text, special)
        self._count(context, drafted.ids)
        return replace(drafted, notes={**drafted.notes, **noted(Ruler(tuple(lengths)) if lengths else None)})

    def _follow(self, context: Context) -> None:
        """Have the text of a context, and own ids for it: those that were there up to where the bytes differ."""
        known = _alike(self._tape, context)
        del self._tape[known:], self._ends[known:]
        del self._text[self._ends[-1] if self._ends else 0 :]
        for id_ in context[known:]:
            self._text += self._wording.bytes_of(id_)
            self._ends.append(len(self._text))
            self._tape.append(id_)
        kept = self._word(bisect_right(self._own_ends, _alike(self._said, self._text)))
        if self._inner.cached > kept:
            self._inner.keep(kept, ())
        del self._own[kept:], self._own_ends[kept:]
        if not kept:
            self._own += self._wording.start(self._tape)
            self._own_ends += [0] * len(self._own)
        start = self._own_ends[-1] if self._own_ends else 0
        first = bisect_right(self._ends, start)
        text = bytes(self._text)
        for id_, end in self._wording.own(self._tape[first:], self._ends[first:], text, start):
            self._own.append(id_)
            self._own_ends.append(end)
        self._said = bytearray(text)

    def _word(self, kept: int) -> int:
        """Where the word begins that goes on behind its first `kept` ids: it is spelled anew as a whole."""
        at = self._own_ends[kept - 1] if kept else 0
        if at == len(self._text) or _parts_words(self._text[at]):
            return kept
        for back in range(1, min(WORD, kept) + 1):
            begins = self._own_ends[kept - back - 1] if kept > back else 0
            if begins < at and _parts_words(self._text[begins]):
                return kept - back
        return kept

    def _wrote(self, ids: Sequence[int], text: bytes, special: int | None) -> None:
        """These own ids were drafted, and stand for a text, perhaps a special token behind it."""
        at = len(self._text)
        self._said = self._text + text + (b"" if special is None else self._wording.bytes_of(special))
        pieces, end = self._wording.drafted(ids)[2], at
        for place, id_ in enumerate(ids[: len(pieces)]):
            end = len(self._said) if place == len(pieces) - 1 else end + pieces[place]
            self._own.append(id_)
            self._own_ends.append(end)
        for id_ in ids[len(pieces) :]:  # a special one of its own alone: the text never goes on so
            self._own.append(id_)
            self._own_ends.append(len(self._said) + 1)

    def _count(self, context: Context, ids: Sequence[int]) -> None:
        """Of the context, and of these ids behind it, what it has read; the last one it never has."""
        read = self._own_ends[self._inner.cached - 1] - len(self._text) if self._inner.cached else 0
        self._read, at = len(context) - (not ids), 0
        for id_ in ids[:-1]:
            at += len(self._wording.bytes_of(id_))
            self._read += at <= read

    def keep(self, start: int, path: Sequence[int]) -> None:
        """What it has read is counted anew; what stays of its own ids the bytes say, once there is a text again."""
        self._read = min(self._read, start + (len(path) if in_order(path) else 0))

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: the text says what became of its drafts."""

    def close(self) -> None:
        self._inner.close()


class _Drawing:
    """The draft model as the target's vocabulary sees it: tokens that only one of both has are impossible."""

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
        """Nothing to do: on the host no more is drafted than goes up."""


def _parts_words(byte: int) -> bool:
    """Whether a word may begin with it: blanks and what stands around special tokens."""
    return byte in b" \t\r\n\xff"


def _alike(one: Sequence[int] | bytearray, other: Sequence[int] | bytearray) -> int:
    """How many first entries are the same."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:  # those before `low` are alike, those before `high` are not
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return low
