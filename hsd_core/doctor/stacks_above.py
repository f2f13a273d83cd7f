"""Would a level more pay: an n-gram floor below the drafter, or a verifier between it and the target?

No engine reports how often such a level would be accepted, so that is taken from the pairs that were measured here and
shipped, and said with every answer. Priced by the exact recursion of `theory`, at one acceptance of the drafter.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.doctor.counted_share import flat_share
from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.theory import Costs, Profile, ProfileError, ProfileLevel
from hsd_core.theory.profiles.profile_store import shipped_profiles
from hsd_core.theory.search.planner import Planner

WORTH = 1.02  # gain below which a level is not worth its memory
LONGEST = 8
FREE = 0.01  # of a pass of the target: what costs less per token needs no cheaper level below it


@dataclass(frozen=True, slots=True)
class LevelMore:
    """gain: ms a token of the best way without it / with it. assumed: of its costs and acceptance, in words."""

    level: str
    gain: float
    assumed: str

    @property
    def pays(self) -> bool:
        return self.gain >= WORTH


def levels_more(profile: DraftProfile) -> list[LevelMore]:
    """The floor and the middle verifier, priced; nothing where the drafter's own time is not known."""
    try:
        return _priced(profile)
    except ProfileError:  # costs that no plan can be made of
        return []


def _priced(profile: DraftProfile) -> list[LevelMore]:
    base, length = profile.plain_ms or profile.pass_ms, profile.length
    if profile.block or profile.drafting < 1.0:
        return []  # a draft has one price there whatever its length, or most passes have none
    if not base or not profile.draft_ms or not length or not profile.rounds or profile.accepted is None:
        return []
    shares = profile.flat.value if profile.flat else flat_share(profile.accepted / profile.rounds, length)
    pairs = _pairs()
    if pairs is None or not 0.0 < shares < 1.0:
        return []
    top = max(base, profile.pass_ms or base)
    target = Costs.constant(base) if top == base else Costs((1, max(2, round(length) + 1)), (base, top))
    drafter = ProfileLevel("drafter", Costs.constant(profile.draft_ms))
    goal = ProfileLevel("target", target)
    now = min(base, _best((drafter, goal), ((1.0, shares), (0.0, 1.0))))  # plain decoding is one way, too
    floor = ProfileLevel("floor", Costs.constant(0.01 * base), hit_rate=pairs.hits, reach=pairs.reach)
    low = (1.0, pairs.floor, min(pairs.floor_target, shares))
    below = _best((floor, drafter, goal), (low, (0.0, 1.0, shares), (0.0, 0.0, 1.0)))
    copy = ProfileLevel("copy", target.scaled(pairs.copy_cost))
    between = _best((drafter, copy, goal), ((1.0, shares, shares), (0.0, 1.0, pairs.copy), (0.0, 0.0, 1.0)))
    hits, agrees, cost, same = map(_percent, (pairs.hits, pairs.floor, pairs.copy_cost, pairs.copy))
    copied = LevelMore(
        "middle",
        now / between,
        f"a copy of the target in 8 bits takes {cost} of its time, the target accepts {same} of its tokens",
    )
    if profile.draft_ms < FREE * base:
        return [copied]  # the drafter is a lookup itself
    looked = f"a lookup answers in {hits} of the cases, the drafter accepts {agrees} of its tokens"
    return [LevelMore("floor", now / below, looked), copied]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Of the shipped profile: a lookup's hits and its acceptance, a copy's cost as a share of the target's, its own."""

    hits: float
    reach: tuple[float, ...]
    floor: float
    floor_target: float
    copy_cost: float
    copy: float


def _pairs() -> _Pairs | None:
    for profile in shipped_profiles():
        names = profile.names
        if profile.temperature or not {"ngram", "nano", "int8", "target"} <= set(names):
            continue
        lookup, draft, copy, target = map(profile.index, ("ngram", "nano", "int8", "target"))
        level = profile.levels[lookup]
        return _Pairs(
            level.hit_rate or 0.0,
            level.reach,
            profile.accepts(lookup, draft),
            profile.accepts(lookup, target),
            profile.levels[copy].cost(1) / profile.levels[target].cost(1),
            profile.accepts(copy, target),
        )
    return None


def _best(levels: tuple[ProfileLevel, ...], acceptance: tuple[tuple[float, ...], ...]) -> float:
    """ms a token of the quickest plan that has all of these levels."""
    matrix = tuple(tuple(row[n] if n < len(row) else 0.0 for n in range(len(levels))) for row in acceptance)
    profile = Profile(levels, matrix, max_block=LONGEST)
    return Planner(profile, trees=False).best(depth=len(levels)).by_depth[len(levels) - 1].prediction.ms_per_token


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
