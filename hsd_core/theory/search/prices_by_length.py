"""What stacks cost by the length of the text, and from which length on one pays.

`PricesByLength` prices any stack in the profile of each length. `LinearCosts` is the simple case: a pass of the target
over n tokens of context takes base + n slope, for each number of rows; a pass of a view takes what its budget costs,
however long the text is. With acceptance a, drafts of T tokens make (1 + a + ... + a^T) tokens of T passes of the view
and one of the target with T + 1 rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hsd_core.grammar import kind_of
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.theory.latency.plans import Prediction, Ranked, plan_of
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.by_length import ProfilesByLength
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Planner

LONGEST = 12  # drafts that are tried
FURTHEST = 1_000_000  # tokens of a text that are asked about


@dataclass(frozen=True, slots=True)
class LinearCosts:
    """ms of a pass by its rows and by the length of the text before it; lines in the length, measured at some rows."""

    rows: tuple[int, ...]
    base: tuple[float, ...]
    slope: tuple[float, ...]

    @classmethod
    def fitted(cls, measured: Mapping[tuple[int, int], float]) -> LinearCosts:
        """From ms by (rows, length), two lengths at the least.

        Raises:
            ValueError: there are fewer lengths.
        """
        rows = sorted({n for n, _ in measured})
        lines = []
        for n in rows:
            points = [(length, ms) for (own, length), ms in measured.items() if own == n]
            if len(points) < 2:
                raise ValueError(f"passes of {n} rows were timed at {len(points)} lengths; time them at two or more")
            slope, base = np.polyfit([length for length, _ in points], [ms for _, ms in points], 1)
            lines.append((float(base), max(0.0, float(slope))))
        return cls(tuple(rows), tuple(base for base, _ in lines), tuple(slope for _, slope in lines))

    def ms(self, rows: int, length: float) -> float:
        """Between measured rows on a line; beyond them on along the last one."""
        known = [base + length * slope for base, slope in zip(self.base, self.slope, strict=True)]
        if rows > self.rows[-1] and len(known) > 1:
            step = (known[-1] - known[-2]) / (self.rows[-1] - self.rows[-2])
            return known[-1] + (rows - self.rows[-1]) * step
        return float(np.interp(rows, self.rows, known))


def view_gain(target: LinearCosts, view_ms: float, a: float, length: float) -> tuple[float, int]:
    """How many times as fast as the target alone, with the best T; and that T."""
    plain = target.ms(1, length)
    found = []
    for block in range(1, LONGEST + 1):
        tokens = sum(a**k for k in range(block + 1))
        found.append((tokens * plain / (block * view_ms + target.ms(block + 1, length)), block))
    return max(found)


def view_pays_from(target: LinearCosts, view_ms: float, a: float) -> int | None:
    """The first length at which `view_gain` exceeds 1; None where it does not up to `FURTHEST` tokens.

    The gain grows with the length, for the target's passes do and the view's do not.
    """
    if view_gain(target, view_ms, a, FURTHEST)[0] <= 1.0:
        return None
    return first_true(lambda length: view_gain(target, view_ms, a, length)[0] > 1.0, 0, FURTHEST)


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number above `low` of which something holds, by bisection; it holds of `high`, and from its first
    number on."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


FURTHER = 4  # times the longest measured length: beyond that nobody looks
KEPT = 64  # lengths whose prices are kept


@dataclass(slots=True)
class PricesByLength:
    """Prices stacks at any length of the text, each in the profile of that length.

    Raises:
        ProfileError: whatever it is asked: a stack is none of these profiles, or a length is none.
    """

    measured: ProfilesByLength
    _pricers: OrderedDict[int, Pricer] = field(default_factory=OrderedDict)

    def price(self, stack: str, length: int) -> Prediction:
        """The exact recursion in the profile of that length."""
        pricer = self.pricer(length)
        return pricer.price(plan_of(pricer.profile, stack))

    def pays_from(self, stack: str) -> int | None:
        """The first length from which on the stack is faster than plain decoding; see `pays_from`."""
        return pays_from(lambda length: self.price(stack, length).speedup, self.measured.lengths)

    def pricer(self, length: int) -> Pricer:
        """Of the profile of that length."""
        if length not in self._pricers:
            self._pricers[length] = Pricer(self.measured.at(length))
        self._pricers.move_to_end(length)
        while len(self._pricers) > KEPT:
            self._pricers.popitem(last=False)
        return self._pricers[length]


def pays_from(gain: Callable[[int], float], lengths: Sequence[int]) -> int | None:
    """The first length from which on a gain exceeds 1: there, and at all the measured lengths that follow.

    By bisection, behind the last measured length at which it does not; behind the longest one up to `FURTHER` times
    that. None where it does not pay there either. (A gain is taken to cross 1 once between two lengths.)

    Args:
        gain: by the tokens of text. lengths: those that were measured, rising.
    """
    fails = [n for n in lengths if gain(n) <= 1.0]
    if not fails:
        return lengths[0]
    high = next((n for n in lengths if n > fails[-1]), FURTHER * lengths[-1])
    return first_true(lambda length: gain(length) > 1.0, fails[-1], high) if gain(high) > 1.0 else None


def depends_on_length(stack: str) -> bool:
    """Whether a stack is priced by length: a view's pass costs what its budget costs, the target's what the text does.
    What is no stack does not."""
    try:
        return any((reads := kind_of(spec).shares.reads) and reads.part for spec in parse(stack))
    except StackError:
        return False


def views_of(profile: Profile) -> tuple[int, ...]:
    """Which of its levels are views."""
    return tuple(
        i for i, level in enumerate(profile.levels) if level.spec and depends_on_length(f"{level.spec},target")
    )


def best_by_view(profile: Profile, check: Callable[[], None] = lambda: None) -> tuple[Ranked | None, Ranked | None]:
    """The best plan with a view, and the best one without among those that draft; None where there is none."""
    views = set(views_of(profile))
    found = [one for one in Planner(profile, check=check).best_of_each_set() if one.plan.blocks]

    def best(these: Iterator[Ranked]) -> Ranked | None:
        return next(these, None)  # the fastest set stands first

    return (
        best(one for one in found if views & {*one.plan.levels}),
        best(one for one in found if not views & {*one.plan.levels}),
    )
