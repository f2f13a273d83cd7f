"""A GGUF's byte-level BPE tokenizer as tokenizer.json and tokenizer_config.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsd_core.models.weights.errors import WeightsError

_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5
_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# How text is cut before merging, by the name that GGUF gives the rule.
_DIGITS = {"type": "Digits", "individual_digits": True}
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLIT = {"type": "Split", "pattern": {"Regex": _QWEN2}, "behavior": "Isolated", "invert": False}
_CUTS: dict[str, tuple[list[dict[str, Any]], dict[str, Any] | None]] = {
    "smollm": ([_DIGITS, _BYTES], None),
    "qwen2": ([_SPLIT, {**_BYTES, "use_regex": False}], {"type": "NFC"}),
    "gpt-2": ([_BYTES], None),
}


def tokenizer_files(field: Callable[..., Any], file: str) -> dict[str, Any]:
    """{"tokenizer.json": ..., "tokenizer_config.json": ...} from a GGUF's metadata.

    Raises:
        WeightsError: the tokenizer is not byte-level BPE, or cuts text by a rule that is not known.
    """
    model, rule = field("tokenizer.ggml.model"), field("tokenizer.ggml.pre")
    if model != "gpt2" or rule not in _CUTS:
        raise WeightsError(
            f"{file} has a {model!r} tokenizer with the rule {rule!r}; from GGUF we read byte-level BPE with "
            f"{', '.join(_CUTS)}; use the model's safetensors"
        )
    tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    used = [(i, t, k) for i, (t, k) in enumerate(zip(tokens, kinds, strict=True)) if k != _UNUSED]
    cuts, normalizer = _CUTS[rule]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(i, t, k == _CONTROL) for i, t, k in used if k in (_CONTROL, _USER_DEFINED)],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts},
        "post_processor": None,
        "decoder": {**_BYTES, "add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {t: i for i, t, _ in used},
            "merges": [merge.split(" ") for merge in field("tokenizer.ggml.merges")],
        },
    }
    named = {"bos_token": "bos", "eos_token": "eos", "pad_token": "padding", "unk_token": "unknown"}
    ids = {name: field(f"tokenizer.ggml.{key}_token_id") for name, key in named.items()}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **{name: tokens[i] for name, i in ids.items() if i is not None},
        "chat_template": field("tokenizer.chat_template"),
    }
    return {"tokenizer.json": tokenizer, "tokenizer_config.json": config}


def _added(id_: int, content: str, special: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id_, "content": content, **plain, "special": special}
