"""What to change, as text to copy in the engine's own syntax, and what to run for what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsd_core.doctor.draft_profile import DraftProfile
from hsd_core.doctor.gain import Gain, worth
from hsd_core.doctor.verdict import NEVER_REACHED

_METHODS = {"vllm": "vLLM", "llama.cpp": "llama.cpp", "sglang": "SGLang", "transformers": "transformers"}
CHANGE = 1.01  # times the best length's time, above which the present one is worth changing
UNSURE = 0.5  # acceptance of the first position below which a draft had better not begin


@dataclass(frozen=True, slots=True)
class Remedy:
    """why: a sentence. text: to copy."""

    why: str
    text: str


def name_of(engine: str) -> str:
    return _METHODS.get(engine, engine or "the engine")


def remedies(profile: DraftProfile, gain: Gain | None) -> list[Remedy]:
    """What to change, the most useful first."""
    if profile.no_drafts:
        return _begin(profile)
    found = []
    batch = profile.running is not None and profile.running > 1.2
    if gain is not None:
        now = next((length.ms for length in gain.lengths if length.k == profile.k), None)
        # where plain decoding was not timed, its pass takes no longer than one over a draft
        dearer = profile.plain_ms is None and profile.pass_ms is not None and gain.best.ms > profile.pass_ms
        if not worth(gain) or dearer:
            return [Remedy("Switch it off: at these costs no draft length is worth it.", _off(profile.engine))]
        if gain.best.k != profile.k and (now is None or now > CHANGE * gain.best.ms):
            sure = profile.conditional and not gain.best.assumed and profile.plain_ms is not None
            tokens = f"{gain.best.k} token{'s' if gain.best.k > 1 else ''}"
            why = f"Draft {tokens}." if sure else f"Try drafts of {tokens}."
            found.append(Remedy(why, _length(profile, gain.best.k)))
    elif profile.plain_ms and profile.ms_per_token and profile.ms_per_token > profile.plain_ms and profile.k:
        shorter = max(1, profile.k // 2)
        found.append(Remedy("It loses: try half the length first.", _length(profile, shorter)))
    elif (reached := _reached(profile)) and profile.k and reached < profile.k:
        why = f"Draft {reached} token{'s' if reached > 1 else ''}: hardly any draft gets further."
        found.append(Remedy(why, _length(profile, reached)))
    unsure = bool(profile.conditional) and profile.conditional[0].value < UNSURE
    if profile.engine == "llama.cpp" and (unsure or _wasteful(profile)) and "ngram" not in profile.drafter:
        found.append(Remedy("Let the drafter stop where it is unsure.", "--spec-draft-p-min 0.6"))
    if profile.engine == "transformers" and (unsure or _wasteful(profile)) and not _looks_up(profile):
        text = "assistant.generation_config.assistant_confidence_threshold = 0.6"
        found.append(Remedy("Let the assistant stop where it is unsure.", text))
    if profile.engine == "vllm" and batch and profile.k:
        k = gain.best.k if gain is not None and gain.best.k else profile.k
        steps = [[1, 8, k], [9, 32, max(1, k // 2)], [33, 512, 0]]
        text = f'"num_speculative_tokens_per_batch_size": {steps}'
        found.append(Remedy("Draft less as the batch grows; the borders are to be measured, these are a start.", text))
    return found


def missing(profile: DraftProfile) -> list[str]:
    """What is not known, each with what would tell it."""
    engine, lacks = profile.engine, []
    if profile.plain_ms is None and not profile.no_drafts:
        most = profile.pass_ms or profile.round_ms
        bound = f" (at most {most:.3g} ms)" if most else ""
        lacks.append(f"plain time{bound}: {_PLAIN.get(engine, _PLAIN_ELSE)}, or give it with --plain-ms")
    if profile.no_drafts:
        return lacks
    if profile.ms_per_token is None:
        lacks.append(f"time: {_TIME.get(engine, _TIME_ELSE)}")
    if not profile.conditional:
        lacks.append(f"acceptance by position: {_PLACES.get(engine, _PLACES_ELSE)}")
    elif any(share.at_least for share in profile.conditional) and engine == "vllm":
        lacks.append("length of each draft: vllm serve ... --per-request-spec-decode-metrics detailed")
    if profile.draft_ms is None and (len(profile.round_at) < 3 or engine not in _NEVER_APART):
        spent = None if profile.round_ms is None else profile.round_ms - (profile.plain_ms or 0.0)
        bound = f" (at most {spent / profile.length:.3g} ms a token)" if spent and spent > 0 and profile.length else ""
        lacks.append(f"drafting apart from verifying{bound}: {_DRAFT.get(engine, _DRAFT_ELSE)}")
    return lacks


_PLAIN = {
    "vllm": "run the same prompts on `vllm serve MODEL --enable-per-request-metrics` without --speculative-config and "
    "add that file",
    "llama.cpp": "run the same prompts with --spec-type none and add that file",
    "sglang": "run the same prompts without --speculative-algorithm and add that log",
    "transformers": "run generate without assistant_model under the same counting and add that file",
}
_PLAIN_ELSE = "run the same prompts without speculation and add that file"
_TIME = {
    "vllm": "curl http://HOST:8000/metrics before and after some prompts, one request at a time, and give both files; "
    "or start with --enable-per-request-metrics",
    "llama.cpp": "keep the log's lines `eval time`, or the replies' timings",
    "sglang": "keep the log's lines `Decode batch` at one request at a time",
}
_TIME_ELSE = "give an output with the time of decoding"
_PLACES = {
    "vllm": "curl http://HOST:8000/metrics, or --per-request-spec-decode-metrics summary",
    "llama.cpp": "llama-server -lv 4 prints `acc per pos`; --metrics counts it too",
    "sglang": "POST /generate gives meta_info with spec_correct_drafts_histogram",
}
_PLACES_ELSE = "give an output with counts by position"
_DRAFT = {
    "vllm": "vLLM does not tell; run the same prompts at another num_speculative_tokens and give both files",
    "llama.cpp": "llama-server prints `statistics ... dur(b,g,a)` in its log",
    "sglang": "SGLang does not tell; run the same prompts at another --speculative-num-steps and give both files",
}
_NEVER_APART = ("vllm", "sglang")  # what they take together is known from three lengths, plain decoding among them
_DRAFT_ELSE = "run the same prompts at another draft length and give both files"


def _reached(profile: DraftProfile) -> int:
    """Positions that some drafts survive to; 0 where positions are not told."""
    return sum(share.value >= NEVER_REACHED for share in profile.survival)


def _wasteful(profile: DraftProfile) -> bool:
    return bool(profile.drafted and profile.accepted is not None and profile.accepted < 0.4 * profile.drafted)


def _looks_up(profile: DraftProfile) -> bool:
    """Whether transformers' drafts were copied from the prompt, so that there is no assistant."""
    return profile.drafter.startswith("PromptLookup")


def _length(profile: DraftProfile, k: int) -> str:
    engine = profile.engine
    if engine == "vllm":
        return f'--speculative-config \'{{"method": "METHOD", "model": "DRAFT", "num_speculative_tokens": {k}}}\''
    if engine == "llama.cpp":
        return f"--spec-draft-n-max {k}"
    if engine == "sglang":
        return f"--speculative-num-steps {k} --speculative-eagle-topk 1 --speculative-num-draft-tokens {k + 1}"
    if engine == "transformers":
        if _looks_up(profile):
            return f"model.generate(**inputs, prompt_lookup_num_tokens={k})"
        return (
            f"assistant.generation_config.num_assistant_tokens = {k}\n"
            'assistant.generation_config.num_assistant_tokens_schedule = "constant"'
        )
    return f"draft length {k}"


def _off(engine: str) -> str:
    return {
        "vllm": "vllm serve MODEL  # without --speculative-config",
        "llama.cpp": "--spec-type none",
        "sglang": "python -m sglang.launch_server --model-path MODEL  # without --speculative-algorithm",
        "transformers": "model.generate(**inputs)  # without assistant_model and prompt_lookup_num_tokens",
    }.get(engine, "plain decoding")


def _begin(profile: DraftProfile) -> list[Remedy]:
    """Why nothing was drafted, by engine, and what starts it."""
    if profile.engine == "llama.cpp":
        if "ngram" in profile.drafter:
            why = "The lookup found nothing to copy: shorten its key, or add a draft model behind it."
            return [Remedy(why, "--spec-type ngram-mod,draft-simple -md DRAFT.gguf --spec-ngram-mod-n-match 12")]
        why = (
            "llama-server drafts only with --spec-type, which is `none` unless given: a model named with -md is loaded "
            "and not used."
        )
        return [Remedy(why, "--spec-type draft-simple -md DRAFT.gguf --spec-draft-n-max 3")]
    if profile.engine == "vllm":
        why = "The server runs without --speculative-config, or its n-gram lookup found nothing to copy."
        text = '--speculative-config \'{"method": "draft_model", "model": "DRAFT", "num_speculative_tokens": 3}\''
        return [Remedy(why, text)]
    if profile.engine == "sglang":
        why = "The server runs without --speculative-algorithm, or has fallen back to plain decoding."
        text = (
            "--speculative-algorithm STANDALONE --speculative-draft-model-path DRAFT --speculative-num-steps 3 "
            "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
        )
        return [Remedy(why, text)]
    return [Remedy("generate had no assistant.", "model.generate(**inputs, assistant_model=assistant)")]


def texts(found: Sequence[Remedy]) -> list[str]:
    """As one line each."""
    return [f"{remedy.why} {' '.join(remedy.text.split(chr(10)))}" for remedy in found]
