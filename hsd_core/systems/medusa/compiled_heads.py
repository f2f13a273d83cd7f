"""Heads over the last state of a compiled target, by onnxruntime: what `DraftHeads` computes, in one session."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hsd_core.models.cache import Cache, Positions, own
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.compiled.graph import MICROSOFT, Graph, dense
from hsd_core.models.compiled.products import of_rows, product
from hsd_core.models.compiled.session import Session
from hsd_core.models.drafts.compiled_head import columns_of
from hsd_core.models.drafts.copying import Copier
from hsd_core.models.drafts.draft_file import DraftInfo
from hsd_core.models.drafts.head import DraftCache, OpenedDraft
from hsd_core.models.lean.linear import aligned


class CompiledHeads(OpenedDraft):
    """Heads over a compiled decoder. All are computed in one pass, and the trimmed head, in 8 bits, is read once."""

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._columns = columns_of(self.ids, self.vocab_size)
        self._session = self._made(tensors, decoder)

    def new_cache(self, capacity: int) -> DraftCache:
        """For one run: the copies that its context offers."""
        return DraftCache(Positions(), Copier(*self._gates))

    @torch.inference_mode()
    def predict(self, state: Tensor, cache: Cache, line: Sequence[int], first: int) -> Tensor:
        """See `DraftHeads.predict`."""
        bound, own_rows, drawn = (
            self._session.bound(),
            torch.empty(1, self.ahead, len(self.ids)),
            torch.empty(1, self.ahead, 1),
        )
        bound.input("state", aligned(state.float())[None])
        bound.output("own", own_rows)
        bound.output("drawn", drawn)
        bound()
        copier = own(cache, DraftCache).copier
        rows, gates = own_rows[0, first:].numpy(), drawn[0, first:, 0].tolist()
        return copier.mix_trimmed(line, rows, gates, self._columns, self.ids, self.vocab_size, None, first).values

    def weight_bytes(self) -> int:
        """Bytes of weights that a pass reads."""
        return self._session.nbytes

    def _made(self, tensors: dict[str, Tensor], decoder: CompiledDecoder) -> Session:
        graph, wide, eps = Graph(), self.hidden, float(self._shape.norm_eps)
        state = graph.input("state", "float32", [1, 1, wide])
        x, read, drawn = graph.norm(state, "ones", torch.ones(wide), eps), list[str](), list[str]()
        for i, gate in enumerate(self._gates):
            at = f"heads.{i}."
            products = {}
            for name in ("read", "down"):
                products[name] = of_rows(tensors[at + name], tensors[f"{at}{name}.scale"])
            halves = zip(tensors[at + "gate_up"].chunk(2), tensors[at + "gate_up.scale"].chunk(2), strict=True)
            products["gate"], products["up"] = (of_rows(*half) for half in halves)
            y = products["read"](graph, at + "read", x)
            normal = graph.norm(y, at + "mlp_norm", dense(tensors[at + "mlp_norm"]), eps)
            opened = graph.op("QuickGelu", [products["gate"](graph, at + "gate", normal)], domain=MICROSOFT, alpha=1.0)
            inner = graph.op("Mul", [opened, products["up"](graph, at + "up", normal)])
            states = graph.op("Add", [y, products["down"](graph, at + "down", inner)])
            read.append(graph.norm(states, at + "norm", dense(tensors[at + "norm"]), eps))
            # the part of the copy gate that depends on the states, as in `copying.mixed`
            unit = graph.norm(states, f"{at}unit", torch.ones(wide), torch.finfo(torch.float32).eps)
            drawn.append(graph.op("MatMul", [unit, graph.weight(f"{at}gate_state", gate.state[:, None] / wide**0.5)]))
        logits = product(decoder.head_rows(self.ids), "int8")(graph, "head", graph.op("Concat", read, axis=1))
        graph.put("LogSoftmax", [logits], [graph.output("own", [1, self.ahead, len(self.ids)])], axis=-1)
        graph.put("Concat", drawn, [graph.output("drawn", [1, self.ahead, 1])], axis=1)
        return Session(graph, decoder.threads, decoder.profile)
