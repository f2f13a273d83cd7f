"""Random DFlash drafters as z-lab publishes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file

BLOCK, MASK, LAYERS = 5, 3, (0, 1, 2)  # the last: whose outputs it reads, as configs count them


def written(
    folder: Path, *, vocab: int, width: int, layers: int = 2, window: int | None = None, **more: Any
) -> tuple[Path, Any]:
    """A random drafter as z-lab publishes one, and the same as a model of transformers."""
    torch.manual_seed(7)
    sizes = {
        "hidden_size": width,
        "intermediate_size": 40,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "rms_norm_eps": 1e-5,
    }
    own = {"mask_token_id": MASK, "target_layer_ids": [*LAYERS]}
    kinds = ["full_attention"] * layers
    seen = {"layer_types": kinds}
    if window:  # in the last layer
        kinds[-1], seen["sliding_window"] = "sliding_attention", window
    rope = {"rope_type": "default", "rope_theta": 700.0}
    config = transformers.MuseGlimmerAssistantConfig(
        **sizes, **own, **seen, rope_parameters=rope, block_size=BLOCK, pad_token_id=0
    )
    config._attn_implementation = "eager"
    model = transformers.MuseGlimmerAssistantModel(config).eval()
    for name, tensor in model.named_parameters():
        tensor.data = torch.randn_like(tensor) * 0.3 + ("norm" in name)
    said = {"encoder.fc": "fc", "encoder.output_norm_enc": "hidden_norm"}
    weights = {}
    for name, tensor in model.state_dict().items():
        at = next((at for at in said if name.startswith(at)), None)
        weights[name.replace(at, said[at]) if at else name] = tensor.contiguous()
    folder.mkdir(exist_ok=True)
    save_file(weights, folder / "model.safetensors")
    told = {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        **sizes,
        **seen,
        "vocab_size": vocab,
        "rope_theta": 700.0,
        "block_size": BLOCK,
        "dflash_config": own,
    }
    (folder / "config.json").write_text(json.dumps(told | more), encoding="utf-8")
    return folder, model
