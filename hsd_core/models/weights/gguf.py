"""GGUF to a folder of safetensors (dequantised), config and tokenizer, as transformers has them.

GGUF has other names of tensors and, for the llama architecture, stores the rows of q and k with rotary pairs as
neighbours; here they are reordered to halves. Safetensors are written one tensor at a time, so conversion never holds a
whole model in memory: 8 bytes of header length, a JSON header {name: {dtype, shape, data_offsets}}, then the bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from hsd_core.models.weights.source import WeightsError

DTYPES = {"float32": ("F32", 4), "float16": ("F16", 2)}


@dataclass(frozen=True, slots=True)
class Blob:
    """A tensor to be written: its name, shape, dtype, and a function that returns its values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    values: Callable[[], Any]  # -> numpy array of that many elements

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPES[self.dtype][1]


def write_safetensors(path: Path, blobs: Sequence[Blob], progress: Callable[[float, float], None]) -> None:
    """Write `blobs` in order; calls `progress(bytes written, bytes in all)` after each."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for blob in blobs:
        header[blob.name] = {
            "dtype": DTYPES[blob.dtype][0],
            "shape": list(blob.shape),
            "data_offsets": [at, at + blob.bytes],
        }
        at += blob.bytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data starts aligned
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        done = 0
        for blob in blobs:
            data = blob.values().astype(f"<{'f4' if blob.dtype == 'float32' else 'f2'}", copy=False).tobytes()
            if len(data) != blob.bytes:
                raise ValueError(f"{blob.name}: {len(data)} bytes where its shape says {blob.bytes}")
            file.write(data)
            done += blob.bytes
            progress(done, at)


_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5
_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# How text is split before merging, by GGUF's name of the rule.
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
        WeightsError: the tokenizer is not byte-level BPE, or splits text by an unknown rule.
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


_ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
Step = Callable[[float, float], None]


def convert(path: Path, folder: Path, *, stored: str, progress: Step) -> None:
    """Write model.safetensors, config.json and the tokenizer's files of the GGUF at `path` into `folder`.

    Args:
        stored: "float32" or "float16", the dtype of the written matrices (vectors stay float32).
        progress: called with bytes written, bytes in all.
    Raises:
        WeightsError: no GGUF, or one of a kind that we cannot run.
    """
    import gguf

    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, KeyError) as error:
        raise WeightsError(f"{path.name} is not a readable GGUF file: {error}; fetch it again") from error
    field = _Fields(reader)
    _refuse_part(field, path)
    config = _config(field, {t.name for t in reader.tensors}, path.name)
    try:
        blobs = [_blob(t, config, stored) for t in reader.tensors]
        files = tokenizer_files(field, path.name)
    except KeyError as error:
        raise WeightsError(f"{path.name}: {error.args[0]} is not known to the converter") from error
    write_safetensors(folder / "model.safetensors", blobs, progress)
    for name, value in {"config.json": config, **files}.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def _refuse_part(field: _Fields, path: Path) -> None:
    """
    Raises:
        WeightsError: the file is one of several that a model was split into.
    """
    if (parts := int(field("split.count", 0))) < 2:
        return
    number = int(field("split.no", 0)) + 1
    named = re.sub(r"-\d{5}-of-", "-00001-of-", path.name)
    first = named if number > 1 else path.name
    raise WeightsError(
        f"{path.name} is part {number} of {parts} of a GGUF model; make one file of them with llama.cpp's "
        f"`llama-gguf-split --merge {first} whole.gguf`, and name that"
    )


class _Fields:
    """Metadata by key; `of` reads a key of the file's own architecture."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.architecture = self("general.architecture")

    def __call__(self, key: str, default: Any = None) -> Any:
        field = self._reader.get_field(key)
        return default if field is None else field.contents()

    def of(self, key: str, default: Any = None) -> Any:
        return self(f"{self.architecture}.{key}", default)


def _config(field: _Fields, names: set[str], file: str) -> dict[str, Any]:
    kind = field.architecture
    if kind not in _ARCHITECTURES:
        raise WeightsError(f"{file} holds a {kind!r} model; from GGUF we read {', '.join(_ARCHITECTURES)}")
    if "rope_freqs.weight" in names or field.of("rope.scaling.type", "none") != "none":
        raise WeightsError(f"{file} scales its positions (RoPE scaling), which we read from safetensors only")
    if field.of("attention.sliding_window"):
        raise WeightsError(f"{file} has sliding-window attention, which we read from safetensors only")
    heads, hidden = field.of("attention.head_count"), field.of("embedding_length")
    eos, padding = field("tokenizer.ggml.eos_token_id"), field("tokenizer.ggml.padding_token_id")
    return {
        "architectures": [_ARCHITECTURES[kind]],
        "model_type": kind,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": field.of("feed_forward_length"),
        "num_hidden_layers": field.of("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": field.of("attention.head_count_kv", heads),
        "head_dim": field.of("attention.key_length", hidden // heads),
        "max_position_embeddings": field.of("context_length"),
        "rms_norm_eps": _shortest(field.of("attention.layer_norm_rms_epsilon")),
        "rope_theta": _shortest(field.of("rope.freq_base", 10_000.0)),
        "vocab_size": len(field("tokenizer.ggml.tokens", [])),
        "tie_word_embeddings": "output.weight" not in names,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        # a padding token that the model emits ends its text as well
        "eos_token_id": [eos] if padding in (None, eos) else [eos, padding],
        "use_sliding_window": False,
    }


def _shortest(value: float) -> float:
    """The number that was meant before it was stored in 32 bits: 9.999999747e-06 -> 1e-05."""
    import numpy

    return float(str(numpy.float32(value)))


def _blob(tensor: Any, config: dict[str, Any], stored: str) -> Blob:
    import gguf

    parts = tensor.name.split(".")
    if parts[0] == "blk":
        name = f"model.layers.{parts[1]}.{_INNER[parts[2]]}.{parts[3]}"
    else:
        name = f"{_OUTER[parts[0]]}.{parts[1]}"
    shape = tuple(int(n) for n in reversed(tensor.shape))
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(parts[-2])
    undo = config[heads] if heads and config["model_type"] == "llama" else 0

    def values() -> Any:
        array = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        return _halves(array, undo) if undo else array

    return Blob(name, shape, stored if len(shape) > 1 else "float32", values)


def _halves(rows: Any, heads: int) -> Any:
    """Rows of each head from neighbouring pairs (a0 b0 a1 b1 ...) to halves (a0 a1 ... b0 b1 ...)."""
    split = rows.reshape(heads, -1, 2, *rows.shape[1:])
    return split.swapaxes(1, 2).reshape(rows.shape)
