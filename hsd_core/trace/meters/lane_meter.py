"""Two lanes on one clock: the target on one, what stands below it on the other; `metrics` says what each figure is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from hsd_core.trace.meters.level_meter import ratio

Pass: TypeAlias = tuple[int, int]  # from, to, ns


class Lanes(NamedTuple):
    """`below`, `target`: how long each lane was at work (ns), `both`: how long both were, of `span` (ns), the decoding.
    `dropped`: drafted tokens that were dropped before the target judged them; `rows`: computed for them or behind them
    in vain, of `all_rows` on both lanes. `handed`, `handed_ns`: where lanes are processes, how often they were given
    work, and what it took to hand it over and back."""

    below: int
    target: int
    both: int
    span: int
    dropped: int
    rows: int
    all_rows: int
    handed: int = 0
    handed_ns: int = 0

    @property
    def use(self) -> tuple[float | None, float | None]:
        """Share of the time in which the lane below is at work, and the target's."""
        return ratio(self.below, self.span), ratio(self.target, self.span)

    @property
    def together(self) -> float | None:
        """Share of the time in which both lanes work."""
        return ratio(self.both, self.span)

    @property
    def gain(self) -> float | None:
        """The work of both lanes, one after the other, over the time that it took: 2 at most."""
        return ratio(self.below + self.target, self.span)

    @property
    def waste(self) -> float | None:
        """Share of all rows whose results were dropped because a token before them was rejected."""
        return ratio(self.rows, self.all_rows)

    def figures(self) -> dict[str, float | int | None]:
        """Those that are shown, by name."""
        below, target = self.use
        return {
            "below": below,
            "target": target,
            "both": self.together,
            "gain": self.gain,
            "dropped": self.dropped,
            "waste": self.waste,
        }


class LaneMeter:
    """Fed the passes of each lane in their order, of both lanes in any."""

    def __init__(self) -> None:
        self._passes: tuple[list[Pass], list[Pass]] = ([], [])  # below, target
        self._busy = [0, 0]
        self._both = self._dropped = self._rows = 0

    def worked(self, target: bool, t0: int, t1: int) -> None:
        """A pass of a lane, on a clock of ns."""
        self._busy[target] += t1 - t0
        self._both += _common([(t0, t1)], _since(self._passes[not target], t0), t0)
        self._passes[target].append((t0, t1))

    def drop(self, tokens: int, rows: int) -> None:
        """So many drafted tokens fell unjudged, and so many rows were computed in vain."""
        self._dropped += tokens
        self._rows += rows

    def found(self, begin: int, end: int, all_rows: int) -> Lanes:
        """The figures of a run whose decoding began at `begin` and whose last commit was at `end`, ns: what a lane
        worked after that does not count."""
        below, target = (_since(own, end) for own in self._passes)
        late = [sum(t1 - max(t0, end) for t0, t1 in own) for own in (below, target)]
        return Lanes(
            below=self._busy[0] - late[0],
            target=self._busy[1] - late[1],
            both=self._both - _common(below, target, end),
            span=max(0, end - begin),
            dropped=self._dropped,
            rows=self._rows,
            all_rows=all_rows,
        )


def _since(passes: Sequence[Pass], t: int) -> list[Pass]:
    """Those that end behind a time; a lane's passes follow one another."""
    found: list[Pass] = []
    for one in reversed(passes):
        if one[1] <= t:
            break
        found.append(one)
    return found


def _common(some: Sequence[Pass], others: Sequence[Pass], begin: int) -> int:
    """How long passes of one lane and of the other run at the same time, from `begin` on."""
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0], begin)) for a in some for b in others)
