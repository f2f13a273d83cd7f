"""What stacks would cost by the profile that a run here would plan with: the numbers that stand in the tower.

Levels that a machine's own profile leaves out (`Kind.named`) and stores are priced by others that come with the
package. A stack with a view is priced by profiles that were measured behind texts of several lengths: the target's
passes take longer the longer the text is, and a view's do not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from app.tabs.planner import words as says
from app.tabs.planner.desk import time_limit
from app.tabs.planner.profiles.plan_request import PlannerError
from hsd_core.grammar.keys import MAX_POSITIONS
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import format_stack
from hsd_core.grammar.stack_text import parse as levels_of
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import preset_option, unread_preset
from hsd_core.theory.latency.plans import Prediction, StackPlan, measured_as, plan_of
from hsd_core.theory.latency.recursion import Pricer
from hsd_core.theory.overlap.on_two_lanes import LanesPrediction, expected_on_lanes, needs_target, on_two_lanes_of
from hsd_core.theory.profiles.by_length import BY_LENGTH, ProfilesByLength, shipped_by_length
from hsd_core.theory.profiles.costs import ProfileError
from hsd_core.theory.profiles.profile import LONG_TEXTS, Profile
from hsd_core.theory.profiles.profile_store import MEASURED, SHIPPED, cached_profile, digest, origin, shipped_profile
from hsd_core.theory.search.by_load import BY_LOAD
from hsd_core.theory.search.prices_by_length import PricesByLength, depends_on_length

MOST = 24  # stacks of one question: the one in the tower, and one for each level that may be added
LONGEST = 400  # characters of a stack
KEPT = 4  # profiles whose prices are kept
_DEVICES = ("", "cpu", "cuda")

Found: TypeAlias = tuple[Profile, str] | None  # a profile and its source; None where there is none


@dataclass(frozen=True, slots=True)
class Priced:
    """A question: stacks of a preset on a device ("": the default one), greedy (temperature 0) or sampled.

    dtype: of its target; None for the one that it is opened with. target: what a command line calls the preset's
    target, where the operator named it; "" for one of this package. length: tokens of text, for stacks with a view;
    None for the shortest that was measured; by_length: whether all of the stacks are priced at that length, to be
    compared with each other.
    """

    preset: str
    stacks: tuple[str, ...]
    device: str = ""
    temperature: float = 0.0
    target: str = ""
    dtype: str | None = None
    length: int | None = None
    by_length: bool = False

    @property
    def known(self) -> str | Preset:
        """The preset, as profiles are kept for it."""
        return unread_preset(self.target) if self.target else self.preset


def parse(data: Any, target: Callable[[str], str] = lambda name: "", dtype: str | None = None) -> Priced:
    """The question in the page's JSON.

    Args:
        target: of a preset's name, dtype: see `Priced`.
    Raises:
        PlannerError: something is missing or too large.
    """
    if not isinstance(data, Mapping):
        raise PlannerError(says.EMPTY_REQUEST)
    stacks, preset, device = data.get("stacks"), data.get("preset"), data.get("device") or ""
    if not isinstance(stacks, list) or not all(isinstance(one, str) and len(one) <= LONGEST for one in stacks):
        raise PlannerError(says.which_stacks(LONGEST), "stacks")
    if not 1 <= len(stacks) <= MOST:
        raise PlannerError(says.how_many_stacks(len(stacks), MOST), "stacks")
    if not isinstance(preset, str) or not isinstance(device, str) or device not in _DEVICES:
        raise PlannerError(says.no_preset(str(preset)[:80], str(device)[:20]), "preset")
    if not (over := target(preset)) and preset not in PRESETS:
        raise PlannerError(says.no_preset(str(preset)[:80], str(device)[:20]), "preset")
    temperature = data.get("temperature", 0.0)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 100:
        raise PlannerError(says.WHICH_TEMPERATURE, "temperature")
    length = data.get("length")
    if length is not None and (
        isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= MAX_POSITIONS
    ):
        raise PlannerError(says.which_length(MAX_POSITIONS), "length")
    return Priced(preset, tuple(stacks), device, float(temperature), over, dtype, length, data.get("by_length") is True)


class Prices:
    """Answers such questions. One thread uses it.

    Args:
        profiles: folder of the profiles that are shipped. found: as `profile_for`, which it is without it; by_length:
            as `profiles_by_length`; more: as `more_profiles`.
    """

    def __init__(
        self,
        profiles: Path,
        found: Callable[[Priced, Path], Found] | None = None,
        by_length: Callable[[Priced, Path], ProfilesByLength | None] | None = None,
        more: Callable[[Priced, Path], Sequence[Profile]] | None = None,
    ) -> None:
        self._profiles, self._more = profiles, more or more_profiles
        self._found, self._by_length = found or profile_for, by_length or profiles_by_length
        self._pricers: OrderedDict[str, Pricer] = OrderedDict()
        self._lengths: PricesByLength | None = None

    def answer(self, asked: Priced) -> dict[str, Any]:
        """`about` says where the profile was measured (None: there is none), `prices` are in the order of the stacks:
        `{"ms", "speedup", "tokens"}`, of a token, over plain decoding, of a pass of the target, and where levels work
        at the same time `clock` ("reckoned"); or where the theory has no price `{"reason", "brief"}`, the second
        without the cure. A stack with a view has `length`, `by_length` and more; see `_over_lengths`. What another
        profile priced has that one's `about`."""
        check = time_limit()
        at_length = [stack for stack in asked.stacks if asked.by_length or depends_on_length(stack)]
        own = {stack: self._over_lengths(asked, stack, check) for stack in at_length}
        found = self._found(asked, self._profiles)
        if found is None:
            why = _refused(says.measures_one(says.no_profile(asked.preset, preset_option(asked.preset))))
            return {"about": None, "prices": [own.get(stack, why) for stack in asked.stacks]}
        profile, source = found
        pricer = self._pricer(profile)
        prices = [own[stack] if stack in own else _price(pricer, stack, check) for stack in asked.stacks]
        more = self._more(asked, self._profiles) if any("reason" in price for price in prices) else ()
        for i, stack in enumerate(asked.stacks):
            for other in more if "reason" in prices[i] and stack not in own else ():
                if "reason" not in (price := _price(self._pricer(other), stack, check)):
                    prices[i] = {**price, "about": _about(other, SHIPPED)}
                    break
        return {"about": _about(profile, source), "prices": prices}

    def _over_lengths(self, asked: Priced, stack: str, check: Callable[[], None]) -> dict[str, Any]:
        """The price of a stack at `length` tokens of text (`extrapolated`: not between measured ones).

        `by_length`: of each measured length `{"length", "ms", "speedup"}`, ms of a pass of each of its levels;
        `pays_from`: the first length from which on it is faster than plain decoding, None where there is none; `about`.
        """
        try:
            if asked.temperature:
                raise ProfileError(says.GREEDY_LENGTHS)
            found = self._by_length(asked, self._profiles)
            if found is None:
                raise ProfileError(says.measures_one(_no_lengths(asked, stack)))
            if self._lengths is None or self._lengths.measured != found:
                self._lengths = PricesByLength(found)
            over, first = self._lengths, found.profiles[0]
            length = found.lengths[0] if asked.length is None else asked.length
            plan = plan_of(first, stack)
            _check_blocks(first, plan)
            paid = over.price(stack, length)
            rows = [
                {
                    "length": n,
                    "ms": {profile.names[i]: profile.levels[i].cost(1) for i in plan.levels},
                    "speedup": over.price(stack, n).speedup,
                }
                for n, profile in zip(found.lengths, found.profiles, strict=True)
            ]
            check()
            return {
                **_paid(paid),
                "length": length,
                "extrapolated": not found.measured(length),
                "by_length": rows,
                "pays_from": over.pays_from(stack),
                "about": _about(found.at(length), SHIPPED),
            }
        except (ProfileError, PlannerError) as error:
            return _refused(str(error))

    def _pricer(self, profile: Profile) -> Pricer:
        name = digest(profile)
        if name not in self._pricers:
            self._pricers[name] = Pricer(profile)
        self._pricers.move_to_end(name)
        while len(self._pricers) > KEPT:
            self._pricers.popitem(last=False)
        return self._pricers[name]


def profile_for(asked: Priced, profiles: Path) -> Found:
    """The profile that a run here would plan with, and its source (MEASURED or SHIPPED); None where there is none.

    Args:
        profiles: folder of those that are shipped.
    """
    measured = cached_profile(asked.known, asked.device or None, asked.dtype, asked.temperature)
    if measured is not None:
        return measured, MEASURED
    shipped = shipped_profile(asked.preset, asked.device or "cpu", asked.temperature, folder=profiles)
    return None if shipped is None else (shipped, SHIPPED)


def more_profiles(asked: Priced, profiles: Path, machine: str | None = None) -> list[Profile]:
    """Those that hold what the first one leaves out: of levels that are measured where they are named, and over stores.

    Args:
        profiles: folder of those that are shipped. machine: see `shipped_profile`.
    """
    where = asked.preset, asked.device or "cpu", asked.temperature
    others = BY_LENGTH.name, BY_LOAD.name
    folders = sorted(path for path in profiles.iterdir() if path.is_dir() and path.name not in others)
    found = (shipped_profile(*where, folder=folder, machine=machine) for folder in folders)
    return [profile for profile in found if profile is not None]


def profiles_by_length(asked: Priced, profiles: Path) -> ProfilesByLength | None:
    """Those behind texts of several lengths, of the machine most like this one; None where there are none.

    Args:
        profiles: folder of those that are shipped.
    Raises:
        ProfileError: they are not of the same levels.
    """
    return shipped_by_length(asked.preset, asked.device or "cpu", folder=profiles / BY_LENGTH.name)


def _no_lengths(asked: Priced, stack: str) -> str:
    """What is missing, and the command that measures the levels of the stack."""
    specs = levels_of(stack)
    levels = format_stack([measured_as(spec, bottom=not place) for place, spec in enumerate(specs)])
    return says.no_lengths(asked.preset, preset_option(asked.preset), levels, asked.device or "cpu", LONG_TEXTS)


def _about(profile: Profile, source: str) -> dict[str, Any]:
    return {**origin(profile, source), "compiled": "onnxruntime" in profile.about.get("versions", {})}


def _check_blocks(profile: Profile, plan: StackPlan) -> None:
    if (longest := max(plan.blocks, default=1)) > profile.max_block:
        raise ProfileError(says.long_block(profile.max_block, longest))


def _price(pricer: Pricer, stack: str, check: Callable[[], None]) -> dict[str, Any]:
    profile = pricer.profile
    try:
        apart = on_two_lanes_of(profile, stack)
        plan = apart.plan if apart else plan_of(profile, stack)
        _check_blocks(profile, plan)
        if apart and (fed := needs_target(profile, plan.levels[:-1])):
            raise ProfileError(says.reads_target(fed, apart.schedule))
        paid = expected_on_lanes(profile, apart, check) if apart else pricer.price(plan)
    except (ProfileError, PlannerError) as error:
        return _refused(str(error))
    return {**_paid(paid), "clock": "reckoned"} if apart else _paid(paid)


def _paid(paid: Prediction | LanesPrediction) -> dict[str, Any]:
    return {"ms": paid.ms_per_token, "speedup": paid.speedup, "tokens": paid.tokens_per_round}


def _refused(reason: str) -> dict[str, Any]:
    return {"reason": reason, "brief": reason.split("; ")[0]}
