"""How each engine is told to draft by MTP heads, an EAGLE-3 or a DFlash drafter, or suffix decoding.

Versions are the oldest whose documentation or source was read to have it. vLLM: docs/features/speculative_decoding.
SGLang: server_args.py of 0.5.9 and 0.5.11. TensorRT-LLM: docs/source/features/speculative-decoding.md. llama.cpp:
common/speculative.cpp, pull requests 22673, 18039 and 22105. transformers: GenerationConfig of 5.23. LM Studio: notes
of release 0.4.14. mlx-vlm: its server of 0.7.10. mlx-lm: models of 0.32.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# what it is called, and when it is worth a try
KINDS = {
    "mtp": ("multi-token prediction (MTP)", "If the checkpoint has heads for it, as DeepSeek-V3, GLM-4.5 and Qwen3.5"),
    "eagle3": ("EAGLE-3", "If an EAGLE-3 drafter was trained for this very model"),
    "dflash": ("DFlash", "If a DFlash drafter, which drafts a block in one pass, was trained for this very model"),
    "suffix": ("suffix decoding", "For text that comes again (edited code, agents' steps), without a drafter"),
}
LENGTHS = {"mtp": 2, "eagle3": 3, "dflash": 8, "suffix": 8}  # to begin with


@dataclass(frozen=True, slots=True)
class Way:
    """text: to copy, with {k} and {k1} = k + 1. since: a version, None where the engine lacks it.

    nearest: what `text` starts then. note: behind the version.
    """

    text: str
    since: str | None = None
    nearest: str = ""
    note: str = ""


def _vllm(more: str) -> str:
    return f"--speculative-config '{{{{{more}, \"num_speculative_tokens\": {{k}}}}}}'"


def _sglang(more: str) -> str:
    return f"{more} --speculative-num-steps {{k}} --speculative-eagle-topk 1 --speculative-num-draft-tokens {{k1}}"


def _trtllm(decoding: str, more: str = "") -> str:
    return f"speculative_config:\n  decoding_type: {decoding}\n  max_draft_len: {{k}}{more}"


_WAYS: Mapping[str, Mapping[str, Way]] = {
    "vllm": {
        "mtp": Way(_vllm('"method": "mtp"'), "0.12"),
        "eagle3": Way(_vllm('"method": "eagle3", "model": "DRAFT"'), "0.12"),
        "dflash": Way(_vllm('"method": "dflash", "model": "DRAFT"'), "0.19"),
        "suffix": Way(_vllm('"method": "suffix"'), "0.12", note=" (it may ask for pip install arctic-inference)"),
    },
    "sglang": {
        "mtp": Way(_sglang("--speculative-algorithm EAGLE"), "0.5.9"),
        "eagle3": Way(_sglang("--speculative-algorithm EAGLE3 --speculative-draft-model-path DRAFT"), "0.5.9"),
        "dflash": Way(
            "--speculative-algorithm DFLASH --speculative-draft-model-path DRAFT --speculative-dflash-block-size {k}",
            "0.5.11",
        ),
        "suffix": Way("--speculative-algorithm NGRAM --speculative-num-draft-tokens {k}", nearest="its n-grams"),
    },
    "tensorrt-llm": {
        "mtp": Way(_trtllm("MTP"), "1.3"),
        "eagle3": Way(_trtllm("Eagle3", "\n  speculative_model: DRAFT"), "1.3"),
        "dflash": Way(_trtllm("DFlash", "\n  speculative_model: DRAFT"), "1.3"),
        "suffix": Way(_trtllm("SA"), "1.3"),
    },
    "llama.cpp": {
        "mtp": Way("--spec-type draft-mtp --spec-draft-n-max {k}", "b9180"),
        "eagle3": Way("--spec-type draft-eagle3 -md EAGLE3.gguf --spec-draft-n-max {k}", "of June 2026 (#18039)"),
        "dflash": Way("--spec-type draft-dflash -md DFLASH.gguf --spec-draft-n-max {k}", "of June 2026 (#22105)"),
        "suffix": Way("--spec-type ngram-mod", nearest="ngram-mod, which remembers all requests"),
    },
    "transformers": {
        "mtp": Way("model.generate(**inputs, use_mtp=True)", "5.23"),
        "eagle3": Way(""),
        "dflash": Way('model.generate(**inputs, assistant_model=drafter, speculation_type="dflash")', "5.23"),
        "suffix": Way("model.generate(**inputs, prompt_lookup_num_tokens={k})", nearest="prompt lookup"),
    },
    "lmstudio": {
        "mtp": Way("MTP: on  # among the load parameters of the model", "0.4.14"),
        **{kind: Way("") for kind in ("eagle3", "dflash", "suffix")},
    },
    "mlx-vlm": {
        **{kind: Way(f"--draft-model DRAFT --draft-kind {kind}", "0.7.10") for kind in ("mtp", "eagle3", "dflash")},
        "suffix": Way(""),
    },
    "mlx-lm": {kind: Way("") for kind in KINDS},
}
# by a part of the drafter's name, in lower case; NEXTN is what SGLang calls MTP too
_PARTS = {
    "mtp": "mtp",
    "nextn": "mtp",
    "eagle3": "eagle3",
    "eagle": "heads",  # of an older EAGLE, or SGLang's name of MTP
    "dflash": "dflash",
    "dspark": "dflash",
    "medusa": "heads",
    "suffix": "suffix",
    "ngram": "lookups",
    "n-gram": "lookups",
    "lookup": "lookups",
}


def kind_of(drafter: str) -> str:
    """What a drafter is, by its name: one of `KINDS`, "heads", "lookups", "model", or "" where it has no name."""
    name = drafter.lower()
    return next((kind for part, kind in _PARTS.items() if part in name), "model" if name else "")


def syntax(engine: str, kind: str, k: int) -> str:
    """What starts that kind of drafting with drafts of k tokens; "" where that is not known."""
    way = _WAYS.get(engine, {}).get(kind)
    return _filled(way, kind, k) if way and way.since and "{k}" in way.text else ""


def others(engine: str, title: str) -> Iterator[tuple[str, str]]:
    """(why, text) of each kind of drafting that the engine has, then of what is nearest to one that it lacks.

    A last one, without a text, names what it lacks. Nothing for an engine whose documentation was not read.
    """
    lacking = []
    for kind, way in _WAYS.get(engine, {}).items():
        name, when = KINDS[kind]
        if way.since:
            yield f"{when}: {name}, in {title} {way.since} or newer{way.note}.", _filled(way, kind)
        elif way.nearest:
            yield f"{when}: {title} has no {name}; the nearest is {way.nearest}.", _filled(way, kind)
        else:
            lacking.append(name)
    if lacking:
        listed = " or ".join([", ".join(lacking[:-1]), lacking[-1]] if lacking[1:] else lacking)
        yield f"{title} has no {listed}.", ""


def _filled(way: Way, kind: str, k: int | None = None) -> str:
    k = k or LENGTHS[kind]
    return way.text.format(k=k, k1=k + 1)
