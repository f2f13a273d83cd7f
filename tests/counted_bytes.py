"""What a pass of a level reads on a GPU, for models whose weights need not be here: by the sizes in their configs.

The levels are those that a stack is built of, over weights without memory ("meta"), and their bytes are `work_of`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.readout import TrimmedHead
from hsd_core.measure.passes.level_passes import work_of
from hsd_core.measure.tables import markdown
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.shape import LeanShape
from hsd_core.systems.exits.exit_level import ExitLevel

TEXT, ROWS = 128, 1
TRIMMED = 16_384  # tokens of a trimmed head
FLOAT32 = 4  # bytes
_LLAMA = {
    "model_type": "llama",
    "vocab_size": 128_256,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 2048,
}
CONFIGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "Llama 3.2 1B": {
            **_LLAMA,
            "hidden_size": 2048,
            "intermediate_size": 8192,
            "num_hidden_layers": 16,
            "head_dim": 64,
            "tie_word_embeddings": True,
        },
        "Llama 3.1 8B": {**_LLAMA, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32},
    }
)


class Read(NamedTuple):
    """A level's pass: bytes that it reads, and that it read with a head in float32."""

    level: str
    now: int
    before: int


def weightless(config: Mapping[str, Any], dtype: str = "bfloat16") -> LeanDecoder:
    """A decoder of these sizes as a GPU keeps it, on torch's device for tensors without memory."""
    shape, inner = LeanShape.from_config(dict(config)), config["intermediate_size"]
    query, kept = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    sizes = {"self_attn.q_proj": (query, shape.hidden), "self_attn.o_proj": (shape.hidden, query)}
    sizes |= dict.fromkeys(("self_attn.k_proj", "self_attn.v_proj"), (kept, shape.hidden))
    sizes |= dict.fromkeys(("mlp.gate_proj", "mlp.up_proj"), (inner, shape.hidden))
    sizes["mlp.down_proj"] = (shape.hidden, inner)
    named: dict[str, tuple[int, ...]] = {"model.norm.weight": (shape.hidden,)}
    heads = ["model.embed_tokens.weight"] + ([] if shape.tied else ["lm_head.weight"])
    named |= dict.fromkeys(heads, (shape.vocab_size, shape.hidden))
    for i in range(shape.layers):
        named |= {f"model.layers.{i}.{name}.weight": size for name, size in sizes.items()}
        norms = (f"model.layers.{i}.{name}_layernorm.weight" for name in ("input", "post_attention"))
        named |= dict.fromkeys(norms, (shape.hidden,))

    def weight(name: str) -> Tensor:
        return torch.empty(named[name], dtype=torch.bfloat16, device="meta")

    return LeanDecoder(shape, weight, set(named), dtype=dtype, device="meta")


def reads(config: Mapping[str, Any]) -> Iterator[Read]:
    """A pass of one row behind a text of `TEXT` tokens, of the target and of what may draft for it."""
    decoder, copy = weightless(config), weightless(config, "int4")
    eighth, head = decoder.layers // 8, decoder.vocab_size * decoder.shape.hidden
    wide = FLOAT32 * head - (decoder.weight_bytes(1) - decoder.weight_bytes(1, head=False))
    trimmed, layers = TrimmedHead(decoder, range(TRIMMED)), f"exit@at={eighth}@id=lens"
    levels = {
        "target": (_whole(decoder, "target"), wide),
        layers: (ExitLevel(decoder, eighth), wide),
        f"{layers}@vocab={TRIMMED}": (ExitLevel(decoder, eighth, trimmed), 0),
        "int4": (_whole(copy, "int4"), wide),
        f"int4@vocab={TRIMMED}": (_whole(copy, "int4", range(TRIMMED)), 0),
    }
    for name, (level, more) in levels.items():
        now = work_of(level, TEXT, ROWS).bytes_read
        yield Read(name, now, now + more)


def _whole(decoder: LeanDecoder, name: str, says: Sequence[int] | None = None) -> ModelLevel:
    return ModelLevel(decoder, name=name, kind=name, label=name, head_ids=says)


def table() -> str:
    """A row a model and level: GB and shares of the target's pass, with a float32 head and now."""
    body = []
    for name, config in CONFIGS.items():
        found = list(reads(config))
        target = found[0]
        for one in found:
            said = (
                (f"{one.before / 1e9:.2f}", f"{one.before / target.before:.0%}") if one.before > one.now else ("", "")
            )
            now = (f"{one.now / 1e9:.2f}", f"{one.now / target.now:.0%}")
            body.append((name, f"`{one.level}`", *said, *now))
    head = ("model", "level", "GB, head in float32", "of the target", "GB now", "of the target")
    return markdown(head, body)
