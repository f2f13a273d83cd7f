"""What the theory says of a stack, from the formula that fits on a line to all that is known: one number a model.

Endless decoding: `closed_form`, `iid` and `marked`, what `plan` ranks by. Then over texts of the measured lengths:
`texts`; `rows`, with the rows by which a drafter catches up; and on top of that `how` (acceptance by how a token came
to be), `place` (by its place in a draft), and `all` (both). `kinds` knows of each text what kind of prompt it answers
as well, which no planner does before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hsd_core.theory import Conditional, Plan, Profile, closed_form, expected
from hsd_core.theory.finite import OverTexts, over_texts

WHOLE = "all"
SAID = {
    "closed_form": "closed form",
    "iid": "exact recursion, i.i.d.",
    "marked": "exact recursion, all conditional acceptances",
    "texts": "i.i.d., over texts that end",
    "rows": "and with rows that catch up",
    "how": "and with acceptance given accepted, residual or bonus",
    "place": "instead with acceptance by place in the draft",
    WHOLE: "with both",
    "kinds": "and with acceptance by kind of prompt",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """Measured texts: their tokens, the kinds of their prompts, and the most tokens that one could have had."""

    lengths: tuple[int, ...]
    kinds: tuple[str, ...]
    limit: int

    def of(self, kind: str) -> tuple[int, ...]:
        """The lengths of one kind."""
        return tuple(n for n, own in zip(self.lengths, self.kinds, strict=True) if own == kind)


def predictions(profile: Profile, plan: Plan, texts: Texts) -> dict[str, float]:
    """ms per token by model."""

    def ended(known: Profile) -> float:
        return in_full(known, plan, texts).ms_per_token

    plain = replace(profile, conditional={})
    return {
        "closed_form": closed_form(profile, plan),
        "iid": expected(profile, plan).ms_per_token,
        "marked": expected(profile, plan, model="marked").ms_per_token,
        "texts": over_texts(profile, plan, texts.lengths, texts.limit, catch_up=False).ms_per_token,
        "rows": ended(plain),
        "how": ended(_without_places(profile)),
        "place": ended(_without_how(profile)),
        WHOLE: ended(profile),
        "kinds": _per_token(
            over_texts(of_kind(profile, kind), plan, texts.of(kind), texts.limit, model="marked")
            for kind in dict.fromkeys(texts.kinds)
        ),
    }


def in_full(profile: Profile, plan: Plan, texts: Texts) -> OverTexts:
    """The prediction of model `all`, taken apart."""
    return over_texts(profile, plan, texts.lengths, texts.limit, model="marked")


def of_kind(profile: Profile, kind: str) -> Profile:
    """The profile with the acceptances of one kind of prompt, where they were counted.

    A pair's conditional acceptances move with it: their odds change by the same factor.
    """
    known = {pair: given.by_kind[kind] for pair, given in profile.conditional.items() if kind in given.by_kind}
    moved = dict(profile.conditional)
    for pair, a in known.items():
        moved[pair] = _moved(moved[pair], profile.acceptance[pair[0]][pair[1]], a)
    return replace(profile.with_acceptance(known), conditional=moved)


def _moved(given: Conditional, whole: float, part: float) -> Conditional:
    def move(a: float | None) -> float | None:
        if a is None or not 0.0 < whole < 1.0:
            return a
        up, down = a * part * (1.0 - whole), (1.0 - a) * (1.0 - part) * whole
        return up / (up + down) if up + down else part

    places = tuple(part if (here := move(a)) is None else here for a in given.by_position)
    how = (move(given.accepted), move(given.residual), move(given.bonus))
    return Conditional(*how, places, given.by_kind, given.counts)


def _per_token(found: Iterable[OverTexts]) -> float:
    every = list(found)
    return sum(part.ms_per_token * part.tokens for part in every) / sum(part.tokens for part in every)


def _without_places(profile: Profile) -> Profile:
    return replace(profile, conditional={k: replace(v, by_position=()) for k, v in profile.conditional.items()})


def _without_how(profile: Profile) -> Profile:
    return replace(
        profile,
        conditional={k: replace(v, accepted=None, residual=None, bonus=None) for k, v in profile.conditional.items()},
    )
