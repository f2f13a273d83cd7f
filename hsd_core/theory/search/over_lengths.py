"""What stacks cost by the length of the text, and from which length on one pays: profiles by length, priced."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hsd_core.grammar import kind_of
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.theory.latency.plans import Prediction, Ranked, plan_of
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.profiles.behind_texts import ProfilesByLength
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.from_length import first_true
from hsd_core.theory.search.planner import Planner

FURTHER = 4  # times the longest measured length: beyond that nobody looks
KEPT = 64  # lengths whose prices are kept


@dataclass(slots=True)
class OverLengths:
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


def best_two(profile: Profile, check: Callable[[], None] = lambda: None) -> tuple[Ranked | None, Ranked | None]:
    """The best plan with a view, and the best one without among those that draft; None where there is none."""
    views = set(views_of(profile))
    found = [one for one in Planner(profile, check=check).best_of_each_set() if one.plan.blocks]

    def best(these: Iterator[Ranked]) -> Ranked | None:
        return next(these, None)  # the fastest set stands first

    return (
        best(one for one in found if views & {*one.plan.levels}),
        best(one for one in found if not views & {*one.plan.levels}),
    )
