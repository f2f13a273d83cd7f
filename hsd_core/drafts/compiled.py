"""A trained draft at work by onnxruntime, behind a compiled target: what `DraftHead` computes, in one session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hsd_core.drafts.copying import Copier, Gate
from hsd_core.drafts.copying_there import Mark
from hsd_core.drafts.file import DraftInfo
from hsd_core.models.compiled import graph as graphs
from hsd_core.models.compiled.cache import CompiledCache
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.compiled.graph import Graph, LayerWeights, Product, dense
from hsd_core.models.compiled.products import of_rows, product
from hsd_core.models.compiled.session import Session
from hsd_core.models.linear import aligned
from hsd_core.models.passes import Branches
from hsd_core.trace import Copied

END = 2**62  # of a slice: as far as it goes


@dataclass(frozen=True, slots=True)
class DraftCache:
    """What one run remembers: keys and values of the draft's own layers, and what its context says twice."""

    layers: CompiledCache
    copier: Copier


class CompiledDraft:
    """Read-only; one may serve many runs (see `levels.readout.Readout`). The trimmed head is kept in 8 bits.

    Args:
        info: the file's header. tensors: its contents. decoder: the target, whose head rows and sizes it shares.
    """

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: CompiledDecoder) -> None:
        self.name, self.at, self.fed, self.layers, self.hidden = info.name, info.at, info.fed, info.layers, info.hidden
        self.vocab_size = decoder.vocab_size
        self.about = info
        self._shape = replace(decoder.shape, layers=info.layers)
        self._tables = decoder.tables
        self.ids = tensors["ids"].long()
        self._columns = [len(self.ids)] * self.vocab_size
        for column, token in enumerate(self.ids.tolist()):
            self._columns[token] = column
        self._gate = Gate(*(aligned(tensors[f"copy.{part}"].float()) for part in Gate._fields))
        self._session = self._made(tensors, decoder.head_rows(self.ids), decoder)

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run."""
        return DraftCache(CompiledCache(self._shape, self.layers, capacity, self._tables), Copier(self._gate))

    @torch.inference_mode()
    def forward(
        self,
        context: Sequence[int],
        x: Tensor,
        cache: DraftCache,
        start: int,
        rows: int,
        fed: Tensor | None = None,
        branches: Branches | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `Readout.forward`. Logits are -inf for tokens that the trimmed head cannot say and nothing copies."""
        n, own = len(x), torch.empty(1, *x.shape)
        heads = torch.empty(1, rows, len(self.ids))
        bound = cache.layers.bound(self._session, range(self.layers))
        bound.input("x", aligned(x)[None])
        if fed is not None:
            bound.input("fed", aligned(fed)[None])
        for name, tensor in cache.layers.steer(n, start, branches).items():
            bound.input(name, tensor)
        bound.input("first", torch.tensor([n - rows]))
        bound.output("states", own)
        bound.output("logits", heads)
        bound()
        mixed = cache.copier.mix_trimmed(
            context, heads[0], own[0, n - rows :], self._columns, self.ids, self.vocab_size, branches
        )
        return mixed, own[0]

    def weight_bytes(self) -> int:
        """That a pass reads."""
        return self._session.nbytes

    def copied(self, cache: DraftCache, token: int, row: int = -1) -> Copied | None:
        """See `Readout.copied`."""
        return cache.copier.copied(token, row)

    def mark(self, cache: DraftCache) -> Mark | None:
        """See `Readout.mark`."""
        return cache.copier.mark()

    def _made(self, tensors: dict[str, Tensor], head: Tensor, decoder: CompiledDecoder) -> Session:
        graph, shape, eps, wide = Graph(), self._shape, float(self._shape.norm_eps), self.hidden

        def kept(name: str) -> Product:
            return of_rows(tensors[name], tensors[f"{name}.scale"])

        def halves(name: str) -> tuple[Product, Product]:
            weights, scales = tensors[name].chunk(2), tensors[f"{name}.scale"].chunk(2)
            return of_rows(weights[0], scales[0]), of_rows(weights[1], scales[1])

        def layer(at: str) -> LayerWeights:
            gate, up = halves(f"{at}.gate_up")
            return LayerWeights(
                attention_norm=dense(tensors[f"{at}.attention_norm"]),
                qkv=kept(f"{at}.qkv"),
                out=kept(f"{at}.out"),
                mlp_norm=dense(tensors[f"{at}.mlp_norm"]),
                gate=gate,
                up=up,
                down=kept(f"{at}.down"),
            )

        taken = [graph.input(name, "float32", [1, "n", wide]) for name in ("x", "fed")[: 1 + self.fed]]
        graphs.steering(graph, shape)
        first = graph.input("first", "int64", [1])
        normal = [graph.norm(x, "ones", torch.ones(wide), eps) for x in taken]
        read = graph.op("Concat", normal, axis=2) if self.fed else normal[0]
        numbered = [(i, layer(f"layers.{i}")) for i in range(self.layers)]
        own = graph.output("states", [1, "n", wide])
        graphs.layers(graph, shape, kept("read")(graph, "read", read), numbered, own)
        last = graph.op("Slice", [own, first, graph.numbers(END), graph.numbers(1)])
        y = graph.norm(last, "norm", dense(tensors["norm"]), eps)
        graph.put("Identity", [product(head, "int8")(graph, "head", y)], [graph.output("logits", [1, "r", len(head)])])
        return Session(graph, decoder.threads, decoder.profile)
