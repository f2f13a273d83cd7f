"""What to change, as text to copy in the engine's own syntax, and what to run for what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.doctor.engines import engine_of
from hsd_core.doctor.gain import Gain, worth
from hsd_core.doctor.verdict import NEVER_REACHED, ms

CHANGE = 1.01  # times the best length's time, above which the present one is worth changing
UNSURE = 0.5  # acceptance of the first position below which a draft had better not begin
UNFIT = 0.08  # acceptance of the first position that no drafter made for its target is below
DEAR = 0.2  # share of the time that drafting may take


@dataclass(frozen=True, slots=True)
class Remedy:
    """why: a sentence. text: to copy."""

    why: str
    text: str


def first_share(profile: DraftProfile) -> float | None:
    """Acceptance of the first position, as far as it is known: with drafts of one share for all positions, that."""
    if profile.conditional:
        return profile.conditional[0].value
    if profile.first is not None:
        return profile.first.value
    return profile.flat.value if profile.flat else None


def does_not_fit(profile: DraftProfile) -> bool:
    """Whether the first position is accepted so rarely that something is wrong; a lookup may just find nothing."""
    first = first_share(profile)
    return not profile.no_drafts and first is not None and first < UNFIT and not _looks_up(profile)


def remedies(profile: DraftProfile, gain: Gain | None) -> list[Remedy]:
    """What to change, the most useful first; nothing that the figures do not bear."""
    if profile.no_drafts:
        return [] if "unsaid" in profile.notes else _begin(profile)
    engine = engine_of(profile.engine)
    if does_not_fit(profile):
        why = (
            "Switch it off, or look for a mismatch: a drafter of another model or version, another tokenizer, a "
            "quantised cache, or weights that were not loaded."
        )
        return [Remedy(why, engine.off)]
    found = []
    batch = profile.running is not None and profile.running > 1.2
    if gain is not None:
        now = next((length.ms for length in gain.lengths if length.k == profile.k), None)
        # where plain decoding was not timed, its pass takes no longer than one over a draft
        dearer = profile.plain_ms is None and profile.pass_ms is not None and gain.best.ms > profile.pass_ms
        if not worth(gain) or dearer:
            return [Remedy("Switch it off: at these costs no draft length is worth it.", engine.off)]
        if gain.best.k != profile.k and (now is None or now > CHANGE * gain.best.ms):
            sure = profile.conditional and not gain.best.assumed and profile.plain_ms is not None
            tokens = f"{gain.best.k} token{'s' if gain.best.k > 1 else ''}"
            why = f"Draft {tokens}." if sure else f"Try drafts of {tokens}."
            found.append(Remedy(why, _length(profile, gain.best.k)))
    elif profile.plain_ms and profile.ms_per_token and profile.ms_per_token > profile.plain_ms * CHANGE:
        found.append(Remedy("It loses: switch it off, until a setting is found that gains.", engine.off))
    elif (reached := _reached(profile)) and profile.k and reached < profile.k and not profile.block:
        why = f"Draft {reached} token{'s' if reached > 1 else ''}: hardly any draft gets further."
        found.append(Remedy(why, _length(profile, reached)))
    first, share = first_share(profile), _drafting(profile)
    if profile.conditional and first is not None and first < UNSURE and share > DEAR and not profile.block:
        why = "Drafting is dear and the first token often wrong: let it stop where it is unsure, and measure both."
        if profile.engine == "llama.cpp" and "draft-simple" in profile.drafter:
            found.append(Remedy(why, "--spec-draft-p-min 0.6"))
        elif profile.engine == "transformers" and not _looks_up(profile):
            found.append(Remedy(why, "assistant.generation_config.assistant_confidence_threshold = 0.6"))
    if profile.engine == "vllm" and batch and profile.k:
        k = gain.best.k if gain is not None and gain.best.k else profile.k
        steps = [[1, 8, k], [9, 32, max(1, k // 2)], [33, 512, 0]]
        text = f'"num_speculative_tokens_per_batch_size": {steps}'
        found.append(Remedy("Draft less as the batch grows; the borders are to be measured, these are a start.", text))
    return found


def missing(profile: DraftProfile) -> list[str]:
    """What is not known, each with what would tell it."""
    engine, lacks = engine_of(profile.engine), []
    if profile.plain_ms is None and not profile.no_drafts:
        most = profile.pass_ms or profile.round_ms
        bound = f" (at most {ms(most)} ms)" if most else ""
        lacks.append(f"plain time{bound}: {engine.plain}, or give it with --plain-ms")
    if profile.ms_per_token is None:
        bound = f" (at most {ms(profile.at_most_ms)} ms a token)" if profile.at_most_ms else ""
        lacks.append(f"time{bound}: {engine.time}")
    if profile.no_drafts and "unsaid" not in profile.notes:
        return lacks
    if profile.unknown or profile.no_drafts:
        lacks.append(f"what was accepted: {engine.places}")
        return lacks
    if profile.k is None:
        lacks.append(f"draft length{'' if profile.tokens_per_pass else ', and with it tokens a pass'}: {engine.given}")
    if not profile.conditional:
        lacks.append(f"acceptance by position: {engine.places}")
    elif any(share.at_least for share in profile.conditional) and profile.engine == "vllm":
        lacks.append("length of each draft: vllm serve ... --per-request-spec-decode-metrics detailed")
    if profile.draft_ms is None and (len(profile.round_at) < 3 or engine.apart):
        spent = None if profile.round_ms is None else profile.round_ms - (profile.plain_ms or 0.0)
        bound = f" (at most {ms(spent / profile.length)} ms a token)" if spent and spent > 0 and profile.length else ""
        lacks.append(f"drafting apart from verifying{bound}: {engine.draft}")
    return lacks


def _drafting(profile: DraftProfile) -> float:
    """Share of the time that is drafting; 0 where it is not told."""
    if profile.draft_ms is None or not profile.pass_ms or not profile.round_ms:
        return 0.0
    return 1.0 - profile.pass_ms / profile.round_ms


def _reached(profile: DraftProfile) -> int:
    """Positions that some drafts survive to; 0 where positions are not told."""
    return sum(share.value >= NEVER_REACHED for share in profile.survival)


def _looks_up(profile: DraftProfile) -> bool:
    """Whether drafts are copied from the text, so that there is no drafter that could fit."""
    name = profile.drafter.lower()
    return any(word in name for word in ("promptlookup", "ngram", "n-gram", "suffix", "lookup"))


def _length(profile: DraftProfile, k: int) -> str:
    if profile.engine == "transformers" and _looks_up(profile):
        return f"model.generate(**inputs, prompt_lookup_num_tokens={k})"
    return engine_of(profile.engine).length.format(k=k, k1=k + 1)


def _begin(profile: DraftProfile) -> list[Remedy]:
    """Why nothing was drafted, by engine, and what starts it."""
    if profile.engine == "llama.cpp" and "ngram" in profile.drafter:
        what, least = "shorten its key", ""
        if "mod" in profile.drafter:
            what = "shorten its key and the least length of a draft (24 and 48 tokens unless set)"
            least = "--spec-ngram-mod-n-match 12 --spec-ngram-mod-n-min 4"
        why = f"The lookup was asked and found nothing to copy: {what}, or add a draft model behind it."
        kind = profile.drafter.replace("_", "-").split("+")[0]
        return [Remedy(why, f"--spec-type {kind},draft-simple -md DRAFT.gguf {least}".strip())]
    if profile.drafter:
        return []
    engine = engine_of(profile.engine)
    return [Remedy(engine.why, engine.begin)]


def texts(found: Sequence[Remedy]) -> list[str]:
    """As one line each."""
    return [f"{remedy.why} {' '.join(remedy.text.split(chr(10)))}" for remedy in found]
