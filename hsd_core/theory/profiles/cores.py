"""What a pass takes on one core beside a busy other one: whether levels that work at the same time gain anything here.

One level after another, every pass has all cores. Two lanes have one each: a pass takes sigma times as long for that,
and kappa times as long again while the other core is busy (memory and caches are shared). So overlapping pays where its
reckoned gain exceeds sigma * kappa of the lane that is the bottleneck; two lanes never gain more than 2.
"""

from __future__ import annotations

from typing import NamedTuple

from hsd_core.theory.profiles.profile import Profile

ONE_CORE = "same_core"  # in `about`: the two lanes' cores are threads of one


DOUBTFUL = 0.95  # a pass is not quicker with fewer threads, or beside another one


class OneCore(NamedTuple):
    """A level on a core of its own.

    sigma: its pass with one thread over its pass with all. kappa: its pass while the other lane is at work over the
    same alone.
    """

    sigma: float
    kappa: float

    @property
    def slower(self) -> float:
        """How many times as long its pass takes as it does one level after another."""
        return self.sigma * self.kappa

    @property
    def doubtful(self) -> bool:
        """Whether it cannot be, so that something else was at work while it was measured."""
        return min(self) < DOUBTFUL


def one_core_each(profile: Profile, below: int, level: int) -> tuple[OneCore, OneCore] | None:
    """A drafter and its verifier on two lanes; None where that was not measured (`calibrate --contention`)."""
    kappas = profile.contention.get((below, level))
    one, most = (profile.threads.get(n, {}) for n in (1, max(profile.threads, default=1)))
    if kappas is None or one is most or not {below, level} <= one.keys() & most.keys():
        return None
    found = []
    for place, kappa in zip((below, level), kappas, strict=True):
        rows = one[place].rows[-1]  # of a verifier those of a block, of a drafter one
        found.append(OneCore(one[place](rows) / most[place](rows), kappa))
    return found[0], found[1]


def needed_gain(profile: Profile, below: int, level: int) -> tuple[float, float] | None:
    """The reckoned gain from which on overlapping pays on this machine: where the drafter's lane is the bottleneck, and
    where the verifier's is. None where nothing was measured."""
    found = one_core_each(profile, below, level)
    return None if found is None else (found[0].slower, found[1].slower)
