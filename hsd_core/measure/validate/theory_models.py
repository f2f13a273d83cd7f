"""What the theory says of a stack, from the formula that fits on a line to all that is known: one number a model.

Endless decoding: `closed_form`, and `iid`, what `plan` ranks by. Then over texts as long as the calibration's: `texts`,
and `rows`, with the rows by which a drafter catches up. Nothing of the runs that are predicted goes into any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hsd_core.theory import Profile, StackPlan, closed_form, expected
from hsd_core.theory.latency.finite import OverTexts, over_texts

NAMED = "rows"  # the prediction, unless another one is named: the planner's own acceptances, over texts that end
SAID = {
    "closed_form": "closed form",
    "iid": "exact recursion, i.i.d.",
    "texts": "i.i.d., over texts that end",
    NAMED: "i.i.d., over texts that end, with rows that catch up",
}
ENDLESS: dict[str, Callable[[Profile, StackPlan], float]] = {
    "closed_form": closed_form,
    "iid": lambda profile, plan: expected(profile, plan).ms_per_token,
}
ENDING = tuple(model for model in SAID if model not in ENDLESS)


def predictions(profile: Profile, plan: StackPlan, lengths: Sequence[int], limit: int) -> dict[str, float]:
    """ms per token by model, over texts of these lengths under a limit."""
    return {
        model: ENDLESS[model](profile, plan)
        if model in ENDLESS
        else ended(model, profile, plan, lengths, limit).ms_per_token
        for model in SAID
    }


def ended(model: str, profile: Profile, plan: StackPlan, lengths: Sequence[int], limit: int) -> OverTexts:
    """A prediction over texts that end, taken apart; `model` is one of `ENDING`."""
    return over_texts(profile, plan, lengths, limit, catch_up=model == NAMED)
