"""The presets by name: which models, which stacks, where the weights come from. Data only; imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from hsd_core.levels.declared.preset import Example, Preset
from hsd_core.models.weights import Source
from hsd_core.models.weights.known import CODER_05, CODER_15, SMOLLM2, hub

_ASSETS = Path(__file__).resolve().parents[2] / "assets"


class UnknownPreset(ValueError):
    """A preset's name that is not in `PRESETS`."""


def _shipped(name: str) -> Path | None:
    path = _ASSETS / "ngram" / name
    return path if path.is_file() else None


_ALL = (
    Preset(
        name="smollm2",
        title="SmolLM2 135M",
        default_stack="ngram:3,int8:6,target",  # the quickest, or within a twentieth of it, with AVX2 and with AVX-512
        gpu_stack="ngram:4,target",
        licence="Apache-2.0",
        note=SMOLLM2.note,
        target=SMOLLM2,
        layers=30,
        stacks=(
            Example(
                "hierarchy", "Three floors", "ngram:3,int8:6,target", "lookups, checked by int8, approved by float32"
            ),
            Example("auto", "Auto", "ngram:2,nano:2,int8:6,target", "chooses its levels while it writes", replan=True),
            Example("lookup", "Lookup only", "ngram:4,target", "nearly free drafts; rows of the target do the rest"),
            Example("pair", "A copy drafts", "int4:8,target", "the target's weights in 4 bits draft token by token"),
            Example("int4", "int4 in between", "ngram:2,int4:5,target", "half the bytes of int8, not half the time"),
            Example(
                "hispec",
                "Early exits",
                "exit:2@at=4,exit:4@at=8@id=smollm2-exit8,target",
                "HiSpec: the target drafts for itself",
            ),
            Example("exit", "One early exit", "exit:4@at=8,target", "8 of the 30 layers draft, the others verify"),
            Example("del", "Exit chosen each round", "exit:4@at=8@policy=del,target", "DEL: most tokens per layer"),
            Example("nano", "Nano drafts", "nano:2,int4:10,target", "one layer, fed with the int4 copy's last states"),
            Example(
                "miss",
                "Lookup, else nano",
                "ngram:3@policy=confidence@theta=0.4@miss=nano,target",
                "a nano drafts where the databases have no answer",
            ),
            Example(
                "margin",
                "A copy in doubt",
                "ngram:3,int8:16@policy=margin@theta=0.2,target",
                "long int8 blocks, handed up where its two best tokens are close",
            ),
            Example("losing", "One that loses", "int8:32,target", "32 drafts in a row: one early miss wastes the rest"),
            Example(
                "mirror", "Right, yet slower", "int8:4,target@dtype=int8", "a draft that costs as much as its verifier"
            ),
            Example("plain", "Plain decoding", "target", "one token per forward: the baseline for the others"),
        ),
        databases="cms",
        model_db=_shipped("smollm2-model.npz"),
        text_db=_shipped("smollm2-text.npz"),
    ),
    Preset(
        name="qwen-coder",
        title="Qwen2.5-Coder 0.5B and 1.5B",
        default_stack="ngram:3,int4:8,target",
        gpu_stack="ngram:2,model:4,target",
        licence="Apache-2.0",
        note="separate models of one family, and copies of the larger one",
        target=CODER_15,
        layers=28,
        draft=CODER_05,
        stacks=(
            Example(
                "hierarchy", "Three floors", "ngram:3,int4:8,target", "lookups, checked by int4, approved by float32"
            ),
            Example(
                "tower",
                "Four floors",
                "ngram:2,model:3@dtype=int4,int4:8,target",
                "n-grams, 0.5 B and 1.5 B in 4 bits, then 1.5 B in float32",
            ),
            Example("pair", "Two models", "model:4@dtype=int4,target", "0.5 B in 4 bits drafts for 1.5 B"),
            Example("copy", "A copy decides", "ngram:3,target@dtype=int4", "faster, but the text is the copy's own"),
            Example("plain", "Plain decoding", "target", "one token per forward"),
        ),
        memory_gb=11.0,
    ),
    Preset(
        name="smollm2-hub",
        title="SmolLM2 360M and 1.7B",
        default_stack="ngram:2,model:4,target",
        licence="Apache-2.0",
        note="the Hub's own checkpoints",
        target=hub("HuggingFaceTB/SmolLM2-1.7B-Instruct", "SmolLM2-1.7B-Instruct", 3423.0),
        layers=24,
        draft=hub("HuggingFaceTB/SmolLM2-360M-Instruct", "SmolLM2-360M-Instruct", 724.0),
        stacks=(
            Example(
                "tower",
                "Four floors",
                "ngram:2,model:3@id=HuggingFaceTB/SmolLM2-135M-Instruct,model:6,target",
                "n-grams, 135 M, 360 M, 1.7 B",
            ),
        ),
        cpu_dtype="int8",
        memory_gb=8.0,
    ),
    Preset(
        name="qwen2.5-hub",
        title="Qwen2.5 1.5B and 7B",
        default_stack="model:4,target",
        licence="Apache-2.0",
        note="the Hub's own checkpoints",
        target=hub("Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct", 15_231.0),
        layers=28,
        draft=hub("Qwen/Qwen2.5-1.5B-Instruct", "Qwen2.5-1.5B-Instruct", 3087.0),
        stacks=(
            Example(
                "tower", "Three models", "model:3@id=Qwen/Qwen2.5-0.5B-Instruct,model:6,target", "0.5 B, 1.5 B, 7 B"
            ),
        ),
        cpu_dtype="int8",
        memory_gb=24.0,
    ),
    Preset(
        name="layerskip-hub",
        title="LayerSkip Llama 3.2 1B",
        default_stack="exit:4@at=6,target",
        licence="non-commercial, gated",
        note="trained for early exits: any layer is one, with the model's own head (arXiv 2404.16710)",
        target=hub("facebook/layerskip-llama3.2-1B", "LayerSkip-Llama-3.2-1B", 2472.0),
        layers=16,
        stacks=(
            Example("hispec", "Early exits", "exit:2@at=2,exit:4@at=4,target", "HiSpec's levels at 1/8 and 1/4"),
            Example("plain", "Plain decoding", "target", "one token per forward"),
        ),
        cpu_dtype="int8",
        memory_gb=8.0,
    ),
    Preset(
        name="toy",
        title="Character tables, no weights",
        default_stack="table:3@id=order1,table:5@id=order3,table@id=order6",
        licence="Apache-2.0",
        note="a table per level, counted from one paragraph: the real engine without a model",
        target=Source("table", "order6", "character table, order6"),
        has=frozenset({"tables"}),
    ),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({p.name: p for p in _ALL})


def preset_of(name: str) -> Preset:
    """
    Raises:
        UnknownPreset: there is none of that name.
    """
    if name not in PRESETS:
        raise UnknownPreset(f"unknown preset {name!r}; presets are {', '.join(PRESETS)}")
    return PRESETS[name]
