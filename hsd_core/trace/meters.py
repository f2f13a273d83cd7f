"""Counts of one level and of lanes on one clock, and their figures; `metrics` defines each figure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

_NS_PER_MS = 1e6


class LevelMeter:
    def __init__(self) -> None:
        self.judged = self.accepted = self.forwards = self.rows = self.catch_up = self.useful = self.busy_ns = 0
        self.bounded = self.reached = 0  # positions with a bound, and those of them with the rule's own probability
        self.best = self.by_rule = 0.0  # sums over them

    def snapshot(self, level: int) -> dict[str, Any]:
        return {
            "level": level,
            "acceptance": ratio(self.accepted, self.judged),
            "judged": self.judged,
            "accepted": self.accepted,
            "bound": ratio(self.best, self.bounded),
            "expected": ratio(self.by_rule, self.reached) if self.reached == self.bounded else None,
            "forwards": self.forwards,
            "ms_per_call": ratio(self.busy_ns / _NS_PER_MS, self.forwards),
            "busy_ms": self.busy_ns / _NS_PER_MS,
            "rows": self.rows,
            "waste": ratio(self.rows - self.catch_up - self.useful, self.rows),
        }


def ratio(part: float, whole: float) -> float | None:
    """None if `whole` is 0."""
    return part / whole if whole > 0 else None


Pass: TypeAlias = tuple[int, int]  # from, to, ns


class Lanes(NamedTuple):
    """`busy`: the time of each lane in passes (ns), from the bottom up; `both`: the time in which at least two lanes
    were in passes, of `span` (ns), the decoding. `dropped`: drafted tokens that were dropped before the target judged
    them; `rows`: computed for them or after them, of `all_rows` on all lanes."""

    busy: tuple[int, ...]
    both: int
    span: int
    dropped: int
    rows: int
    all_rows: int

    @property
    def use(self) -> tuple[float | None, ...]:
        """Share of the time that each lane is in passes, the target's last."""
        return tuple(ratio(own, self.span) for own in self.busy)

    @property
    def together(self) -> float | None:
        """Share of the time that at least two lanes are in passes."""
        return ratio(self.both, self.span)

    @property
    def gain(self) -> float | None:
        """The sum of all lanes' work over the time it took: at most the number of lanes."""
        return ratio(sum(self.busy), self.span)

    @property
    def waste(self) -> float | None:
        """Share of all rows whose results were dropped because a token before them was rejected."""
        return ratio(self.rows, self.all_rows)

    def figures(self) -> dict[str, float | int | list[float | None] | None]:
        """The figures to show, by name; `lanes` if several are below the target's."""
        *below, target = self.use
        more: dict[str, float | int | list[float | None] | None] = {"lanes": [*below, target]}
        return {
            "below": below[-1],
            "target": target,
            "both": self.together,
            "gain": self.gain,
            "dropped": self.dropped,
            "waste": self.waste,
            **(more if len(below) > 1 else {}),
        }


class LaneMeter:
    """Fed the passes of each lane in order, and of different lanes in any order. lanes: of each level."""

    def __init__(self, lanes: Sequence[int]) -> None:
        self._lanes = lanes
        self._passes: list[list[Pass]] = [[] for _ in range(max(lanes) + 1)]
        self._busy = [0] * len(self._passes)
        self._both = self._dropped = self._rows = 0
        self._shared: list[Pass] = []  # disjoint intervals in which at least two are in passes, in order

    def worked(self, level: int, t0: int, t1: int) -> None:
        """A pass of a level, on a clock of ns."""
        lane = self._lanes[level]
        self._busy[lane] += t1 - t0
        for other, passes in enumerate(self._passes):
            if other != lane:
                for a, b in _since(passes, t0):
                    self._share(max(a, t0), min(b, t1))
        self._passes[lane].append((t0, t1))

    def drop(self, tokens: int, rows: int) -> None:
        """Drafted tokens were dropped unjudged, and rows were computed in vain."""
        self._dropped += tokens
        self._rows += rows

    def found(self, begin: int, end: int, all_rows: int) -> Lanes:
        """The figures of a run that decoded from `begin` to its last commit at `end`, ns; work after that is not
        counted."""
        late = [sum(t1 - max(t0, end) for t0, t1 in _since(own, end)) for own in self._passes]
        return Lanes(
            busy=tuple(all_ - own for all_, own in zip(self._busy, late, strict=True)),
            both=self._both - sum(t1 - max(t0, end) for t0, t1 in _since(self._shared, end)),
            span=max(0, end - begin),
            dropped=self._dropped,
            rows=self._rows,
            all_rows=all_rows,
        )

    def _share(self, t0: int, t1: int) -> None:
        """Two lanes were in passes between these times: add the part that was not counted yet."""
        if t1 <= t0:
            return
        for a, b in _since(self._shared, t0):
            if a < t1:  # a part of it was
                self._share(t0, min(t1, a))
                self._share(max(t0, b), t1)
                return
        self._both += t1 - t0
        insort(self._shared, (t0, t1))


def _since(passes: Sequence[Pass], t: int) -> list[Pass]:
    """The passes that end after a time, latest first; passes of a lane do not overlap."""
    found: list[Pass] = []
    for one in reversed(passes):
        if one[1] <= t:
            break
        found.append(one)
    return found
