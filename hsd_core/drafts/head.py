"""A trained draft at work: in-projection, its own layers over its own cache, norm, trimmed head, and what it copies.

The layers are run by the same code as the target's, so a draft costs what its weights cost, and its rows do not depend
on what other rows are computed beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.drafts.copying import Copier, Gate
from hsd_core.drafts.copying_there import copier, mark_of
from hsd_core.drafts.draft_file import DraftInfo
from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.gpu.text import Mark
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Head, Int8, Linear, Plain, aligned, nbytes
from hsd_core.models.one_pass import Pass
from hsd_core.trace import Copied

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder


@dataclass(frozen=True, slots=True)
class DraftCache:
    """What one run remembers: keys and values of the draft's own layers, and what its context says twice.

    The copier follows whatever context it is given, so it is never told to go back.
    """

    layers: KVCache
    copier: Copier

    @property
    def length(self) -> int:
        """See `Cache`."""
        return self.layers.length

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`."""
        self.layers.keep(base, path)

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        self.layers.cut(length)

    def mark(self) -> object:
        """See `Cache.mark`."""
        return self.layers.mark()

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        self.layers.restore(mark)


class OpenedDraft:
    """A trained draft, whatever runs it. Read-only; one may serve many runs (see `levels.readout.Readout`).

    Args:
        info: the file's header. tensors: its contents. decoder: the target, whose head rows and sizes it shares.
    """

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        self.name, self.at, self.fed, self.layers, self.hidden = info.name, info.at, info.fed, info.layers, info.hidden
        self.about, self.vocab_size = info, decoder.vocab_size
        self._shape = replace(decoder.shape, layers=info.layers)
        self.ids = tensors["ids"].long().to(decoder.device)
        self._gate = Gate(*(aligned(tensors[f"copy.{part}"].float()).to(decoder.device) for part in Gate._fields))

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """See `Readout.copied`."""
        return own(cache, DraftCache).copier.copied(token, row)

    def mark(self, cache: Cache) -> Mark | None:
        """See `Readout.mark`."""
        return mark_of(own(cache, DraftCache).copier)


class DraftHead(OpenedDraft):
    """A draft over a lean decoder, run by torch."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._float = computes_in(decoder.dtype, decoder.device)
        on_cpu = torch.device(decoder.device).type == "cpu"

        def product(name: str) -> Linear:
            weight, scale = (tensors[part].to(decoder.device) for part in (name, f"{name}.scale"))
            if on_cpu and Int8.takes(weight):
                return Int8.of(weight, scale)
            # the kernel is the CPU's, and takes some widths; elsewhere the same rounded weights are kept dense
            return Plain((weight.float() * scale.float()[:, None]).to(self._float))

        def vector(name: str) -> Tensor:
            return aligned(tensors[name].to(device=decoder.device, dtype=self._float))

        def layer(at: str) -> Layer:
            return Layer(
                attention_norm=vector(f"{at}.attention_norm"),
                qkv=product(f"{at}.qkv"),
                q_norm=None,
                k_norm=None,
                out=product(f"{at}.out"),
                mlp_norm=vector(f"{at}.mlp_norm"),
                gate_up=product(f"{at}.gate_up"),
                down=product(f"{at}.down"),
            )

        self._layers = Layers(
            self._shape,
            [layer(f"layers.{i}") for i in range(info.layers)],
            dtype=self._float,
            device=decoder.device,
            rotary=decoder.stack.rotary,
            graphs=decoder.stack.graphs,
        )
        self._read, self._norm = product("read"), vector("norm")
        # not int8: its kernel rounds its results to bfloat16, and such logits tie often (step 0.125 at 16)
        self._head = Head(decoder.head_rows(self.ids), self._float)

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run."""
        layers = self._layers.new_cache(capacity)
        self._layers.prepare(layers, [self.layers])
        return DraftCache(layers, copier(self._gate))

    @torch.inference_mode()
    def forward(
        self, given: Pass, x: Tensor, cache: Cache, line: Sequence[int], fed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. Logits are -inf for tokens that the trimmed head cannot say and nothing copies."""
        kept, x = own(cache, DraftCache), self._normal(x)
        if fed is not None:
            x = torch.cat((x, self._normal(fed)), -1)
        states = self._layers.forward(given, self._read(x), kept.layers, 0, self.layers)
        last = states[len(states) - given.wanted :]
        read = F.rms_norm(last, self._norm.shape, self._norm, self._shape.norm_eps)
        logits = read.new_full((given.wanted, self.vocab_size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(read)
        return kept.copier.mix(line, logits, last, given.sees), states

    def weight_bytes(self) -> int:
        """That a pass reads."""
        return nbytes(self._read) + sum(self._layers[i].nbytes for i in range(self.layers)) + self._head.nbytes

    def _normal(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.to(self._float), (x.shape[-1],), eps=self._shape.norm_eps)
