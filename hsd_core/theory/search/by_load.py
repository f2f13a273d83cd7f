"""The best stack at each load: with B requests at once a pass costs by all their rows, so levels drop out as B grows.

Each load is planned over the profile of one of B runs (`under_load`), against plain decoding of B requests at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hsd_core.theory.latency.plans import Ranked
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.under_load import under_load
from hsd_core.theory.search.planner import Answer, Planner


@dataclass(frozen=True, slots=True)
class AtLoad:
    """The planner's answer with `load` requests at once. Levels are indices of the profile.

    Its ms per token are those of all requests together, its speed-ups those over plain decoding at this load.
    measured: levels whose costs are from measured joint passes. computed: those whose costs are c(n B) / B. left:
    levels of the best stack at a smaller load that are in none from this load on.
    """

    load: int
    answer: Answer
    measured: tuple[int, ...]
    computed: tuple[int, ...]
    left: tuple[int, ...] = ()

    @property
    def best(self) -> Ranked:
        return self.answer.best

    @property
    def tokens_per_s(self) -> float:
        """Of all requests together."""
        return 1000.0 / self.best.prediction.ms_per_token


def plans_by_load(
    profile: Profile, loads: Sequence[int], *, depth: int | None = None, check: Callable[[], None] = lambda: None
) -> list[AtLoad]:
    """The best stack at each load, ascending. depth, check: as for `Planner`.

    Raises:
        ProfileError: there are no loads, or one is out of range; and see `Planner.best`.
    """
    if not loads:
        raise ProfileError("no load is given; name numbers of requests at once, such as 1, 2, 4")
    found = []
    for load in sorted(set(loads)):
        answer = Planner(under_load(profile, load), check=check).best(depth=depth)
        joined = [i for i, level in enumerate(profile.levels) if load > 1 and not level.is_lookup]
        measured = tuple(i for i in joined if load in profile.levels[i].joint)
        found.append(AtLoad(load, answer, measured, tuple(i for i in joined if i not in measured)))
    last = {level: at for at, row in enumerate(found) for level in row.best.plan.levels}  # its last row with it
    left = (tuple(sorted(level for level, row in last.items() if row == at - 1)) for at in range(len(found)))
    return [replace(row, left=levels) for row, levels in zip(found, left, strict=True)]
