"""What the levels of one run share: one trunk per model.

Levels enter from the target down, so that a level finds the trunks of the levels above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

from hsd_core.levels.trunk import Features, Layered, Trunk
from hsd_core.levels.whole_trunk import WholeTrunk
from hsd_core.models.decoder_protocol import Recording

if TYPE_CHECKING:
    from hsd_core.core.level import Level, LevelRun

S = TypeVar("S")
T = TypeVar("T")
Written: TypeAlias = "tuple[Sequence[int], Sequence[int]]"  # a prompt and its output


class SharedState:
    """The trunks of one run over a context of at most `capacity` tokens and trees of at most `branches` nodes.

    positions: the last position that every level can compute; None if there is no bound. across: its levels are on
    several lanes (`by_lane`). earlier: what the earlier runs of whose run this is wrote; None: of this program.
    """

    def __init__(
        self,
        capacity: int,
        branches: int = 0,
        positions: int | None = None,
        *,
        across: bool = False,
        earlier: Sequence[Written] | None = None,
    ) -> None:
        self.capacity, self.branches, self.positions, self.across = capacity, branches, positions, across
        self.earlier = earlier
        self._trunks: dict[int, Trunk] = {}
        self._opened: list[Trunk] = []
        self._features: list[Features] = []
        self._held: dict[int, Any] = {}

    def held(self, of: S, make: Callable[[S], T]) -> T:
        """An object that the run's levels share, made from `of` by the first one that asks."""
        if id(of) not in self._held:
            self._held[id(of)] = make(of)
        return cast("T", self._held[id(of)])

    def trunk(self, decoder: Layered, depth: int, *, features: bool = False, along: bool = False) -> Trunk:
        """The trunk of a decoder, marked at `depth`.

        A level shares it with the levels above if it reads the model at a lower depth. One that does not (a quantised
        copy as draft and as target) gets its own trunk. So does one below a self-draft, which writes into the free
        slots of its trunk.

        Args:
            features: its last hidden states are those of a full pass over the target's weights, which a drafter below
                may read. along: the level above that reads it at this same depth counts what it has read, so the two
                can share it.
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

    def recorded(self, decoder: Recording) -> WholeTrunk:
        """The states that passes of the target record where it runs whole, which a drafter below may read."""
        trunk = self.held(decoder, lambda model: WholeTrunk(model, self.capacity, self.branches))
        if trunk not in self._features:
            self._features.insert(0, trunk)
        return trunk

    def lent(self, decoder: Layered) -> tuple[Trunk, bool]:
        """A trunk of all layers of a decoder whose free slots a drafter may write, and whether a level above fills it;
        if none does, only the drafter uses it."""
        above = self._trunks.get(id(decoder))
        filled = above is not None and not above.lent and above.shallowest == decoder.layers
        trunk = above if filled and above is not None else self.trunk(decoder, decoder.layers)
        trunk.lent = True
        return trunk, filled

    def viewed(self, decoder: Layered) -> Trunk:
        """The trunk of the topmost level, for a view that reads a part of its cache.

        Raises:
            ValueError: there is none, or it is of a model of another shape or on another device.
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
        """Record passes before the first round; called when all levels have entered."""
        for trunk in self._opened:
            trunk.prepare()

    def features(self, joined: Sequence[int] = ()) -> tuple[Features, ...]:
        """The trunks of levels above that run all of the target's layers, the nearest first.

        A drafter reads the first one that does not rest. joined: the depths whose states it reads, if not only the
        last; they are kept from now on.

        Raises:
            ValueError: there is none.
        """
        if not self._features:
            raise ValueError(
                "no level above runs the whole target; put int8, int4 or target above a drafter that reads it"
            )
        for trunk in self._features:
            for depth in joined:
                trunk.mark(depth, features_only=True)
        return tuple(self._features)


@runtime_checkable
class Sharing(Protocol):
    """A level that may read a trunk."""

    def enter(self, shared: SharedState) -> Features | None:
        """The trunk that it reads in a run, or None; called from the target down."""


def open_levels(
    levels: Sequence[Level],
    capacity: int,
    branches: int = 0,
    *,
    lanes: Sequence[int] = (),
    earlier: Sequence[Written] | None = None,
) -> Iterator[LevelRun]:
    """Open a stack's levels for a run over a context of at most `capacity` tokens; yields the target's state first.

    branches: the most nodes of a tree after it. lanes: the lane of each level; levels on different lanes share nothing,
    as if each lane were another machine, but for those of `by_lane`. Without it all are on one. earlier: see
    `SharedState`.
    """
    positions = least_positions(levels)
    end = len(levels)
    for lane in reversed(by_lane(levels, lanes)):
        across, end = len({*lanes[end - len(lane) : end]}) > 1, end - len(lane)
        yield from open_lane(lane, SharedState(capacity, branches, positions, across=across, earlier=earlier))


def by_lane(levels: Sequence[Level], lanes: Sequence[int]) -> list[list[Level]]:
    """The levels that may share, of each lane, the lowest lane first; see `open_levels`.

    A level that is `beside` the one above shares with it across their lanes: one runs the model, and what the other
    does needs only the states that it has computed, as a query of a store.
    """
    found: list[list[Level]] = []
    for i, level in enumerate(levels):
        if not i or (lanes and lanes[i] != lanes[i - 1] and not getattr(levels[i - 1], "beside", False)):
            found.append([])
        found[-1].append(level)
    return found


def open_lane(levels: Sequence[Level], shared: SharedState) -> Iterator[LevelRun]:
    """Open the levels of one lane, the topmost first."""
    for level in reversed(levels):
        yield level.open(shared.capacity, shared)
    shared.prepare()


def least_positions(levels: Sequence[Level]) -> int | None:
    """The fewest positions that one of the levels can compute; None if there is no bound."""
    return min((level.max_positions for level in levels if level.max_positions is not None), default=None)


def shares(levels: Sequence[Level], *, lanes: Sequence[int] = ()) -> tuple[int | None, ...]:
    """For every level the deepest level with the same trunk (perhaps itself); None for one that shares nothing.

    lanes: as in `open_levels`.
    """
    apart = by_lane(levels, lanes)
    if len(apart) > 1:
        starts = accumulate(map(len, apart[:-1]), initial=0)
        return tuple(
            None if found is None else start + found
            for start, lane in zip(starts, apart, strict=True)
            for found in shares(lane)
        )
    shared = SharedState(0)
    trunks = [level.enter(shared) if isinstance(level, Sharing) else None for level in reversed(levels)][::-1]
    readers = Counter(id(trunk) for trunk in trunks if trunk is not None)
    deepest = {id(trunk): i for i, trunk in enumerate(trunks)}
    return tuple(None if trunk is None or readers[id(trunk)] < 2 else deepest[id(trunk)] for trunk in trunks)
