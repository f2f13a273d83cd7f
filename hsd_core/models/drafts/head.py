"""The forward pass of a trained draft: in-projection, layers over its own cache, norm, trimmed head, copies.

The layers are run by the same code as the target's, so a draft's cost is that of its weights, and its rows do not
depend on which other rows are computed together with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.drafts.copying import Copier, Gate, copier, mark_of
from hsd_core.models.drafts.draft_file import DraftInfo
from hsd_core.models.gpu.device_text import Mark
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Head, Int8, Linear, Plain, aligned, nbytes
from hsd_core.models.one_pass import Pass
from hsd_core.models.suffixes import Copied

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder


@dataclass(frozen=True, slots=True)
class DraftCache:
    """One run's cache: keys and values of the draft's layers, if it has any, and the copier's index of its context.

    The copier adapts to any context it is given, so it needs no rollback.
    """

    layers: Cache
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
    """A trained draft, for any library. Read-only; one may serve many runs (see `levels.readout.Readout`).

    Args:
        info: the file's header. tensors: its contents. decoder: the target, whose head rows and sizes it shares.
    Attributes:
        joined, ahead, window, states: see `DraftInfo`. unknown: (ahead - 1, hidden) inputs for tokens that are not
            known yet.
    """

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        self.name, self.at, self.fed, self.layers, self.hidden = info.name, info.at, info.fed, info.layers, info.hidden
        self.joined, self.ahead, self.window, self.states = info.joined, info.ahead, info.window, info.states
        self.about, self.vocab_size = info, decoder.vocab_size
        self._shape = decoder.shape.of_draft(info.layers)
        self.ids = tensors["ids"].long().to(decoder.device)
        parts = [aligned(tensors[f"copy.{part}"].float()).to(decoder.device) for part in Gate._fields]
        several = zip(*parts, strict=True) if info.ahead > 1 else [parts]
        self._gates = [Gate(*(aligned(part) for part in gate)) for gate in several]
        unknown = tensors.get("unknown")
        self.unknown = None if unknown is None else unknown.float().to(decoder.device)

    def copied(self, cache: Cache, token: int, row: int = -1) -> Copied | None:
        """See `Readout.copied`."""
        return own(cache, DraftCache).copier.copied(token, row)

    def mark(self, cache: Cache) -> Mark | None:
        """See `Readout.mark`."""
        return mark_of(own(cache, DraftCache).copier)


class LeanDraft(OpenedDraft):
    """A draft that torch runs."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._float = computes_in(decoder.dtype, decoder.device)
        self._tensors, self._device = tensors, torch.device(decoder.device)
        self._join = self._product("join") if info.joined else None
        # not int8: its kernel rounds its results to bfloat16, and such logits tie often (step 0.125 at 16)
        self._head = Head(decoder.head_rows(self.ids), self._float)

    @torch.inference_mode()
    def join(self, states: Tensor) -> Tensor:
        """(n, F hidden) states of the layers of `joined` -> (n, hidden) features."""
        parts = states.chunk(len(self.joined), -1)
        assert self._join is not None
        return self._join(torch.cat([self._normal(part) for part in parts], -1))

    def _product(self, name: str) -> Linear:
        return self._of(self._tensors[name], self._tensors[f"{name}.scale"])

    def _halves(self, name: str) -> list[Linear]:
        """A product of two concatenated inputs, as one product for each."""
        return [self._of(half.contiguous(), self._tensors[f"{name}.scale"]) for half in self._tensors[name].chunk(2, 1)]

    def _of(self, weight: Tensor, scale: Tensor) -> Linear:
        weight, scale = weight.to(self._device), scale.to(self._device)
        if self._device.type == "cpu" and Int8.takes(weight):
            return Int8.of(weight, scale)
        # the kernel is for the CPU and some widths; otherwise the same rounded weights are kept dense
        return Plain((weight.float() * scale.float()[:, None]).to(self._float))

    def _vector(self, name: str) -> Tensor:
        return aligned(self._tensors[name].to(device=self._device, dtype=self._float))

    def _normal(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.to(self._float), (x.shape[-1],), eps=self._shape.norm_eps)

    def _logits(self, read: Tensor) -> Tensor:
        """(n, hidden) normalised last states -> (n, V) logits, -inf for tokens that the trimmed head lacks."""
        logits = read.new_full((len(read), self.vocab_size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(read)
        return logits


class DraftHead(LeanDraft):
    """A draft with layers, over a lean decoder."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: LeanDecoder) -> None:
        super().__init__(info, tensors, decoder)

        def layer(at: str) -> Layer:
            return Layer(
                attention_norm=self._vector(f"{at}.attention_norm"),
                qkv=self._product(f"{at}.qkv"),
                q_norm=None,
                k_norm=None,
                out=self._product(f"{at}.out"),
                mlp_norm=self._vector(f"{at}.mlp_norm"),
                gate_up=self._product(f"{at}.gate_up"),
                down=self._product(f"{at}.down"),
            )

        self._layers = Layers(
            self._shape,
            [layer(f"layers.{i}") for i in range(info.layers)],
            dtype=self._float,
            device=decoder.device,
            rotary=decoder.stack.rotary,
            graphs=decoder.stack.graphs,
        )
        self._read, self._norm = self._halves("read") if info.gated else [self._product("read")], self._vector("norm")
        self._mix = self._product("mix") if info.gated else None

    def new_cache(self, capacity: int) -> DraftCache:
        """A cache for one run."""
        layers = self._layers.new_cache(capacity)
        self._layers.prepare(layers, [self.layers])
        return DraftCache(layers, copier(*self._gates))

    @torch.inference_mode()
    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. Logits are -inf for tokens that are neither in the trimmed head nor copied.

        begun: the wanted rows are of successive positions after the line (see `Copier.mix`).
        """
        kept, x = own(cache, DraftCache), self._normal(x)
        assert isinstance(kept.layers, KVCache)
        if fed is not None:
            x = torch.cat((x, self._normal(fed)), -1)
        states = self._layers.forward(given, self._read_in(x), kept.layers, 0, self.layers)
        last = states[len(states) - given.wanted :]
        logits = self._logits(F.rms_norm(last, self._norm.shape, self._norm, self._shape.norm_eps))
        return kept.copier.mix(line, logits, last, given.sees, begun), states

    def _read_in(self, x: Tensor) -> Tensor:
        """(n, hidden or 2 hidden) normalised inputs -> (n, hidden), see `Student.read_in`."""
        if self._mix is None:
            return self._read[0](x)
        e, h = (read(half.contiguous()) for read, half in zip(self._read, x.chunk(2, -1), strict=True))
        e = F.silu(e)
        z = torch.sigmoid(self._mix(torch.cat((h, e), -1)))
        return z * h + (1 - z) * e

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        more = [*self._read, *(part for part in (self._join, self._mix) if part is not None)]
        return sum(map(nbytes, more)) + sum(self._layers[i].nbytes for i in range(self.layers)) + self._head.nbytes
