"""Why a plan is best, in words built from its numbers: what each further level brings, and when it would not.

The comparison with other costs is papers' arithmetic: Globerson et al. 2025 (arXiv 2510.19705) state gains up to 1.2
for a level in between; the two cases named here follow from the exact recursion over costs 1 : 4 : 32 and 1 : 8 : 32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from app.tabs.planner import words as says
from app.tabs.planner.figures.ink import called, percent
from hsd_core.grammar.stack_names import stack_name
from hsd_core.theory.latency.plans import Prediction, Ranked, most_sequences
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.search.planner import Answer

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MOST = 4  # numbers of levels that are talked about
SAME = 0.005  # below half a percent two plans are called equal
ELSEWHERE = (
    "Separate models that cost 1 : 4 : 32, with acceptances of 0.80 and 0.85 from level to level and "
    "0.68 straight to the target: a third level pays 1.24 times. At 1 : 8 : 32, with 0.75 straight to the target, the "
    "best three levels are 9 % slower than the best two: the level in between costs too much for what it adds."
)


def headline(profile: Profile, found: Answer) -> str:
    """The best plan in one sentence."""
    best = found.best
    if len(best.plan.levels) == 1:
        tried = min((one.prediction.ms_per_token for one in found.by_depth[1:]), default=None)
        beside = f"; the best stack of several levels would take {_ms(tried)}" if tried is not None else ""
        return f"Plain decoding is best here: {_ms(best.prediction.ms_per_token)} per token{beside}."
    many = _count(len(best.plan.levels)).capitalize()
    return (
        f"{many} levels, {_ms(best.prediction.ms_per_token)} per token: {best.prediction.speedup:.2f} times plain "
        f"decoding ({_ms(found.plain.prediction.ms_per_token)}), {best.prediction.tokens_per_round:.2f} tokens per "
        "pass of the target."
    )


def beside(measured: Mapping[str, Any]) -> str:
    """The planner's pick as it was predicted and as it was measured, and how far off predictions were; `measured`: see
    `validations.nearest`. "" where nothing was measured."""
    ran = [row for row in measured.get("stacks") or () if row["speed_up"] and row["predicted_speed_up"]]
    pick = next((row for row in ran if row["picked"]), None)
    whole = next((part for part in measured.get("sittings") or () if part["number"] is None), None)
    if pick is None or whole is None:
        return ""
    return says.beside(
        measured["machine"] if measured["elsewhere"] else "",
        stack_name(pick["stack"]),
        f"{pick['predicted_speed_up']:.2f}",
        f"{pick['speed_up']:.2f}",
        len(ran),
        percent(whole["speed_ups"]),
        percent(whole["worst_speed_ups"]),
    )


def why(profile: Profile, found: Answer) -> list[dict[str, str]]:
    """What each further level brings: `verdict`, `text`, and `pays` yes | no | even | "" (a comparison)."""
    said = [_step(profile, a, b) for a, b in pairwise(found.by_depth[:MOST])]
    if found.several is not None:
        said.append(_side_by_side(profile, found.several, found.single))
    if len(found.by_depth) > 2:
        said.append({"pays": "", "verdict": "Elsewhere", "text": ELSEWHERE})
    return said


def _step(profile: Profile, fewer: Ranked, more: Ranked) -> dict[str, str]:
    gain = fewer.prediction.ms_per_token / more.prediction.ms_per_token
    many = len(more.plan.levels)
    nth = ORDINALS[many] if many < len(ORDINALS) else "further"
    if abs(gain - 1) < SAME:
        pays, verdict = "even", f"A {nth} level makes no difference"
    elif gain > 1:
        pays, verdict = "yes", f"A {nth} level pays: {gain:.2f} times as fast"
    else:
        pays, verdict = "no", f"A {nth} level does not pay: {percent(1 / gain - 1, 1)} slower"
    return {"pays": pays, "verdict": verdict, "text": _reason(profile, fewer, more)}


def _side_by_side(profile: Profile, several: Ranked, single: Ranked) -> dict[str, str]:
    gain = single.prediction.ms_per_token / several.prediction.ms_per_token
    if abs(gain - 1) < SAME:
        pays, verdict = "even", "Several candidates side by side make no difference"
    elif gain > 1:
        pays, verdict = "yes", f"Several candidates side by side pay: {gain:.2f} times as fast"
    else:
        pays, verdict = "no", f"Several candidates side by side do not pay: {percent(1 / gain - 1, 1)} slower"
    plan, (below, above) = several.plan, (called(profile)[i] for i in several.plan.levels[:2])
    if plan.widths:
        offers = f"The best tree, from {below} to {above}: {shape_said(plan.widths)}, {plan.nodes} tokens in all"
    else:
        offers = f"The best of them, from {below} to {above}: {offer_said(profile, plan.levels[0])}"
    text = (
        f"{offers}. A pass of the target then yields {several.prediction.tokens_per_round:.2f} tokens and "
        f"takes {_ms(_round_ms(several))} with all that leads to it; with one candidate it yields "
        f"{single.prediction.tokens_per_round:.2f} tokens in {_ms(_round_ms(single))}."
    )
    return {"pays": pays, "verdict": verdict, "text": text}


def _round_ms(plan: Ranked) -> float:
    return plan.prediction.ms_per_token * plan.prediction.tokens_per_round


def _reason(profile: Profile, fewer: Ranked, more: Ranked) -> str:
    added = [i for i in more.plan.levels if i not in fewer.plan.levels]
    if len(more.plan.levels) == 2:
        return _pair(profile, more)
    if len(added) == 1:
        return _between(profile, fewer.prediction, more, added[0])
    names = ", ".join(called(profile)[i] for i in more.plan.levels)
    before, after = fewer.prediction.tokens_per_round, more.prediction.tokens_per_round
    return f"It is a different stack: {names}. A pass of the target yields {after:.2f} tokens, not {before:.2f}."


def _pair(profile: Profile, pair: Ranked) -> str:
    drafter, top = pair.plan.levels
    level, block = profile.levels[drafter], pair.plan.blocks[0]
    share = level.block_ms(block) / profile.levels[top].cost(1)
    when = "" if level.hit_rate is None else f" (it has something to offer {percent(level.hit_rate)} of the time)"
    tokens = "Drafts of a token" if block == 1 else f"Drafts of {block} tokens"
    accepted = f"each one with probability {percent(profile.accepts(drafter, top))}"
    if level.beside:
        tokens = f"{tokens}, {offer_said(profile, drafter)},"
        accepted = f"one of those side by side {percent(profile.accepts(drafter, top))} of the time"
    return (
        f"{tokens} by {called(profile)[drafter]} take {_passes(share)} of the target, which accepts "
        f"{accepted}{when}. So a pass of the target yields "
        f"{pair.prediction.tokens_per_round:.2f} tokens instead of 1."
    )


def _between(profile: Profile, before: Prediction, more: Ranked, added: int) -> str:
    names = called(profile)
    name, place, after = names[added], more.plan.levels.index(added), more.prediction
    target = profile.levels[profile.target].cost(1)
    if place == 0:
        share = profile.levels[added].block_ms(more.plan.blocks[0]) / target
        above = names[more.plan.levels[1]]
        sentence = f"Drafts by {name} for {above} take {_passes(share)} of the target"
    else:
        share = profile.verify_cost(more.plan.levels[place - 1], added)(more.plan.blocks[place - 1] + 1) / target
        below = names[more.plan.levels[place - 1]]
        sentence = f"Checking drafts by {below}, {name} takes {_passes(share)} of the target each time"
    yields = (
        f"a pass of the target yields {after.tokens_per_round:.2f} tokens, {before.tokens_per_round:.2f} without it"
    )
    return f"{sentence}; {yields}. {_break_even(name, place, before, after)}".strip()


def offer_said(profile: Profile, drafter: int) -> str:
    """What a level with several candidates has side by side."""
    beside, most = profile.levels[drafter].beside, most_sequences(profile, drafter)
    many = f"up to {most} candidates" if most else "several candidates"
    tokens = f"{beside[0]:.1f} {'token' if f'{beside[0]:.1f}' == '1.0' else 'tokens'}"
    return f"{many} side by side, {tokens} at the first depth on average"


def shape_said(widths: Sequence[int]) -> str:
    """A tree by its offers behind each token, depth after depth: only where there is a choice is worth saying."""
    said = []
    for width in sorted({*widths} - {1}, reverse=True):
        at = [str(depth) for depth, one in enumerate(widths, 1) if one == width]
        said.append(f"{width} guesses behind each token at {'depth' if len(at) == 1 else 'depths'} {_listed(at)}")
    if 1 in widths:
        said.append("one at the others" if said else "one at each depth")
    return ", ".join(said)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _break_even(name: str, place: int, before: Prediction, after: Prediction) -> str:
    """Latency is linear in one level's costs while the blocks stay as they are, so the even point needs no search."""
    mine = after.levels[place].ms_per_round / after.tokens_per_round
    room = before.ms_per_token - (after.ms_per_token - mine)
    if mine <= 0:
        return ""
    factor = room / mine
    if factor <= 0:
        return f"Even at no cost {name} would not pay at these block lengths."
    if factor >= 20:
        return f"It would pay even at {_round(factor)} times the cost."
    if factor > 1:
        return f"It would stop paying at {factor:.2f} times its cost."
    return f"It would begin to pay at {percent(factor)} of its cost."


def _round(factor: float) -> str:
    return next((f"{n}" for n in (1000, 100, 50) if factor >= n), "20")


def _count(levels: int) -> str:
    return NUMBERS[levels] if levels < len(NUMBERS) else str(levels)


def _passes(share: float) -> str:
    """So many passes of the target."""
    if share < 0.001:
        return "less than a thousandth of a pass"
    return f"{share:.1f} passes" if share >= 1 else f"{percent(share, 1 if share < 0.1 else 0)} of a pass"


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms" if value >= 0.1 else f"{value:.3g} ms"
