"""What the theory predicts of the stacks that a page without a server shows, worked out ahead.

A server plans with the profile of its own machine. Here it is the shipped one of the machine most like that of the
recordings, so that two machines write the same page, and a prediction stands beside what was measured there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from app.tabs.planner.answer import answer, planned
from app.tabs.planner.price import Found, Priced, Prices, more_profiles
from app.tabs.planner.profiles.plan_request import Look, parse
from app.words import site as says
from hsd_core.core.events import Header
from hsd_core.grammar.registry import keys
from hsd_core.grammar.spec import LevelSpec
from hsd_core.grammar.stack_text import format_stack
from hsd_core.grammar.stack_text import parse as levels
from hsd_core.models.sampling import is_greedy
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory.profiles.by_length import BY_LENGTH, ProfilesByLength, shipped_by_length
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import SHIPPED, shipped_profile
from hsd_core.theory.search.prices_by_length import depends_on_length
from hsd_core.typed.program_files import ASSETS

PRICES = "planner/prices"  # their path
PROFILES = ASSETS / "profiles"


class Asked(NamedTuple):
    """Whose profile is asked for: a preset, sampled or not, on a machine as traces describe it."""

    preset: str
    temperature: float
    machine: str


def prices(headers: Iterable[Header]) -> dict[str, Any]:
    """What `assets/js/site/ahead.js` looks up.

    Returns:
        `known`: by preset and temperature, `about` and the prices of some stacks as `Prices.answer` gives them; a
        preset without a profile has one refusal for all stacks and temperatures (`others`). `others`: what is said of
        every other question.
    """
    found, stacks = list[dict[str, Any]](), _recorded(headers)
    for asked, recorded in stacks.items():
        profile = _profile(asked)
        more = [*_ready_made(asked.preset), *_planned(profile)] if profile else []
        found.append(_priced(asked, [*recorded.stacks, *more] if profile else [], recorded.by_length))
    rest = [Asked(name, 0.0, "") for name in PRESETS if name not in {asked.preset for asked in stacks}]
    others = {"reason": says.NOT_AHEAD, "brief": says.NOT_AHEAD.split("; ")[0]}
    return {"known": [*found, *(_priced(asked, (), {}) for asked in rest)], "others": others}


def _priced(asked: Asked, stacks: Iterable[str], by_length: Mapping[str, int]) -> dict[str, Any]:
    """by_length: stacks that are compared at the length of a text, with that length."""
    more = partial(more_profiles, machine=asked.machine)
    desk = Prices(PROFILES, lambda *_: _found(asked), lambda *_: _by_length(asked), more)
    every = tuple(dict.fromkeys((*stacks, "target")))
    made = desk.answer(Priced(asked.preset, every, "", asked.temperature))
    by_stack = dict(zip(every, made["prices"], strict=True))
    if made["about"] is None:
        return {"preset": asked.preset, "about": None, "prices": {}, "others": by_stack["target"]}
    where = {"preset": asked.preset, "temperature": asked.temperature}
    known: dict[str, Any] = {}
    for length in dict.fromkeys(by_length.values()):
        some = tuple(stack for stack, own in by_length.items() if own == length)
        question = Priced(asked.preset, some, "", asked.temperature, length=length, by_length=True)
        known |= zip(some, desk.answer(question)["prices"], strict=True)
    return {**where, "about": made["about"], "prices": by_stack, "by_length": known}


def _found(asked: Asked) -> Found:
    profile = _profile(asked)
    return None if profile is None else (profile, SHIPPED)


def _profile(asked: Asked, folder: Path = PROFILES) -> Profile | None:
    return shipped_profile(asked.preset, "cpu", asked.temperature, folder=folder, machine=asked.machine)


def _by_length(asked: Asked) -> ProfilesByLength | None:
    return shipped_by_length(asked.preset, "cpu", folder=PROFILES / BY_LENGTH.name, machine=asked.machine)


class Recorded(NamedTuple):
    """Stacks that ran. by_length: those of runs whose price depends on it, with the length of the first such text."""

    stacks: dict[str, None]
    by_length: dict[str, int]


def _recorded(headers: Iterable[Header]) -> dict[Asked, Recorded]:
    """The stacks that ran, by what is asked of them. Runs of no preset were simulated."""
    found: dict[Asked, Recorded] = {}
    for header in headers:
        if header.preset is None:
            continue
        temperature = 0.0 if is_greedy(header.sampling) else float(header.sampling["temperature"])
        here = found.setdefault(Asked(header.preset, temperature, header.machine), Recorded({}, {}))
        if depends_on_length(header.stack):
            length = len(header.prompt_ids) + header.max_new_tokens // 2  # as the page asks: `lengthOf`
            for stack in _with_fewer(header.stack):
                here.by_length.setdefault(stack, length)
        else:
            here.stacks.update(dict.fromkeys(_with_fewer(header.stack)))
    return found


def _ready_made(preset: str) -> Iterator[str]:
    for made in PRESETS[preset].stacks if preset in PRESETS else ():
        yield from _with_fewer(made.stack)


def _planned(profile: Profile) -> Iterator[str]:
    """Those that the Planner finds in a profile: it sends them to the tower."""
    asked: Mapping[str, Any] = {"profile": profile.as_dict()}
    shown = answer(planned(parse(asked)), Look(figures=frozenset()))
    for plan in (*shown["by_depth"], *shown["others"]):
        yield from _with_fewer(plan["stack"])


def _with_fewer(stack: str) -> Iterator[str]:
    """A stack, and it without each of its levels below the target, as the tower asks for them."""
    every: Sequence[Any] = levels(as_shown(stack))
    yield format_stack(every)
    if len(every) > 2:
        for gone in range(len(every) - 1):
            yield format_stack([*every[:gone], *every[gone + 1 :]])


def as_shown(stack: str) -> str:
    """A stack as the page writes it: without the values that a level's policy or rule has by itself."""
    known = keys()

    def usual(level: LevelSpec, name: str) -> str | None:
        choice = known[name].when
        return known[name].usuals.get(str(level.values.get(choice[0]))) if choice else None

    def told(level: LevelSpec) -> LevelSpec:
        values = {name: x for name, x in level.values.items() if known[name].write(x) != usual(level, name)}
        return replace(level, values=values)

    return format_stack([told(level) for level in levels(stack)])
