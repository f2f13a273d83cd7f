"""What the theory says of a stack, from the formula that fits on a line to all that is known: one number a model.

Endless decoding: `closed_form`, `iid` and `marked`, what `plan` ranks by. Then over texts of the measured lengths:
`texts`; `rows`, with the rows by which a drafter catches up; and on top of that `how` (acceptance by how a token came
to be), `place` (by its place in a draft), and `all` (both).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hsd_core.theory import Plan, Profile, closed_form, expected
from hsd_core.theory.finite import OverTexts, over_texts

WHOLE = "all"
SAID = {
    "closed_form": "closed form",
    "iid": "exact recursion, i.i.d.",
    "marked": "exact, all conditional acceptances",
    "texts": "i.i.d., over texts that end",
    "rows": "i.i.d., over texts that end, with rows that catch up",
    "how": "the last one, and acceptance given accepted, residual or bonus",
    "place": "the last one but that, and acceptance by place in the draft",
    WHOLE: "both",
}


def predictions(profile: Profile, plan: Plan, lengths: Sequence[int], limit: int) -> dict[str, float]:
    """ms per token by model; for `lengths` and `limit` see `over_texts`."""

    def ended(known: Profile) -> float:
        return over_texts(known, plan, lengths, limit, model="marked").ms_per_token

    return {
        "closed_form": closed_form(profile, plan),
        "iid": expected(profile, plan).ms_per_token,
        "marked": expected(profile, plan, model="marked").ms_per_token,
        "texts": over_texts(profile, plan, lengths, limit, catch_up=False).ms_per_token,
        "rows": over_texts(profile, plan, lengths, limit).ms_per_token,
        "how": ended(_without_places(profile)),
        "place": ended(_without_how(profile)),
        WHOLE: ended(profile),
    }


def in_full(profile: Profile, plan: Plan, lengths: Sequence[int], limit: int) -> OverTexts:
    """The prediction of model `all`, taken apart."""
    return over_texts(profile, plan, lengths, limit, model="marked")


def _without_places(profile: Profile) -> Profile:
    return replace(profile, conditional={k: replace(v, by_position=()) for k, v in profile.conditional.items()})


def _without_how(profile: Profile) -> Profile:
    return replace(
        profile,
        conditional={k: replace(v, accepted=None, residual=None, bonus=None) for k, v in profile.conditional.items()},
    )
