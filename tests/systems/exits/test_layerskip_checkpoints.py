"""LayerSkip's published checkpoints (arXiv 2404.16710): by their names on the Hub, with their configs scaled down.

Depths, ratios of heads, rotary bases and tied heads are those of the configs; widths and vocabulary are small, weights
random. The Hub is pretended.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from families import VOCABULARY, tokenizer
from family_table import logits, rows
from pretend_hub import Repo, hub
from toys import output_of

from hsd_core.models.weights import Source, ensure
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import target_preset

HEAD = 16
LLAMA3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
# layers, heads, heads of keys and values (scaled), width of the MLPs over the hidden size, rotary parameters, tied
CHECKPOINTS: dict[str, tuple[int, int, int, float, dict[str, Any], bool]] = {
    "llama2-7B": (32, 4, 4, 11008 / 4096, {"rope_theta": 1e4}, False),
    "llama2-13B": (40, 5, 5, 13824 / 5120, {"rope_theta": 1e4}, False),
    "llama2-70B": (80, 8, 1, 28672 / 8192, {"rope_theta": 1e4}, False),
    "codellama-7B": (32, 4, 4, 11008 / 4096, {"rope_theta": 1e6}, False),
    "codellama-34B": (48, 8, 1, 22016 / 8192, {"rope_theta": 1e6}, False),
    "llama3-8B": (32, 4, 1, 14336 / 4096, {"rope_theta": 5e5}, False),
    "llama3.2-1B": (16, 4, 1, 8192 / 2048, {"rope_theta": 5e5, **LLAMA3, "original_max_position_embeddings": 64}, True),
}


def checkpoint(name: str, folder: Path) -> dict[str, bytes]:
    """The files of a checkpoint, scaled down."""
    layers, heads, kv_heads, wide, rope, tied = CHECKPOINTS[name]
    hidden = heads * HEAD
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=round(hidden * wide / 16) * 16,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=256,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", **rope},
        tie_word_embeddings=tied,
        bos_token_id=1,
        eos_token_id=2,
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.25)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.everything] * (name != "llama3.2-1B")) for name in CHECKPOINTS]
)
def test_a_published_checkpoint_opens_by_its_name_and_its_exits_change_no_token(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    id_ = f"facebook/layerskip-{name}"
    layers = CHECKPOINTS[name][0]
    for variable in [one for one in os.environ if one.startswith(("HF_", "HUGGINGFACE_")) or "PROXY" in one.upper()]:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with hub({id_: Repo(checkpoint(name, tmp_path / "made"))}) as pretended:
        monkeypatch.setenv("HF_ENDPOINT", pretended.url)
        ensure(Source.parse(id_))
    preset = target_preset(id_)
    assert (preset.layers, preset.whole, preset.refused) == (layers, "", "")
    exits = f"exit:2@at={layers // 8}@id=lens,exit:4@at={layers // 4}@id=lens,target"  # HiSpec's two exits
    assert [one.stack for one in preset.stacks if one.name == "exits"] == [exits]
    pipeline = Pipeline.open(preset, stack="target", device="cpu")
    plain = output_of(list(pipeline.run("target", "The small level", max_new_tokens=12)))
    for stack in (exits, f"exit:6@at={layers // 2}@policy=del@id=lens,target"):
        assert output_of(list(pipeline.run(stack, "The small level", max_new_tokens=12))) == plain
    assert float((rows(tmp_path / "made", "lean") - logits(tmp_path / "made")).abs().max()) < 1e-3


def test_presets_over_these_checkpoints_have_their_depth() -> None:
    known = {f"facebook/layerskip-{name}": of[0] for name, of in CHECKPOINTS.items()}
    found = {one.target.id: one.layers for one in PRESETS.values() if one.target.id.startswith("facebook/layerskip")}
    assert len(found) == 4 and found.items() <= known.items()
