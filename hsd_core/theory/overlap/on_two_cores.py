"""What the lanes of one machine leave of a reckoned gain: each has a core of its own, beside a busy other one.

One level after another, every pass has all cores. So a lane's passes take longer by sigma (one core in place of all)
times kappa (memory and caches are shared), each lane by its own factor; the rest is the same walk.
"""

from __future__ import annotations

from hsd_core.theory.overlap.on_two_lanes import OnTwoLanes, Reckoned, reckoned
from hsd_core.theory.profiles.cores import one_core_each
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.turning import dearer


def on_two_cores(profile: Profile, what: OnTwoLanes) -> Reckoned | None:
    """The expected latency of a stack whose lanes share one machine; None where nobody measured what they take from
    each other (`calibrate --contention`), or something else was at work meanwhile. `speedup`: over plain decoding with
    all cores.

    Raises:
        ProfileError: as `reckoned`.
    """
    measured = one_core_each(profile, what.plan.levels[-2], what.plan.levels[-1])
    if measured is None or any(one.doubtful for one in measured):
        return None
    drafting, verifying = measured
    slower = dearer(profile, profile.target, verifying.slower)
    for level in what.plan.levels[:-1]:
        slower = dearer(slower, level, drafting.slower)
    found = reckoned(slower, what)
    ms = found.ms_per_token
    return Reckoned(ms, profile.plain_ms / ms, found.tokens_per_round, found.verifying, found.drafting)
