"""What the levels of one run hold in common: one trunk per model.

Levels enter from the target down, so that a level finds the trunks of those above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

from hsd_core.levels.trunk import Layered, Trunk

if TYPE_CHECKING:
    from hsd_core.core.level import Level, LevelRun

S = TypeVar("S")
T = TypeVar("T")


class SharedState:
    """The trunks of one run over a context of at most `capacity` tokens and trees of at most `branches` nodes.

    positions: behind which no level can compute anything; None where there is no such end.
    """

    def __init__(self, capacity: int, branches: int = 0, positions: int | None = None) -> None:
        self.capacity, self.branches, self.positions = capacity, branches, positions
        self._trunks: dict[int, Trunk] = {}
        self._opened: list[Trunk] = []
        self._features: list[Trunk] = []
        self._held: dict[int, Any] = {}

    def held(self, of: S, make: Callable[[S], T]) -> T:
        """What the run's levels have in common of an object that they all read, made by the first one that asks."""
        if id(of) not in self._held:
            self._held[id(of)] = make(of)
        return cast("T", self._held[id(of)])

    def trunk(self, decoder: Layered, depth: int, *, features: bool = False, along: bool = False) -> Trunk:
        """The trunk of a decoder, marked at `depth`.

        A level shares it with the levels above if it reads the model earlier than they do. One that reads it no
        earlier (a quantised copy as draft and as target) has a trunk of its own: it pays for what it computes. So has
        one below a self-draft, which writes into the free slots of its trunk.

        Args:
            features: these are the last hidden states of a full pass over the target's weights, which a drafter
                below may read. along: the level above that reads it at this very depth keeps count of what it has read
                (`StoreRun`), so the two share it.
        """
        trunk = self._trunks.get(id(decoder))
        joins = along and trunk is not None and depth == trunk.shallowest and not trunk.joined
        if trunk is None or trunk.lent or (depth >= trunk.shallowest and not joins):
            trunk = self._trunks[id(decoder)] = Trunk(decoder, min(self.capacity, decoder.max_positions), self.branches)
            self._opened.append(trunk)
        trunk.mark(depth)
        trunk.joined |= joins
        if features:
            self._features.insert(0, trunk)
        return trunk

    def lent(self, decoder: Layered) -> tuple[Trunk, bool]:
        """A trunk of all layers of a decoder whose free slots a drafter may write, and whether a level above fills it.

        Where none does, the drafter has it to itself.
        """
        above = self._trunks.get(id(decoder))
        filled = above is not None and not above.lent and above.shallowest == decoder.layers
        trunk = above if filled and above is not None else self.trunk(decoder, decoder.layers)
        trunk.lent = True
        return trunk, filled

    def viewed(self, decoder: Layered) -> Trunk:
        """The trunk of the topmost level, whose cache a model of the same shape may see a part of.

        Raises:
            ValueError: there is none, or its keys and values are not this model's.
        """
        trunk = next(iter(self._opened), None)
        if trunk is None or trunk.decoder.shape != decoder.shape:
            raise ValueError("a view reads the target's cache, and no level above has one of this model's shape")
        if trunk.decoder.device != decoder.device:
            raise ValueError(
                f"a view that runs on {decoder.device} cannot read the target's cache on {trunk.decoder.device}; leave "
                "its @dtype= out"
            )
        return trunk

    def prepare(self) -> None:
        """All levels have entered: what can be recorded ahead of the first round is."""
        for trunk in self._opened:
            trunk.prepare()

    def features(self, joined: Sequence[int] = ()) -> tuple[Trunk, ...]:
        """The trunks of the full passes over the target's weights above, the nearest first.

        A drafter reads the first one that does not rest. joined: the depths whose states it is fed, if not the last
        alone; they are kept from now on.

        Raises:
            ValueError: there is none.
        """
        if not self._features:
            raise ValueError(
                "no level above runs the whole target; put int8, int4 or target above a drafter that reads it"
            )
        for trunk in self._features:
            for depth in joined:
                trunk.mark(depth, aside=True)
        return tuple(self._features)


@runtime_checkable
class Sharing(Protocol):
    """A level that may read a trunk."""

    def enter(self, shared: SharedState) -> Trunk | None:
        """The trunk that it reads in a run, or None; called from the target down."""


def open_levels(
    levels: Sequence[Level], capacity: int, branches: int = 0, *, lanes: Sequence[int] = ()
) -> Iterator[LevelRun]:
    """Open a stack's levels for a run over a context of at most `capacity` tokens; yields the target's state first.

    branches: the most nodes of a tree behind it. lanes: on which lane each level works; those on different lanes share
    nothing, as if each ran on another machine. Without it they are all on one.
    """
    positions = least_positions(levels)
    for place in reversed(on_lanes(levels, lanes)):
        yield from open_place(place, SharedState(capacity, branches, positions))


def on_lanes(levels: Sequence[Level], lanes: Sequence[int]) -> list[list[Level]]:
    """The levels of each lane, the lowest lane first; see `open_levels`."""
    numbered = zip(lanes or [0] * len(levels), levels, strict=True)
    return [[level for _, level in own] for _, own in groupby(numbered, key=itemgetter(0))]


def open_place(levels: Sequence[Level], shared: SharedState) -> Iterator[LevelRun]:
    """Open levels that work in one place, the topmost first: what they share, nobody else does."""
    for level in reversed(levels):
        yield level.open(shared.capacity, shared)
    shared.prepare()


def least_positions(levels: Sequence[Level]) -> int | None:
    """Behind how many positions one of the levels cannot compute anything; None where there is no such end."""
    return min((level.max_positions for level in levels if level.max_positions is not None), default=None)


def shares(levels: Sequence[Level], *, lanes: Sequence[int] = ()) -> tuple[int | None, ...]:
    """For every level the deepest level whose trunk it reads (perhaps itself); None for one that shares nothing.

    lanes: as in `open_levels`.
    """
    places = on_lanes(levels, lanes)
    if len(places) > 1:
        starts = accumulate(map(len, places[:-1]), initial=0)
        return tuple(
            None if found is None else start + found
            for start, place in zip(starts, places, strict=True)
            for found in shares(place)
        )
    shared = SharedState(0)
    trunks = [level.enter(shared) if isinstance(level, Sharing) else None for level in reversed(levels)][::-1]
    readers = Counter(id(trunk) for trunk in trunks if trunk is not None)
    deepest = {id(trunk): i for i, trunk in enumerate(trunks)}
    return tuple(None if trunk is None or readers[id(trunk)] < 2 else deepest[id(trunk)] for trunk in trunks)
