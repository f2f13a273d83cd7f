"""`play`: one simulated run of a plan, as the events of the real engine on a simulated clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import Any

from msgspec import structs

from hsd_core.core import events as trace
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Event
from hsd_core.core.level import LevelAbout, StackEntry
from hsd_core.grammar import stand_in
from hsd_core.grammar.keys import ID, MAX_BLOCK, WITH
from hsd_core.grammar.stack_text import MAX_LEVELS, LevelSpec, parse
from hsd_core.measure.whatif.simulated_levels import PLACE, SyntheticLevel, SyntheticOffer, Ticker, Words, World
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.prepared import run
from hsd_core.theory import Costs, Profile, ProfileError, StackPlan, expected, has_specs, plan_of
from hsd_core.theory.latency.plans import full_blocks
from hsd_core.trace import metrics
from hsd_core.trace.comparison import baseline_of
from hsd_core.trace.pieces import record

DEFAULT_TOKENS = 160
MOST_TOKENS = 20_000
MOST_CALLS = 60_000  # calls of all levels in a run, in expectation
FEWEST_TOKENS = 8
LONGEST_MS = 1e9
_HEADS = 2  # rows are one-hot
_SLACK = 4.0  # a run is stopped after this many times the expected calls


def play(
    profile: Profile,
    plan: StackPlan,
    *,
    seed: int = 0,
    max_new_tokens: int = DEFAULT_TOKENS,
    most_calls: int = MOST_CALLS,
    plain: bool = True,
    schedule: str = "",
    stop: Callable[[], bool] = lambda: False,
) -> Generator[Event, None, None]:
    """Simulate a plan of a profile: no model runs, times and acceptances are the profile's, tokens are i.i.d.

    Args:
        most_calls: if the plan needs more, the text is shorter than requested. plain: simulate plain decoding too.
        schedule: of the target, if levels work at the same time.
    Yields:
        A trace, its header marked `simulated`, with the pieces of its words.
    Raises:
        ProfileError: the plan does not fit the profile, or takes too many calls or too much time.
        StackError: the plan cannot be run by this schedule.
    """
    tokens = bounded(profile, plan, max_new_tokens, most_calls)
    words, ticker = Words(), Ticker()
    most = _SLACK * most_calls

    def decode(what: StackPlan) -> Iterator[Event]:
        apart = bool(schedule) and what == plan
        entries = _entries(_apart(profile) if apart else profile, what, words, ticker, seed)
        if apart:
            entries[-1] = replace(entries[-1], spec=entries[-1].spec.having(**{WITH.name: schedule}))
        return run(
            entries,
            words.prompt,
            Sampling(),
            seed,
            max_new_tokens=tokens,
            heads=_HEADS,
            stop=lambda: stop() or ticker.calls > most,
            about=_about(profile, plan),
            clock=EngineClock(ticker.now),
        )

    return record(_events(decode(plan), (lambda: decode(StackPlan((profile.target,), ()))) if plain else None), words)


def bounded(profile: Profile, plan: StackPlan, tokens: int, most_calls: int = MOST_CALLS) -> int:
    """The number of tokens of a plan that can be simulated, at most `tokens`.

    Raises:
        ProfileError: the plan does not fit the profile, or even a few tokens take too long.
    """
    if not 1 <= tokens <= MOST_TOKENS:
        raise ProfileError(f"{tokens} tokens; simulate 1 to {MOST_TOKENS}")
    full_blocks(plan)
    if len(plan.levels) > MAX_LEVELS or any(block > MAX_BLOCK for block in plan.blocks):
        raise ProfileError(f"a stack has at most {MAX_LEVELS} levels and blocks of {MAX_BLOCK}; choose a smaller plan")
    found = expected(profile, plan)
    calls = sum(level.calls_per_round for level in found.levels) / found.tokens_per_round
    fits = int(min(tokens, most_calls / calls))
    if fits < min(tokens, FEWEST_TOKENS):
        raise ProfileError(f"this plan takes {calls:.0f} calls for each token; give shorter blocks or fewer levels")
    if found.ms_per_token * fits > LONGEST_MS:
        raise ProfileError(f"{found.ms_per_token:.3g} ms per token is too long to show; lower the costs")
    return fits


def plan_named(profile: Profile, text: str) -> StackPlan:
    """A plan by the names of its levels, "1B:6,8B:8,405B", or by its stack if the levels have specs.

    Raises:
        ProfileError: a name or a block length is wrong.
    """
    parts = [_named_part(part.strip(), profile) for part in text.split(",")]
    written = parts[-1][0] not in profile.names or any("@" in name and name not in profile.names for name, _ in parts)
    if written and any(level.spec for level in profile.levels):
        return plan_of(profile, text)
    levels = tuple(profile.index(name) for name, _ in parts)
    if missing := [name for name, block in parts[:-1] if not block]:
        raise ProfileError(f"{missing[0]!r} has no block length; write {missing[0]}:4")
    if parts[-1][1]:
        raise ProfileError(f"{parts[-1][0]!r} is the last level, which hands nothing up; leave its block length out")
    return StackPlan(levels, tuple(int(block) for _, block in parts[:-1]))


def _named_part(part: str, profile: Profile) -> tuple[str, str]:
    """A level's name and its block length, "" if there is none; a name may itself end like one."""
    found = None if part in profile.names else re.fullmatch(r"(.*):([0-9]{1,3})", part)
    return (found[1], found[2]) if found else (part, "")


def _events(events: Iterator[Event], plain: Callable[[], Iterator[Event]] | None) -> Generator[Event, None, None]:
    """A run, then plain decoding of its target on a clock of the same kind."""
    seen: list[Event] = []
    with closing(events):  # type: ignore[type-var]
        for event in events:
            if isinstance(event, (trace.Header, trace.Commit, trace.Footer)):
                seen.append(event)
            yield event
    if plain is None or len(metrics.header_of(seen).levels) == 1 or not metrics.finished(seen):
        return
    if (found := baseline_of(seen, list(plain()))) is not None:
        yield structs.replace(found, ids=(), margins=())  # its text is always the passage


def _entries(profile: Profile, plan: StackPlan, words: Words, ticker: Ticker, seed: int) -> list[StackEntry]:
    """The plan's simulated levels as stack entries."""
    pairs = enumerate(pairwise(plan.levels), 1)
    agrees = [profile.accepts(below, above, plan.rule_of(place)) for place, (below, above) in pairs]
    world = World(words.passage, words.spoken, agrees, plan.levels, len(words.prompt), seed)
    return [
        StackEntry(_level(profile, plan, place, world, ticker, words.vocab_size, agrees), spec, spec.block)
        for place, spec in enumerate(_specs(profile, plan))
    ]


def _apart(profile: Profile) -> Profile:
    """The profile for a target on a lane of its own, which shares no layers with its drafters."""
    shared = {pair: costs for pair, costs in profile.edge_cost.items() if pair[1] != profile.target}
    return replace(profile, edge_cost=shared)


def _level(
    profile: Profile,
    plan: StackPlan,
    place: int,
    world: World,
    ticker: Ticker,
    vocab_size: int,
    agrees: Sequence[float],
) -> SyntheticLevel:
    entry, top = profile.levels[plan.levels[place]], place == len(plan.levels) - 1
    cost = profile.verify_cost(plan.levels[place - 1], plan.levels[place]) if place else entry.cost
    if place == 0 and not top and entry.draft_ms is not None:
        cost = Costs.constant(entry.draft_ms)
    params: dict[str, object] = {"cost_ms": cost.as_dict()}
    if not top:
        params["accepted_above"] = agrees[place]
    spec, here = entry.spec.split("@")[0].split(":")[0], (world, ticker, place, cost, entry.name)
    if entry.drafts_only:
        params |= {"hit_rate": entry.hit_rate} if entry.is_lookup else {}
        params |= {"beside": entry.beside} if entry.beside else {}
        about = _about_level(spec or stand_in(lookup=entry.is_lookup).name, entry.name, params)
        return SyntheticOffer(*here, about, vocab_size, hit_rate=entry.hit_rate, reach=entry.reach, beside=entry.beside)
    about = _about_level(stand_in(last=top).name if top else spec or stand_in().name, entry.name, params)
    return SyntheticLevel(*here, about, vocab_size, profile.round_ms if top else 0.0)


def _about_level(kind: str, label: str, params: dict[str, object]) -> LevelAbout:
    return LevelAbout(kind=kind, label=label, device=PLACE, dtype="no weights", params=params)


def _specs(profile: Profile, plan: StackPlan) -> list[LevelSpec]:
    """The plan's specs: the profile's, else each level as a model with its name."""
    specs = []
    own = has_specs(profile, plan)
    for place, index in enumerate(plan.levels):
        entry, top = profile.levels[index], index == profile.target
        if own:
            spec = parse(entry.spec if top else f"{entry.spec},target")[0]
        else:
            like, called = (
                stand_in(last=top, lookup=entry.is_lookup),
                re.sub(r"[^\w.-]+", "-", entry.name, flags=re.ASCII),
            )
            spec = LevelSpec(like.name).having(id=called if ID in like.keys else None)
        if place:
            spec = spec.having(bonus=plan.bonus_of(place), rule=plan.rule_of(place))
        specs.append(replace(spec, block=None if top else plan.blocks[place]))
    return specs


def _about(profile: Profile, plan: StackPlan) -> dict[str, Any]:
    title, source = str(profile.about.get("title", "")), str(profile.about.get("source", ""))
    of = f"the profile {title!r}" if title else "a profile"
    said = f"no model ran; what a call takes and how often a level agrees are those of {of}"
    preset = profile.about.get("preset")
    return {
        # If the plan can be built for real, the trace names the preset.
        "preset": str(preset) if preset and has_specs(profile, plan) else None,
        "machine": PLACE,
        "title": f"simulated, {title}" if title else "simulated",
        "simulated": f"{said}, costs from: {source}" if source else said,
        "profile": profile.as_dict(),
    }
