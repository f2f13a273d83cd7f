"""The latency of stacks by the length of the text, and the length from which a stack pays.

`PricesByLength` predicts any stack in the profile of each length. `LinearCosts` is the simple case: a pass of the
target over n tokens of context takes base + n slope, for each number of rows; the cost of a view's pass depends only on
its budget. With acceptance a, drafts of T tokens give 1 + a + ... + a^T tokens for T passes of the view and one of the
target with T + 1 rows.
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

LONGEST = 12  # longest draft tried
FURTHEST = 1_000_000  # longest text considered, in tokens


@dataclass(frozen=True, slots=True)
class LinearCosts:
    """ms of a pass by its rows and by the length of the text before it, linear in the length."""

    rows: tuple[int, ...]
    base: tuple[float, ...]
    slope: tuple[float, ...]

    @classmethod
    def fitted(cls, measured: Mapping[tuple[int, int], float]) -> LinearCosts:
        """A fit to ms by (rows, length), with at least two lengths.

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
        """Linear between measured rows; beyond them the last line is continued."""
        known = [base + length * slope for base, slope in zip(self.base, self.slope, strict=True)]
        if rows > self.rows[-1] and len(known) > 1:
            step = (known[-1] - known[-2]) / (self.rows[-1] - self.rows[-2])
            return known[-1] + (rows - self.rows[-1]) * step
        return float(np.interp(rows, self.rows, known))


def view_gain(target: LinearCosts, view_ms: float, a: float, length: float) -> tuple[float, int]:
    """The speed-up over the target alone with the best T, and that T."""
    plain = target.ms(1, length)
    found = []
    for block in range(1, LONGEST + 1):
        tokens = sum(a**k for k in range(block + 1))
        found.append((tokens * plain / (block * view_ms + target.ms(block + 1, length)), block))
    return max(found)


def view_pays_from(target: LinearCosts, view_ms: float, a: float) -> int | None:
    """The first length at which `view_gain` exceeds 1; None if it does not up to `FURTHEST` tokens.

    The gain grows with the length, because the target's passes do and the view's do not.
    """
    if view_gain(target, view_ms, a, FURTHEST)[0] <= 1.0:
        return None
    return first_true(lambda length: view_gain(target, view_ms, a, length)[0] > 1.0, 0, FURTHEST)


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number above `low` for which `holds` is true, by bisection; `holds` is monotone and true for `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


FURTHER = 4  # times the longest measured length: the limit of extrapolation
KEPT = 64  # lengths whose predictions are cached


@dataclass(slots=True)
class PricesByLength:
    """Predicts stacks at any length of the text, each in the profile of that length.

    Raises:
        ProfileError: from any method: a stack is not in these profiles, or a length is less than 1.
    """

    measured: ProfilesByLength
    _pricers: OrderedDict[int, Pricer] = field(default_factory=OrderedDict)

    def price(self, stack: str, length: int) -> Prediction:
        """The exact recursion in the profile of that length."""
        pricer = self.pricer(length)
        return pricer.price(plan_of(pricer.profile, stack))

    def pays_from(self, stack: str) -> int | None:
        """The length from which the stack is faster than plain decoding; see `pays_from`."""
        return pays_from(lambda length: self.price(stack, length).speedup, self.measured.lengths)

    def pricer(self, length: int) -> Pricer:
        """The pricer of the profile of a length."""
        if length not in self._pricers:
            self._pricers[length] = Pricer(self.measured.at(length))
        self._pricers.move_to_end(length)
        while len(self._pricers) > KEPT:
            self._pricers.popitem(last=False)
        return self._pricers[length]


def pays_from(gain: Callable[[int], float], lengths: Sequence[int]) -> int | None:
    """The length from which a gain exceeds 1: there, and at all longer measured lengths.

    By bisection after the last measured length at which it does not, up to `FURTHER` times the longest one; None if it
    does not exceed 1 there either. (A gain is assumed to cross 1 once between two lengths.)

    Args:
        gain: by the tokens of text. lengths: the measured ones, ascending.
    """
    fails = [n for n in lengths if gain(n) <= 1.0]
    if not fails:
        return lengths[0]
    high = next((n for n in lengths if n > fails[-1]), FURTHER * lengths[-1])
    return first_true(lambda length: gain(length) > 1.0, fails[-1], high) if gain(high) > 1.0 else None


def depends_on_length(stack: str) -> bool:
    """Whether the speed-up of a stack depends on the length of the text, as with a view; False for an invalid stack."""
    try:
        return any((reads := kind_of(spec).shares.reads) and reads.part for spec in parse(stack))
    except StackError:
        return False


def views_of(profile: Profile) -> tuple[int, ...]:
    """The levels of a profile that are views."""
    return tuple(
        i for i, level in enumerate(profile.levels) if level.spec and depends_on_length(f"{level.spec},target")
    )


def best_by_view(profile: Profile, check: Callable[[], None] = lambda: None) -> tuple[Ranked | None, Ranked | None]:
    """The best plan with a view and the best drafting plan without one; None if there is none."""
    views = set(views_of(profile))
    found = [one for one in Planner(profile, check=check).best_of_each_set() if one.plan.blocks]

    def best(these: Iterator[Ranked]) -> Ranked | None:
        return next(these, None)  # the fastest set is first

    return (
        best(one for one in found if views & {*one.plan.levels}),
        best(one for one in found if not views & {*one.plan.levels}),
    )
