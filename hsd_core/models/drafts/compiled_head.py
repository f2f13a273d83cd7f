"""The forward pass of a trained draft by onnxruntime, over a compiled target: as `DraftHead`, in one session."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from statistics import median

import numpy as np
import torch
from torch import Tensor

from hsd_core.models.cache import Cache, own
from hsd_core.models.compiled import graph as graphs
from hsd_core.models.compiled.bound_cache import CompiledCache, filler_rows
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.compiled.graph import Graph, LayerWeights, Product, dense
from hsd_core.models.compiled.products import of_rows, product
from hsd_core.models.compiled.session import BoundInputs, Session
from hsd_core.models.drafts.copying import Copier
from hsd_core.models.drafts.draft_file import DraftInfo
from hsd_core.models.drafts.head import DraftCache, OpenedDraft
from hsd_core.models.lean.linear import aligned
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import TrimmedLogits

END = 2**62  # of a slice: to the end
KEPT_INPUTS = 16  # the longest pass whose memory is kept
TRIES, TRIED = 15, (1, 4)  # passes to choose the number of threads, and their inputs: in a draft, after a round


@dataclass(frozen=True, slots=True)
class PassMemory:
    """Memory of passes of n inputs and r rows, bound once: x, fed and states (n, hidden), own (r, R), drawn (r, gates).
    `fed` is not read by a draft without features."""

    bound: BoundInputs
    x: np.ndarray
    fed: np.ndarray
    states: np.ndarray
    own: np.ndarray
    drawn: np.ndarray


@dataclass(frozen=True, slots=True)
class PlacedCache(DraftCache):
    """With memory for passes, by the number of inputs and rows."""

    layers: CompiledCache
    places: dict[tuple[int, int], PassMemory] = field(default_factory=dict)


def columns_of(ids: Tensor, vocab: int) -> list[int]:
    """Token -> its column of a trimmed head; the number of columns if it lacks it (see `Copier.mix_trimmed`)."""
    columns = [len(ids)] * vocab
    for column, token in enumerate(ids.tolist()):
        columns[token] = column
    return columns


class CompiledDraft(OpenedDraft):
    """A draft over a compiled decoder, run by onnxruntime. The trimmed head is kept in 8 bits.

    Attributes:
        threads: of its session, one or all: what was faster when it was opened. Its products are so short that waking
            a thread for each may cost more than it saves, depending on the machine.
    """

    def __init__(self, info: DraftInfo, tensors: dict[str, Tensor], decoder: CompiledDecoder) -> None:
        super().__init__(info, tensors, decoder)
        self._tables = decoder.tables
        self._columns = columns_of(self.ids, self.vocab_size)
        self._make = partial(self._made, tensors, decoder)
        self.threads = decoder.threads
        self._joining = self._joined(tensors, decoder) if self.joined else None
        self._session = self._make(False)
        if decoder.threads > 1:
            self._choose(1)

    def new_cache(self, capacity: int) -> PlacedCache:
        """A cache for one run."""
        return PlacedCache(CompiledCache(self._shape, self.layers, capacity, self._tables), Copier(*self._gates))

    @torch.inference_mode()
    def join(self, states: Tensor) -> Tensor:
        """See `LeanDraft.join`."""
        assert self._joining is not None
        bound, made = self._joining.bound(), torch.empty(1, len(states), self.hidden)
        bound.input("states", aligned(states.float())[None])
        bound.output("fed", made)
        bound()
        return made[0]

    def forward(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """See `DraftHead.forward`."""
        rows, states = self.trimmed(given, x, cache, line, fed, begun)
        return rows.values, states

    def trimmed(
        self,
        given: Pass,
        x: Tensor,
        cache: Cache,
        line: Sequence[int],
        fed: Tensor | None = None,
        begun: int | None = None,
    ) -> tuple[TrimmedLogits, Tensor]:
        """`forward`, with the rows over the head's own tokens."""
        kept, n, rows, tree = own(cache, PlacedCache), len(x), given.wanted, given.tree is not None
        place = (None if tree else kept.places.get((n, rows))) or self._place(kept, n, rows, tree)
        place.x[:] = x.numpy()
        if fed is not None:
            place.fed[:] = fed.numpy()
        if tree:
            for name, tensor in kept.layers.steer(given).items():
                place.bound.input(name, tensor)
        else:
            kept.layers.place_chain(given)
        place.bound()
        kept.layers.length = given.end
        drawn = (place.drawn[:, 0] if begun is None else place.drawn.diagonal(begun)).tolist()
        mixed = kept.copier.mix_trimmed(
            line, place.own, drawn, self._columns, self.ids, self.vocab_size, given.sees, begun
        )
        return mixed, torch.from_numpy(place.states.copy())

    def _choose(self, threads: int) -> None:
        """Use this number of threads from now on, if that is faster."""
        usual = self.threads, self._session
        self.threads = threads
        other = threads, self._make(False)
        ms: list[list[float]] = [[], []]
        caches = [self.new_cache(2 * max(TRIED)) for _ in ms]
        for _ in range(TRIES):
            for (_, self._session), cache, own_ms in zip((usual, other), caches, ms, strict=True):
                began = time.perf_counter()
                for n in TRIED:
                    cache.cut(0)
                    x = torch.zeros(n, self.hidden)
                    self.forward(Pass([0] * n), x, cache, [0] * n, x if self.fed else None)
                own_ms.append(time.perf_counter() - began)
        self.threads, self._session = other if median(ms[1]) < median(ms[0]) else usual

    @cached_property
    def _branching(self) -> Session:
        """The session for trees; a chain needs no mask over its text."""
        return self._make(True)

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return self._session.nbytes + (self._joining.nbytes if self._joining is not None else 0)

    def _place(self, cache: PlacedCache, n: int, rows: int, tree: bool) -> PassMemory:
        wide, columns = self.hidden, len(self.ids)
        sizes = {"x": (n, wide), "fed": (n, wide), "states": (n, wide), "own": (rows, columns)}
        sizes["drawn"] = rows, len(self._gates)
        held = {name: torch.empty(1, *size) for name, size in sizes.items()}
        bound = cache.layers.bind(self._branching if tree else self._session, range(self.layers))
        for name in ("x", "fed")[: 1 + self.fed]:
            bound.input(name, held[name])
        bound.input("fill", cache.layers.filling(filler_rows(n)))
        bound.input("first", torch.tensor([n - rows]))
        for name in ("states", "own", "drawn"):
            bound.output(name, held[name])
        made = PassMemory(bound, **{name: tensor.numpy()[0] for name, tensor in held.items()})
        if n <= KEPT_INPUTS and not tree:
            cache.places[n, rows] = made
        return made

    def _made(self, tensors: dict[str, Tensor], decoder: CompiledDecoder, tree: bool) -> Session:
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
        branches = graphs.branching(graph) if tree else ("", "")
        first = graph.input("first", "int64", [1])
        normal = [graph.norm(x, "ones", torch.ones(wide), eps) for x in taken]
        if self.about.gated:
            read = _gated(graph, tensors, normal)
        else:
            read = kept("read")(graph, "read", graph.op("Concat", normal, axis=2) if self.fed else normal[0])
        numbered = [(i, layer(f"layers.{i}")) for i in range(self.layers)]
        own = graph.output("states", [1, "n", wide])
        graphs.layers(graph, shape, read, numbered, own, branches)
        last = graph.op("Slice", [own, first, graph.numbers(END), graph.numbers(1)])
        y = graph.norm(last, "norm", dense(tensors["norm"]), eps)
        head = decoder.head_rows(self.ids)
        logits = product(head, "int8")(graph, "head", y)
        graph.put("LogSoftmax", [logits], [graph.output("own", [1, "r", len(head)])], axis=-1)
        # the gate's term from the states, as in `copying.mixed`
        unit = graph.norm(last, "unit", torch.ones(wide), torch.finfo(torch.float32).eps)
        drawn = graph.weight("gate", torch.stack([gate.state for gate in self._gates], 1) / wide**0.5)
        graph.put("MatMul", [unit, drawn], [graph.output("drawn", [1, "r", len(self._gates)])])
        return Session(graph, self.threads, decoder.profile)

    def _joined(self, tensors: dict[str, Tensor], decoder: CompiledDecoder) -> Session:
        """(1, n, F hidden) states, each normalised -> features."""
        graph, wide, eps, count = Graph(), self.hidden, float(self._shape.norm_eps), len(self.joined)
        states = graph.input("states", "float32", [1, "n", count * wide])
        parts = graph.ops("Split", [states, graph.numbers(*[wide] * count)], count, axis=2)
        normal = [graph.norm(part, f"ones{i}", torch.ones(wide), eps) for i, part in enumerate(parts)]
        joined = of_rows(tensors["join"], tensors["join.scale"])(graph, "join", graph.op("Concat", normal, axis=2))
        graph.put("Identity", [joined], [graph.output("fed", [1, "n", wide])])
        return Session(graph, decoder.threads, decoder.profile)


def _gated(graph: Graph, tensors: dict[str, Tensor], normal: Sequence[str]) -> str:
    """The first layer's input from embedding and feature, weighed by a gate: see `Student.read_in`."""
    halves = [half.contiguous() for half in tensors["read"].chunk(2, 1)]
    e, h = (
        of_rows(half, tensors["read.scale"])(graph, f"read{i}", x)
        for i, (half, x) in enumerate(zip(halves, normal, strict=True))
    )
    e = graph.op("QuickGelu", [e], domain=graphs.MICROSOFT, alpha=1.0)  # x sigmoid(x)
    both = graph.op("Concat", [h, e], axis=2)
    z = graph.op("Sigmoid", [of_rows(tensors["mix"], tensors["mix.scale"])(graph, "mix", both)])
    return graph.op("Add", [e, graph.op("Mul", [z, graph.op("Sub", [h, e])])])
