"""What stacks cost by the length of the text, and from which length on one pays: profiles by length, priced."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hsd_core.levels.kinds.views import KIND as VIEW
from hsd_core.stacks.grammar import StackError, parse
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
        """The first length, from the shortest measured to `FURTHER` times the longest, at which the stack is faster
        than plain decoding; None where there is none. See `first_paying`."""
        return first_paying(lambda length: self.price(stack, length).speedup, self.measured.lengths)

    def pricer(self, length: int) -> Pricer:
        """Of the profile of that length."""
        if length not in self._pricers:
            self._pricers[length] = Pricer(self.measured.at(length))
        self._pricers.move_to_end(length)
        while len(self._pricers) > KEPT:
            self._pricers.popitem(last=False)
        return self._pricers[length]


def first_paying(gain: Callable[[int], float], lengths: Sequence[int]) -> int | None:
    """The first length at which a gain over plain decoding exceeds 1.

    It is sought from the shortest measured length on, there first, then by bisection in the first interval between two
    measured lengths, or between the longest and `FURTHER` times that, at whose end it pays. (The gain is taken to cross
    1 once within an interval.)

    Args:
        gain: by the tokens of text. lengths: those that were measured, rising.
    """
    if gain(lengths[0]) > 1.0:
        return lengths[0]
    for low, high in pairwise((*lengths, FURTHER * lengths[-1])):
        if gain(high) > 1.0:
            return first_true(lambda length: gain(length) > 1.0, low, high)
    return None


def depends_on_length(stack: str) -> bool:
    """Whether a stack is priced by length: a view's pass costs what its budget costs, the target's what the text does.
    What is no stack does not."""
    try:
        return any(spec.name == VIEW.name for spec in parse(stack))
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
