"""Whether speculation pays, and where the time of one token goes."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.doctor.engines import name_of

NEVER_REACHED = 0.02  # of drafts: a position that fewer survive to costs and gives nothing


@dataclass(frozen=True, slots=True)
class Part:
    """Where ms of a token go. kind: draft, plain, rows, pass, together."""

    kind: str
    ms: float
    words: str


def ms(value: float) -> str:
    """A time as people write it."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def many(tokens: int) -> str:
    return f"{tokens} token{'' if tokens == 1 else 's'}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def verdict(profile: DraftProfile) -> str:
    """Whether speculation pays, first of all."""
    now, plain, tokens = profile.ms_per_token, profile.plain_ms, profile.tokens_per_pass
    if profile.no_drafts:
        return _without(profile)
    if now and plain:
        gain = plain / now
        if gain >= 1.01:
            return (
                f"Speculation pays: {ms(now)} ms a token, {gain:.2f} times as fast as plain decoding ({ms(plain)} ms)."
            )
        if gain > 0.99:
            return f"Speculation changes nothing: {ms(now)} ms a token with it, {ms(plain)} ms without."
        return f"Speculation loses: {ms(now)} ms a token, {ms(plain)} ms without it."
    if now and profile.pass_ms and profile.pass_ms < now:
        return (
            f"Speculation loses: {ms(now)} ms a token, and a plain token takes no more than the "
            f"{ms(profile.pass_ms)} ms of a pass over a draft."
        )
    if now:
        most = ""
        if profile.pass_ms and profile.pass_ms > now:
            most = (
                f" A plain token takes a pass of one row, so at most the {ms(profile.pass_ms)} ms of a pass over a "
                f"draft: the gain is {profile.pass_ms / now:.2f} times or less."
            )
        return f"A token takes {ms(now)} ms: speculation pays if a plain token takes longer.{most}"
    if tokens:
        if profile.at_most_ms:
            return (
                f"A pass gives {tokens:.2f} tokens, and a token takes at most {ms(profile.at_most_ms)} ms, pauses "
                f"included: speculation pays if a plain token takes longer."
            )
        return (
            f"A pass gives {tokens:.2f} tokens. This output has no times: speculation pays as long as a round, draft "
            f"included, takes less than {tokens:.2f} plain tokens."
        )
    if profile.drafted and profile.accepted is not None:
        share = profile.accepted / profile.drafted
        count = "" if "means" in profile.notes else f"{profile.accepted:.0f} of {profile.drafted:.0f} drafted tokens, "
        return (
            f"{count}{percent(share)}{'' if count else ' of the drafted tokens'}, were accepted. How many tokens a "
            "pass gives follows from the length of a draft, which this output does not tell."
        )
    return "Drafts were made, but neither what was accepted nor how long it took is in this output."


def counted(profile: DraftProfile) -> str:
    """The figures that all the rest follows from; "" where nothing was counted."""
    said = []
    if profile.no_drafts:
        return ""
    means = "means" in profile.notes
    if profile.rounds and not means and profile.length:
        whole = abs(profile.length - round(profile.length)) < 0.02 or not profile.varying
        size = many(round(profile.length)) if whole else f"{profile.length:.1f} tokens in the mean"
        said.append(f"{profile.rounds:.0f} drafts of {size}")
    elif profile.k:
        said.append(f"drafts of {many(profile.k)}")
    if profile.drafted and profile.accepted is not None and not means:
        said.append(f"{profile.accepted:.0f} of {profile.drafted:.0f} drafted tokens accepted")
    if profile.tokens_per_pass:
        said.append(f"{profile.tokens_per_pass:.2f} tokens a pass")
    if profile.round_ms:
        said.append(f"{ms(profile.round_ms)} ms a pass with its draft")
    return ", ".join(said)


def _without(profile: DraftProfile) -> str:
    """No drafts: said as a fact only where the engine reports it."""
    now, at_most = profile.ms_per_token, profile.at_most_ms
    if "unsaid" in profile.notes:
        took = f"A token takes {ms(now)} ms. " if now else ""
        if not now and at_most:
            took = f"A token takes at most {ms(at_most)} ms, pauses included. "
        if "silent" in profile.notes:
            return f"{took}What {name_of(profile.engine)} prints does not tell whether a drafter was at work."
        return (
            f"{took}The text speaks of drafts, but no line that is understood tells what was drafted or accepted: "
            "whether this is with drafts or without is not known."
        )
    took = f" A token takes {ms(now)} ms, which is plain decoding." if now else ""
    if not now and at_most:
        took = f" A token takes at most {ms(at_most)} ms, pauses included."
    if profile.told_none and profile.drafter:
        return f"The drafter ({profile.drafter}) was asked and made no drafts.{took}"
    if profile.told_none:
        return f"No drafts were made.{took}"
    return f"No line here speaks of drafts.{took}"


def parts(profile: DraftProfile) -> list[Part]:
    """Where the ms of one token go; nothing where no time is known."""
    now, tokens, round_ms = profile.ms_per_token, profile.tokens_per_pass, profile.round_ms
    if not now or not tokens or not round_ms or profile.no_drafts:
        return []
    if profile.draft_ms is not None and profile.pass_ms is not None:
        plain = min(profile.plain_ms, profile.pass_ms) if profile.plain_ms else None
        drafting = Part("draft", (round_ms - profile.pass_ms) / tokens, "drafting")
        if plain is None:
            return [drafting, Part("pass", profile.pass_ms / tokens, "the target's pass over the draft")]
        rows = (profile.pass_ms - plain) / tokens
        split = [Part("rows", rows, "the draft's rows in it")] if rows > 0 else []
        return [drafting, Part("plain", plain / tokens, "a plain pass"), *split]
    if profile.plain_ms and profile.plain_ms < round_ms:
        rest = (round_ms - profile.plain_ms) / tokens
        return [
            Part("plain", profile.plain_ms / tokens, "a plain pass"),
            Part("together", rest, "drafting and its rows"),
        ]
    return [Part("together", now, "drafting and verifying together")]
