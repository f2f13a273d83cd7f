"""What the theory says of a stack, from the formula that fits on a line to all that is known: one number a model.

Endless decoding: `closed_form`, `iid` and `marked`, what `plan` ranks by. Then over texts as long as the
calibration's: `texts`; `rows`, with the rows by which a drafter catches up; and on top of that `how` (acceptance by how
a token came to be), `place` (by its place in a draft), and `all` (both). Nothing of the runs that are predicted goes
into any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs

from hsd_core.theory import Conditional, Plan, Profile, closed_form, expected
from hsd_core.theory.latency.finite import OverTexts, over_texts

NAMED = "rows"  # the prediction, unless another one is named: the planner's own acceptances, over texts that end
SAID = {
    "closed_form": "closed form",
    "iid": "exact recursion, i.i.d.",
    "marked": "exact recursion, all conditional acceptances",
    "texts": "i.i.d., over texts that end",
    NAMED: "i.i.d., over texts that end, with rows that catch up",
    "how": "and with acceptance given accepted, residual or bonus",
    "place": "instead with acceptance by place in the draft",
    "all": "with both",
}
ENDLESS: dict[str, Callable[[Profile, Plan], float]] = {
    "closed_form": closed_form,
    "iid": lambda profile, plan: expected(profile, plan).ms_per_token,
    "marked": lambda profile, plan: expected(profile, plan, model="marked").ms_per_token,
}
ENDING = tuple(model for model in SAID if model not in ENDLESS)


def predictions(profile: Profile, plan: Plan, lengths: Sequence[int], limit: int) -> dict[str, float]:
    """ms per token by model, over texts of these lengths under a limit."""
    return {
        model: ENDLESS[model](profile, plan)
        if model in ENDLESS
        else ended(model, profile, plan, lengths, limit).ms_per_token
        for model in SAID
    }


def ended(model: str, profile: Profile, plan: Plan, lengths: Sequence[int], limit: int) -> OverTexts:
    """A prediction over texts that end, taken apart; `model` is one of `ENDING`."""

    def known(given: Conditional) -> Conditional:
        if model in ("texts", NAMED):
            return Conditional(by_width=given.by_width)
        if model == "how":
            return structs.replace(given, by_position=(), forks=())
        return structs.replace(given, accepted=None, residual=None, bonus=None) if model == "place" else given

    adjusted = replace(profile, conditional={pair: known(c) for pair, c in profile.conditional.items()})
    return over_texts(adjusted, plan, lengths, limit, model="marked", catch_up=model != "texts")
