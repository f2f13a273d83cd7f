"""What stands out in a profile, in sentences.

Every finding carries the ms per token that it concerns, so that the largest comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from hsd_core.doctor.draft_profile import DraftProfile, mean_accepted
from hsd_core.doctor.gain import ExtraLevel, Gain, Length, break_even_acceptance, slope_of, worth
from hsd_core.doctor.verdict import NEVER_REACHED, does_not_fit, first_share, ms, percent

FEW = 100  # drafts: with fewer the intervals are wide
NOT_FREE = 1.25  # times a plain pass
SMALL = 0.02  # share of the time, below which drafting is not worth a sentence
COSTLY = 0.2  # share of the time from which drafting is called too expensive

_NOTE_TEXTS = {  # by the note of the counts
    "gauges": "These are gauges, of the last moment; counters would tell the mean.",
    "one_line": "It is one line of a log: if the server was idle before, its throughput counts the pause too. Give "
    "some lines more.",
    "one_scrape": "One scrape counts everything since the server started, warm-up and other prompts included; two "
    "scrapes around your prompts count those alone.",
    "full_drafts": "Every draft is taken to have had its full length, which may be less.",
    "of_all_requests": "This is the throughput of all requests together: the times here compare runs of one load, a "
    "token of one request takes longer.",
    "rounds_from_tokens": "Drafts are not counted here: every pass is taken to have had one.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One or two sentences; ms: the time per token that they concern."""

    kind: str
    ms: float
    text: str


def findings(profile: DraftProfile, gain: Gain | None) -> list[Finding]:
    """All findings, the largest first."""
    if profile.no_drafts:
        return sorted(_from_notes(profile), key=lambda finding: -finding.ms)
    return sorted(_all(profile, gain), key=lambda finding: -finding.ms)


def _all(profile: DraftProfile, gain: Gain | None) -> Iterator[Finding]:
    now, tokens = profile.ms_per_token or 0.0, profile.tokens_per_pass or 1.0
    first = first_share(profile)
    if does_not_fit(profile) and first is not None:
        yield Finding(
            "unfit",
            10 * now + 1.0,
            f"The first token of a draft is accepted in {percent(first)} of the cases. "
            "Drafters made for their target reach 50 to 90 %.",
        )
    else:
        yield from _lengths(profile, gain, now)
    yield from _break_even(profile, now)
    share = 0.0
    if profile.draft_ms is not None and profile.pass_ms and profile.round_ms:
        share = 1 - profile.pass_ms / profile.round_ms
    if share > SMALL and profile.draft_ms is not None and profile.pass_ms:
        yield Finding(
            "drafting",
            share * now,
            f"Drafting takes {percent(share)} of the time: {ms(profile.draft_ms)} ms a "
            f"{'draft whatever its length' if profile.block else 'drafted token'}, "
            f"{percent(profile.draft_ms / profile.pass_ms)} of a pass of the target."
            + (" Shorter drafts save no drafting, only rows of the target's pass." if profile.block else "")
            + (" A smaller draft, or heads on the target, would cost less." if share > COSTLY else ""),
        )
    if profile.drafted and profile.accepted is not None and profile.rounds:
        wasted = profile.drafted - profile.accepted
        cost = profile.draft_ms if profile.draft_ms is not None else slope_of(profile)
        cost = None if profile.block else cost  # one more token costs a block drafter nothing
        each = wasted / profile.rounds * profile.drafting / tokens
        if wasted / profile.drafted > 0.1:
            lost = f" They cost {ms(each * cost)} ms of every token." if cost else ""
            yield Finding(
                "waste",
                each * (cost or 0.0),
                f"{percent(wasted / profile.drafted)} of the drafted tokens were thrown away ({wasted:.0f} of "
                f"{profile.drafted:.0f}).{lost}"
                if "means" not in profile.notes
                else f"{percent(wasted / profile.drafted)} of the drafted tokens were thrown away.{lost}",
            )
    yield from _rows(profile, tokens)
    yield from _positions(profile, now)
    yield from _conditions(profile)
    yield from _from_notes(profile)


def _lengths(profile: DraftProfile, gain: Gain | None, now: float) -> Iterator[Finding]:
    if gain is None:
        return
    best, k = gain.best, profile.k or 0
    here = next((length for length in gain.lengths if length.k == k), None)
    spread = "" if gain.low == gain.high else f" (between {gain.low} and {gain.high}, by the interval of the counts)"
    limits = _limits(profile, best.assumed)
    saved = max(0.0, (here.ms if here else now) - best.ms)
    if not worth(gain):
        most = "" if best.k == 0 else f": the best, {best.k}, gives {_gained(best)}"
        yield Finding("length", now, f"No draft length is worth it{most}.{limits}")
    elif best.k == k and gain.lengths[-1].k == k:
        yield Finding(
            "length",
            saved,
            f"No shorter draft would be better than the present {k}. Longer ones cannot be judged from one length "
            "without a plain time.",
        )
    elif best.k == k:
        yield Finding(
            "length", saved, f"The best draft length is the present one, {k}{spread}: {_gained(best)}.{limits}"
        )
    elif best.assumed:
        present = "" if here is None else f", {k} gives {_gained(here, brief=True)}"
        yield Finding("length", saved, f"Longer drafts may pay: {best.k} would give {_gained(best)}{present}.{limits}")
    else:
        present = "" if here is None else f"; {k} gives {_gained(here, brief=True)}"
        yield Finding("length", saved, f"The best draft length is {best.k}{spread}: {_gained(best)}{present}.{limits}")


def _gained(length: Length, *, brief: bool = False) -> str:
    if length.speed_up is None:
        return f"{ms(length.ms)} ms a token"
    if brief:
        return f"{length.speed_up:.2f} times"
    spread = "" if length.low is None or length.high is None else f" ({length.low:.2f} to {length.high:.2f})"
    return f"{length.speed_up:.2f} times plain decoding{spread}"


def _limits(profile: DraftProfile, beyond: bool) -> str:
    """The assumptions behind the best length."""
    limits = ""
    if not profile.conditional:
        limits += " Positions are not known here, so all of them are taken to be accepted alike."
    elif beyond:
        limits += " Beyond the lengths that were run, acceptance is taken to go on as at the last position."
    if profile.plain_ms is None and len(profile.round_at) < 2:
        limits += " A pass is taken to cost the same at every length."
    return limits


def _break_even(profile: DraftProfile, now: float) -> Iterator[Finding]:
    """The acceptance from which the present length would pay, if it does not pay now."""
    if not profile.plain_ms or not now or now <= profile.plain_ms or not profile.k:
        return
    wanted = break_even_acceptance(profile, profile.k)
    if wanted is None:
        return
    text = f"At length {profile.k} drafts pay from an acceptance of {wanted:.3f} on"
    if wanted > 1:
        text = f"At length {profile.k} not even drafts that are always accepted would pay"
    have = ""
    if profile.flat:
        have = f"; it is {profile.flat.value:.3f}"
    elif profile.conditional:
        have = f"; it is {profile.conditional[0].value:.2f} at the first position"
    yield Finding("needed", now - profile.plain_ms, f"{text}{have if wanted <= 1 else ''}.")


def _rows(profile: DraftProfile, tokens: float) -> Iterator[Finding]:
    """The time of a pass over a draft compared with a plain one."""
    if not profile.plain_ms:
        return
    if profile.pass_ms and profile.length and profile.pass_ms > NOT_FREE * profile.plain_ms:
        yield Finding(
            "rows",
            (profile.pass_ms - profile.plain_ms) / tokens,
            f"Rows are not free: a pass over {profile.length + 1:.1f} rows takes {ms(profile.pass_ms)} ms, "
            f"{profile.pass_ms / profile.plain_ms:.2f} times a plain one. That is usual for mixture-of-experts targets "
            "(each row wakes experts of its own), for quantised ones (their kernels are made for one row) and on CPUs.",
        )
    elif profile.pass_ms is None and (slope := slope_of(profile)) is not None and slope > 0:
        share = slope / profile.plain_ms
        costly = (
            " Rows are not free here, or drafting is expensive; two lengths do not show which."
            if share > COSTLY
            else ""
        )
        yield Finding(
            "rows",
            slope * (profile.length or 0.0) / tokens,
            f"A drafted token adds {ms(slope)} ms, drafting and its row together: {percent(share)} of a plain token."
            + costly,
        )


def _positions(profile: DraftProfile, now: float) -> Iterator[Finding]:
    shares, survival = profile.conditional, profile.survival
    if not shares:
        return
    gone = [position for position, share in enumerate(survival) if share.value < NEVER_REACHED and position > 0]
    if gone:
        first, last = gone[0] + 1, len(survival)
        yield Finding(
            "unreached",
            0.02 * now,
            f"Position{'s' if last > first else ''} {first}{f' to {last}' if last > first else ''}: fewer than "
            f"{percent(NEVER_REACHED)} of drafts get that far, all others draft and verify them for nothing.",
        )
    reached = list(shares[: gone[0]] if gone else shares)
    if len(reached) > 1 and reached[-1].value > reached[0].value + 0.15:
        yield Finding(
            "first",
            0.01 * now,
            f"The first token of a draft is the hard one: {reached[0]} accepted, those behind it more often (up to "
            f"{max(share.value for share in reached):.2f}). Better no draft at all where the drafter is unsure.",
        )
    elif len(reached) > 1 and reached[-1].value < reached[0].value - 0.15:
        yield Finding(
            "falls",
            0.01 * now,
            f"Acceptance falls along the draft, from {reached[0].value:.2f} to {reached[-1].value:.2f}: one average "
            "would overestimate long drafts.",
        )


def _conditions(profile: DraftProfile) -> Iterator[Finding]:
    """What limits these figures."""
    if profile.running is not None and profile.running > 1.2:
        yield Finding(
            "batch",
            0.0,
            f"{profile.running:.1f} requests ran at once: their rounds are mixed here, and the gain fades as the batch "
            "grows, because verifying rows competes with other requests. Measure at one request at a time, or read "
            "metrics by request.",
        )
    if profile.drafting < 1.0:
        yield Finding(
            "silent",
            0.0,
            f"Only {percent(profile.drafting)} of the passes had a draft to verify"
            + (f" ({profile.rounds:.0f} of {profile.rounds / profile.drafting:.0f})" if profile.rounds else "")
            + f"; the others are plain decoding. One more token in each draft would save {_saved(profile)} of the "
            "passes at most.",
        )
    if profile.rounds is not None and profile.rounds < FEW and "means" not in profile.notes and profile.drafted:
        yield Finding("few", 0.0, f"Only {profile.rounds:.0f} drafts were counted: the intervals are wide.")
    if any(share.at_least for share in profile.conditional):
        yield Finding(
            "bound",
            0.0,
            "Drafts differ in length and this output does not say which: acceptance behind the first position is a "
            "lower bound.",
        )


def _saved(profile: DraftProfile) -> str:
    """Share of all passes that one more token in each draft could save."""
    survived = 1.0
    for position in range(round(profile.length or 1.0) + 1):
        survived *= profile.accepts(position)
    return percent(max(0.01, profile.drafting * survived))


def _from_notes(profile: DraftProfile) -> Iterator[Finding]:
    """What the notes of the counts say, and what part of the text was left out."""
    for note in profile.notes:
        if note.startswith("fault:"):
            yield Finding("fault", 0.0, f"A part of the text was left out: {note.removeprefix('fault:')}")
        elif note in _NOTE_TEXTS:
            yield Finding(note, 0.0, _NOTE_TEXTS[note])
        elif note == "of_all_drafts" and profile.survival:
            kept_less = sum(accumulate((share.value for share in profile.survival), lambda one, more: one * more))
            yield Finding(
                "of_all",
                0.0,
                "Acceptance by position is taken as a share of all drafts, as engines print it; if it is of the "
                f"drafts that reached the position, a pass gives {1.0 + kept_less:.2f} tokens.",
            )
        elif note == "rate_in_words" and profile.k and profile.drafted and profile.accepted is not None:
            share = profile.accepted / profile.drafted
            yield Finding(
                "rate",
                0.0,
                f"The acceptance of {percent(share)} is taken as accepted of drafted, as logs print it; if each "
                f"position is accepted so often, a pass gives {1.0 + mean_accepted(share, profile.k):.2f} tokens.",
            )


def level_sentences(more: list[ExtraLevel], engine: str) -> list[str]:
    """What an extra level would gain, with the assumptions and where it runs."""
    sentences = []
    for level in more:
        what = (
            "An n-gram floor below the drafter" if level.level == "floor" else "A verifier between drafter and target"
        )
        gain = f"would pay: {level.gain:.2f} times as fast as the best without it" if level.pays else "would not pay"
        where = "No engine runs this yet."
        if level.level == "floor" and engine == "llama.cpp":
            where = "No engine runs this yet; llama.cpp's comma list asks one drafter or the other."
        sentences.append(
            f"{what} {gain}. Assumed, from the pairs measured here (SmolLM2-135M): {level.assumed}. {where}"
        )
    return sentences
