"""Passes of several texts through compiled layers: products over the rows of all, attention text by text.

A session has `SEATS` places for texts. Each text's rows attend to its own cache, with the kernel and the rows that they
have alone. A place without a text computes rows of zeros over an empty cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import torch
from torch import Tensor

from hsd_core.models.compiled.bound_cache import CompiledCache
from hsd_core.models.compiled.session import Session
from hsd_core.models.lean.linear import aligned
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
