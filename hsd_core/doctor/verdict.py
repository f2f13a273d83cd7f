"""Whether speculation pays, where the time of a token goes, what to change (as text to copy, in the engine's syntax)
and what to run to obtain the missing figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.doctor.drafters import kind_of, others, syntax
from hsd_core.doctor.engines import engine_of, name_of
from hsd_core.doctor.gain import Gain, worth

NEVER_REACHED = 0.02  # of drafts: a position that fewer of them reach costs time and gains nothing


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a token's time. kind: draft, plain, rows, pass, together."""

    kind: str
    ms: float
    words: str


def ms(value: float) -> str:
    """A time with three digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def token_count(tokens: int) -> str:
    return f"{tokens} token{'' if tokens == 1 else 's'}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def verdict(profile: DraftProfile) -> str:
    """Whether speculation pays."""
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
            "pass gives follows from the length of a draft, which this output does not contain."
        )
    return "Drafts were made, but neither what was accepted nor how long it took is in this output."


def counted(profile: DraftProfile) -> str:
    """The counted figures that the diagnosis follows from; "" if nothing was counted."""
    figures = []
    if profile.no_drafts:
        return ""
    means = "means" in profile.notes
    if profile.rounds and not means and profile.length:
        integer = abs(profile.length - round(profile.length)) < 0.02 or not profile.varying
        size = token_count(round(profile.length)) if integer else f"{profile.length:.1f} tokens in the mean"
        figures.append(f"{profile.rounds:.0f} drafts of {size}")
    elif profile.k:
        figures.append(f"drafts of {token_count(profile.k)}")
    if profile.drafted and profile.accepted is not None and not means:
        figures.append(f"{profile.accepted:.0f} of {profile.drafted:.0f} drafted tokens accepted")
    if profile.tokens_per_pass:
        figures.append(f"{profile.tokens_per_pass:.2f} tokens a pass")
    if profile.round_ms:
        figures.append(f"{ms(profile.round_ms)} ms a pass with its draft")
    return ", ".join(figures)


def _without(profile: DraftProfile) -> str:
    """The verdict without drafts; that none were made is stated only if the engine reports it."""
    now, at_most = profile.ms_per_token, profile.at_most_ms
    if "unclear" in profile.notes:
        took = f"A token takes {ms(now)} ms. " if now else ""
        if not now and at_most:
            took = f"A token takes at most {ms(at_most)} ms, pauses included. "
        if "silent" in profile.notes:
            return f"{took}What {name_of(profile.engine)} prints does not show whether a drafter was running."
        return (
            f"{took}The text mentions drafts, but no line that is understood counts what was drafted or accepted: "
            "whether this is with drafts or without is not known."
        )
    took = f" A token takes {ms(now)} ms, which is plain decoding." if now else ""
    if not now and at_most:
        took = f" A token takes at most {ms(at_most)} ms, pauses included."
    if profile.reported_none and profile.drafter:
        return f"The drafter ({profile.drafter}) was on and made no drafts.{took}"
    if profile.reported_none:
        return f"No drafts were made.{took}"
    return f"No line here mentions drafts.{took}"


def parts(profile: DraftProfile) -> list[Part]:
    """The parts of the time of one token; empty if no time is known."""
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


CHANGE = 1.01  # times the best length's time from which the present length is worth changing
UNSURE = 0.5  # acceptance of the first position below which a draft had better not begin
UNFIT = 0.08  # acceptance of the first position that every drafter made for its target exceeds
COSTLY = 0.2  # share of the time from which drafting counts as expensive


@dataclass(frozen=True, slots=True)
class Remedy:
    """why: a sentence. text: to copy, "" where there is nothing to type."""

    why: str
    text: str


def first_share(profile: DraftProfile) -> float | None:
    """Acceptance of the first position; if only one share for all positions is known, that share."""
    if profile.conditional:
        return profile.conditional[0].value
    if profile.first is not None:
        return profile.first.value
    return profile.flat.value if profile.flat else None


def does_not_fit(profile: DraftProfile) -> bool:
    """Whether the first position is accepted so rarely that something is wrong; lookups are excluded."""
    first = first_share(profile)
    return not profile.no_drafts and first is not None and first < UNFIT and not _looks_up(profile)


def remedies(profile: DraftProfile, gain: Gain | None) -> list[Remedy]:
    """What to change, the most useful first; only what the figures support."""
    if profile.no_drafts:
        return [] if "unclear" in profile.notes else _how_to_start(profile)
    engine = engine_of(profile.engine)
    if does_not_fit(profile):
        why = (
            "Switch it off, or look for a mismatch: a drafter of another model or version, another tokenizer, a "
            "quantised cache, or weights that were not loaded."
        )
        return [Remedy(why, engine.off)]
    found = []
    if gain is not None:
        now = next((length.ms for length in gain.lengths if length.k == profile.k), None)
        # if plain decoding was not timed: its pass takes no longer than one over a draft
        dearer = profile.plain_ms is None and profile.pass_ms is not None and gain.best.ms > profile.pass_ms
        if not worth(gain) or dearer:
            off = Remedy("Switch it off: at these costs no draft length is worth it.", engine.off)
            return [off, *_other_drafters(profile)]
        if gain.best.k != profile.k and (now is None or now > CHANGE * gain.best.ms):
            sure = profile.conditional and not gain.best.assumed and profile.plain_ms is not None
            tokens = f"{gain.best.k} token{'s' if gain.best.k > 1 else ''}"
            why = f"Draft {tokens}." if sure else f"Try drafts of {tokens}."
            found.append(Remedy(why, length_setting(profile, gain.best.k)))
    elif profile.plain_ms and profile.ms_per_token and profile.ms_per_token > profile.plain_ms * CHANGE:
        found.append(Remedy("It loses: switch it off, until a setting is found that gains.", engine.off))
    elif (reached := _reached(profile)) and profile.k and reached < profile.k and not profile.block:
        why = f"Draft {reached} token{'s' if reached > 1 else ''}: hardly any draft gets further."
        found.append(Remedy(why, length_setting(profile, reached)))
    first, share = first_share(profile), _drafting(profile)
    if profile.conditional and first is not None and first < UNSURE and share > COSTLY and not profile.block:
        why = "Drafting is expensive and the first token often wrong: let it stop where it is unsure, and measure both."
        if profile.engine == "llama.cpp" and "draft-simple" in profile.drafter:
            found.append(Remedy(why, "--spec-draft-p-min 0.6"))
        elif profile.engine == "transformers" and not _looks_up(profile):
            found.append(Remedy(why, "assistant.generation_config.assistant_confidence_threshold = 0.6"))
    loses = profile.plain_ms and profile.ms_per_token and profile.ms_per_token > profile.plain_ms * CHANGE
    if loses or share > COSTLY or (first is not None and first < UNSURE) or profile.drafting < UNSURE:
        found += _other_drafters(profile)
    return found


def _other_drafters(profile: DraftProfile) -> list[Remedy]:
    """What else could draft, if a small model or lookups do now, or nobody says what does."""
    if kind_of(profile.drafter) not in ("", "model", "lookups"):
        return []
    return [Remedy(why, text) for why, text in others(profile.engine, name_of(profile.engine))]


def missing(profile: DraftProfile) -> list[str]:
    """The missing figures, each with how to obtain it."""
    engine, lacks = engine_of(profile.engine), []
    if profile.plain_ms is None and not profile.no_drafts:
        most = profile.pass_ms or profile.round_ms
        bound = f" (at most {ms(most)} ms)" if most else ""
        lacks.append(f"plain time{bound}: {engine.plain}, or give it with --plain-ms")
    if profile.ms_per_token is None:
        bound = f" (at most {ms(profile.at_most_ms)} ms a token)" if profile.at_most_ms else ""
        lacks.append(f"time{bound}: {engine.time}")
    if profile.no_drafts and "unclear" not in profile.notes:
        return lacks
    if profile.unknown or profile.no_drafts:
        lacks.append(f"what was accepted: {engine.positions}")
        return lacks
    if profile.k is None:
        lacks.append(f"draft length{'' if profile.tokens_per_pass else ', and with it tokens a pass'}: {engine.given}")
    if not profile.conditional:
        lacks.append(f"acceptance by position: {engine.positions}")
    elif any(share.at_least for share in profile.conditional) and profile.engine == "vllm":
        lacks.append("length of each draft: vllm serve ... --per-request-spec-decode-metrics detailed")
    if profile.draft_ms is None and (len(profile.round_at) < 3 or engine.splits_time):
        spent = None if profile.round_ms is None else profile.round_ms - (profile.plain_ms or 0.0)
        bound = f" (at most {ms(spent / profile.length)} ms a token)" if spent and spent > 0 and profile.length else ""
        lacks.append(f"drafting apart from verifying{bound}: {engine.draft}")
    return lacks


def _drafting(profile: DraftProfile) -> float:
    """Share of the time that is drafting; 0 if it is not known."""
    if profile.draft_ms is None or not profile.pass_ms or not profile.round_ms:
        return 0.0
    return 1.0 - profile.pass_ms / profile.round_ms


def _reached(profile: DraftProfile) -> int:
    """Number of positions that some drafts reach; 0 if positions are not known."""
    return sum(share.value >= NEVER_REACHED for share in profile.survival)


def _looks_up(profile: DraftProfile) -> bool:
    """Whether drafts are copied from the text, so that no drafter has to fit the target."""
    return kind_of(profile.drafter) in ("lookups", "suffix")


def length_setting(profile: DraftProfile, k: int) -> str:
    """How the engine is told to draft k tokens; 0: none."""
    if not k:
        return engine_of(profile.engine).off
    if profile.engine == "transformers" and _looks_up(profile):
        return f"model.generate(**inputs, prompt_lookup_num_tokens={k})"
    known = syntax(profile.engine, kind_of(profile.drafter), k)
    return known or engine_of(profile.engine).length.format(k=k, k1=k + 1)


def _how_to_start(profile: DraftProfile) -> list[Remedy]:
    """Why nothing was drafted, by engine, and how to turn drafting on."""
    if profile.engine == "llama.cpp" and "ngram" in profile.drafter:
        what, least = "shorten its key", ""
        if "mod" in profile.drafter:
            what = "shorten its key and the least length of a draft (24 and 48 tokens unless set)"
            least = "--spec-ngram-mod-n-match 12 --spec-ngram-mod-n-min 4"
        why = f"The lookup was on and found nothing to copy: {what}, or add a draft model behind it."
        kind = profile.drafter.replace("_", "-").split("+")[0]
        return [Remedy(why, f"--spec-type {kind},draft-simple -md DRAFT.gguf {least}".strip())]
    if profile.drafter:
        return []
    engine = engine_of(profile.engine)
    return [Remedy(engine.why, engine.start), *_other_drafters(profile)]


def remedy_lines(found: Sequence[Remedy]) -> list[str]:
    """One line for each remedy."""
    return [f"{remedy.why} {' '.join(remedy.text.split(chr(10)))}".rstrip() for remedy in found]
