"""Passes of several texts through compiled layers: products over the rows of all, attention text by text.

A session has `SEATS` places for texts. Each text's rows attend to its own cache, with the kernel and the rows that they
have alone. A place without a text computes rows of zeros over an empty cache.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.models.cache import own
from hsd_core.models.compiled.bound_cache import CompiledCache
from hsd_core.models.compiled.session import Session, trim_heap
from hsd_core.models.decoder_protocol import QUANTISED, DecoderError
from hsd_core.models.joint_pass import Inputs
from hsd_core.models.lean.linear import aligned
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.machine import TooLarge, free_bytes, refuse
from hsd_core.models.one_pass import Pass

SEATS = 8
NAMES = tuple(f".seat{i}" for i in range(SEATS))
NO_ROWS = 2  # of zeros in attention, for a place without a text

Text = tuple[Pass, CompiledCache]


class JointPart:
    """Layers lo to hi - 1 in a session for several texts, and the caches that are bound to it."""

    def __init__(self, lo: int, hi: int, session: Session, empty: CompiledCache) -> None:
        """empty: of at least `NO_ROWS` positions."""
        self.lo, self.hi, self.session, self._empty = lo, hi, session, empty
        self._bound = session.bound()
        self._seated: list[CompiledCache | None] = [None] * SEATS

    def run(self, texts: Sequence[Text], inputs: Sequence[Tensor]) -> list[Tensor]:
        """The (n, hidden) states of each text after these layers. texts: at most `SEATS`. inputs: (n, hidden) states of
        each before them."""
        seats, at = self._seats([cache for _, cache in texts]), 0
        order = sorted(range(len(texts)), key=seats.__getitem__)
        for seat in {*range(SEATS)} - {*seats}:
            self._sit(seat, self._empty)
        for text in order:
            (given, cache), seat = texts[text], seats[text]
            self._sit(seat, cache)
            self._steer(seat, cache.steer(given, least=1), at, at + len(given.ids))
            at += len(given.ids)
        x = torch.cat([inputs[text] for text in order])
        made = torch.empty(1, *x.shape)
        self._bound.input("x", aligned(x)[None])
        self._bound.output("states", made)
        self._bound()
        parts = torch.split(made[0], [len(inputs[text]) for text in order])
        return [part for _, part in sorted(zip(order, parts, strict=True), key=itemgetter(0))]

    def _steer(self, seat: int, steers: Mapping[str, Tensor], start: int, end: int) -> None:
        rows = {"from": torch.tensor([start]), "to": torch.tensor([end])}
        for name, tensor in {**steers, **rows}.items():
            self._bound.input(name + NAMES[seat], tensor)

    def _seats(self, caches: Sequence[CompiledCache]) -> list[int]:
        """A place for each cache: the one that it has, or one of a cache that is not among them."""
        kept = {id(cache): seat for seat, cache in enumerate(self._seated)}
        own = {kept[id(cache)] for cache in caches if id(cache) in kept}
        free = iter([seat for seat in range(SEATS) if seat not in own])
        return [kept[id(cache)] if id(cache) in kept else next(free) for cache in caches]

    def _sit(self, seat: int, cache: CompiledCache) -> None:
        """Bind a cache, which also lets go of the one before."""
        if self._seated[seat] is not cache:
            cache.bind_to(self._bound, range(self.lo, self.hi), NAMES[seat])
            self._seated[seat] = cache
            if cache is self._empty:
                self._steer(seat, cache.steer_nothing(NO_ROWS), 0, 0)


class Ranged(Protocol):
    """A range of a decoder's layers, in a session."""

    @property
    def lo(self) -> int: ...

    @property
    def hi(self) -> int: ...

    @property
    def session(self) -> Session: ...


class Parted(Protocol):
    """A compiled decoder, as far as second copies of its parts are made."""

    shape: LeanShape
    dtype: str
    layers: int
    max_positions: int
    cutting: threading.Lock

    @property
    def parts(self) -> Sequence[Ranged]: ...

    def between(self, lo: int, hi: int) -> Sequence[Ranged]: ...

    def joint_part(self, lo: int, hi: int) -> JointPart: ...

    def new_cache(self, capacity: int) -> CompiledCache: ...

    def embed(self, ids: Sequence[int]) -> Tensor: ...

    def passed(self, given: Pass, kv: CompiledCache, lo: int, hi: int, x: Tensor) -> Tensor: ...


class JointLayers:
    """Second copies of a decoder's parts, for several texts. why_not: why passes are not computed together, or ""."""

    def __init__(self, decoder: Parted) -> None:
        self.why_not, self._decoder, self._parts = "", decoder, dict[tuple[int, int], JointPart]()

    @property
    def nbytes(self) -> int:
        return sum(part.session.nbytes for part in self._parts.values())

    def run(self, lo: int, hi: int, all_of: Sequence[Inputs]) -> list[Tensor]:
        """Layers lo, ..., hi - 1 on inputs of several texts.

        Raises:
            DecoderError, TooLarge: they cannot be computed together; from now on each runs alone.
        """
        try:
            parts = self._between(lo, hi)
        except (DecoderError, TooLarge) as error:
            self.why_not = str(error)
            raise
        found, passes = list[Tensor](), -(-len(all_of) // SEATS)
        each = -(-len(all_of) // passes)
        for at in range(0, len(all_of), each):
            some = all_of[at : at + each]
            texts, x = [text_of(inputs) for inputs in some], [inputs.states for inputs in some]
            for part in parts:
                x = part.run(texts, x)
            for given, kv in texts if hi == self._decoder.layers else ():
                kv.length = given.end
            found += x
        return found

    def _between(self, lo: int, hi: int) -> Sequence[JointPart]:
        decoder = self._decoder
        wanted = [(part.lo, part.hi) for part in decoder.between(lo, hi)]
        with decoder.cutting:
            there = {(part.lo, part.hi): part.session.nbytes for part in decoder.parts}
            self._parts = {at: part for at, part in self._parts.items() if at in there}
            missing = [at for at in wanted if at not in self._parts]
            nbytes = sum(map(there.__getitem__, missing))
            refuse(nbytes, free_bytes("cpu"), "a copy of the layers for several texts", "")
            for at in missing:
                made = decoder.joint_part(*at)
                if decoder.dtype in QUANTISED and not self._alike(made):
                    raise DecoderError("on this processor rows depend on how many are computed together")
                self._parts[at] = made
            if missing:
                trim_heap()
            return [self._parts[at] for at in wanted]

    def _alike(self, part: JointPart) -> bool:
        """Whether rows of a joint pass equal those of passes of one text, bit for bit."""
        decoder = self._decoder
        given = [Pass([i % decoder.shape.vocab_size for i in range(min(n, decoder.max_positions))]) for n in (33, 1)]
        x = [decoder.embed(one.ids) for one in given]
        joint = part.run([(one, decoder.new_cache(len(one.ids))) for one in given], x)
        alone = [
            decoder.passed(one, decoder.new_cache(len(one.ids)), part.lo, part.hi, states)
            for one, states in zip(given, x, strict=True)
        ]
        return all(map(torch.equal, joint, alone))


def text_of(inputs: Inputs) -> Text:
    assert inputs.given is not None and inputs.cache is not None
    return inputs.given, own(inputs.cache, CompiledCache)
