"""Named presets: which models, which stacks, where the weights come from. Data only; imports no torch.

What cannot be used says why: `Preset.status()` looks at this machine and its caches, never at the network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import Source, is_here
from hsd_core.models.weights.known import CODER_05, CODER_15, SMOLLM2, hub

_ASSETS = Path(__file__).resolve().parents[2] / "assets"


class UnknownPreset(ValueError):
    """A preset's name that is not in `PRESETS`."""


@dataclass(frozen=True, slots=True)
class Example:
    """A stack worth a look, and what it shows. `replan`: its levels are candidates, chosen anew between rounds."""

    name: str
    title: str
    stack: str
    note: str
    replan: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """A family of models with one tokenizer.

    Attributes:
        target: the last level's weights; `layers`: how many it has. draft: the weights of the level `model` unless it
            names others.
        default_stack: what Generate runs at first. gpu_stack: on an accelerator, where that differs.
        stacks: examples, some of which lose on purpose.
        cpu_dtype, gpu_dtype: of the models unless asked otherwise.
        memory_gb: what loading needs on a CPU; 0 if it is little.
        databases: n-gram databases in the order in which they are asked. model_db, text_db: their files.
        toy: built from tables in memory, without weights.
    """

    name: str
    title: str
    default_stack: str
    licence: str
    note: str
    target: Source
    layers: int = 0
    draft: Source | None = None
    stacks: tuple[Example, ...] = ()
    gpu_stack: str | None = None
    cpu_dtype: str = "float32"
    gpu_dtype: str = "bfloat16"
    memory_gb: float = 0.0
    databases: str = "c"
    model_db: Path | None = None
    text_db: Path | None = None
    toy: bool = False

    def stack(self, device: str) -> str:
        """The default stack on a device."""
        return self.gpu_stack or self.default_stack if device.startswith("cuda") else self.default_stack

    def dtype(self, device: str) -> str:
        """The dtype of the models on a device ("cpu", "cuda", "cuda:0")."""
        return self.gpu_dtype if device.startswith("cuda") else self.cpu_dtype

    @property
    def sources(self) -> tuple[Source, ...]:
        return () if self.toy else tuple(s for s in (self.draft, self.target) if s)

    def status(self) -> tuple[bool, str, float]:
        """(usable, the reason why not or what to expect, MB still to download). Instant; asks no network."""
        missing = [s for s in self.sources if not is_here(s)]
        download = sum((_cheapest(s).download_mb for s in missing), 0.0)
        memory = _memory_gb()
        if self.memory_gb and memory < self.memory_gb and not has_cuda():
            why = f"needs {self.memory_gb:.0f} GB of memory or a CUDA device; here are {memory:.0f} GB"
            return False, why, download
        if missing and any(_cheapest(s).kind == "hub" for s in missing):
            return True, f"{download:.0f} MB from the Hugging Face Hub on first use, if it answers", download
        return True, f"{download:.0f} MB from PyPI on first use" if missing else "", download


def _cheapest(source: Source) -> Source:
    asked = os.environ.get("HSD_WEIGHTS")
    return source.instead if source.instead and source.instead.kind == asked else source


def _memory_gb() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return float("inf")  # not told here: let it be tried


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
            Example("hierarchy", "Three floors", "ngram:3,int8:6,target", "lookups, sifted by int8, signed by float32"),
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
            Example("del", "An exit chosen anew", "exit:4@at=8@policy=del,target", "DEL: most tokens per layer"),
            Example("nano", "Nano drafts", "nano:2,int4:10,target", "one layer, fed with the int4 copy's last states"),
            Example(
                "miss",
                "Lookup, else nano",
                "ngram:3@policy=confidence@theta=0.4@miss=nano,target",
                "a nano drafts where the databases are silent",
            ),
            Example(
                "margin",
                "A copy in doubt",
                "ngram:3,int8:16@policy=margin@theta=0.2,target",
                "long blocks of int8, handed up where its two best tokens are close",
            ),
            Example("losing", "One that loses", "int8:32,target", "32 drafts in a row: one early miss wastes the rest"),
            Example("mirror", "Right, yet slower", "int8:4,target@dtype=int8", "a draft as dear as its verifier"),
            Example("plain", "Plain decoding", "target", "one token per forward: what the others are measured by"),
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
            Example("hierarchy", "Three floors", "ngram:3,int4:8,target", "lookups, sifted by int4, signed by float32"),
            Example(
                "tower",
                "Four floors",
                "ngram:2,model:3@dtype=int4,int4:8,target",
                "n-grams, 0.5 B and 1.5 B in 4 bits, then 1.5 B in float32",
            ),
            Example("pair", "Two models", "model:4@dtype=int4,target", "0.5 B in 4 bits drafts for 1.5 B"),
            Example("copy", "A copy signs", "ngram:3,target@dtype=int4", "quicker, but the text is the copy's own"),
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
        toy=True,
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
