"""Whether speculation pays, and where the time of one token goes."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_core.doctor.draft_profile import DraftProfile

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


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def verdict(profile: DraftProfile) -> str:
    """Whether speculation pays, first of all."""
    now, plain, tokens = profile.ms_per_token, profile.plain_ms, profile.tokens_per_pass
    if profile.no_drafts:
        took = f" A token takes {ms(now)} ms, which is plain decoding." if now else ""
        return f"No drafts were made.{took}"
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
        return (
            f"A pass gives {tokens:.2f} tokens. This output has no times: speculation pays as long as a round, draft "
            f"included, takes less than {tokens:.2f} plain tokens."
        )
    return "Drafts were made, but neither what was accepted nor how long it took is in this output."


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
