"""`compiled`: the models of `lean`, run by onnxruntime on the CPU.

Layers are in sessions, split at the depths that levels read and at `PART_BYTES`: every weight is in memory once, in the
layout of its kernel, and twice while its part is prepared. A pass through all layers is one call of onnxruntime for
each part.

Names: n inputs, V vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from hsd_core.models.cache import Cache, own
from hsd_core.models.compiled import BYTES, SMOOTH_GROUP, refusal
from hsd_core.models.compiled import graph as graphs
from hsd_core.models.compiled.bound_cache import LEAST_ROWS, CompiledCache, ShownQueries, padded_with_last, slots_for
from hsd_core.models.compiled.graph import Graph, LayerWeights, Product, dense
from hsd_core.models.compiled.joint import NAMES, NO_ROWS, JointLayers, JointPart, text_of
from hsd_core.models.compiled.layer import Weights, read_layer, read_weight
from hsd_core.models.compiled.node_profile import NodeProfile
from hsd_core.models.compiled.products import product, smoothed_kind
from hsd_core.models.compiled.session import BoundInputs, Session, trim_heap
from hsd_core.models.compiled.smoothing import Smoothing, cached_smoothing, smoothed, smoothing
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.joint_pass import JOINS, Inputs, head_offered, layers_offered
from hsd_core.models.lean import decoder as lean
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Plain, aligned
from hsd_core.models.lean.positions import rotary_tables
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.lean.sublayers import NONE, Sublayers, groups
from hsd_core.models.machine import free_bytes, refuse
from hsd_core.models.one_pass import Pass
from hsd_core.models.threads import model_threads

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
PART_BYTES = 2**30  # of weights of one session; they are in memory twice while it is made
TRIED_ROWS = 1, 2, 4  # of successive passes, compared with one pass of all rows


@dataclass(frozen=True, slots=True)
class DecoderPart:
    """Layers lo to hi - 1 in one session."""

    lo: int
    hi: int
    session: Session


class CompiledDecoder:
    """A `Decoder` whose layers may be run in ranges.

    Args:
        shape: read from the model's config by `LeanShape.from_config`.
        weights: opens the weights, again when layers are split again.
        dtype: "float32", or "int8" (smoothed, see `products.smoothed_kind`) or "int4" (in groups of 32), both with
            inputs rounded to 8 bits and an 8-bit head.
        vocab: keep only the first `vocab` columns of the logits.
        progress: called with the number of prepared layers, and of all.
        profile: records the time of every node.
    Attributes:
        least_rows: of a pass's products: 1, or 2 if this processor's kernels compute one row in another order than
            several (4 bits on AVX2); a pass of one input then repeats it.
        independent: whether rows computed together equal rows computed alone, bit for bit, tested at opening.
    Raises:
        DecoderError: the weights are not those of this shape.
    """

    device = "cpu"

    def __init__(
        self,
        shape: LeanShape,
        weights: Callable[[], AbstractContextManager[Weights]],
        *,
        dtype: str = "float32",
        vocab: int | None = None,
        progress: Callable[[float, float], None] = lambda done, total: None,
        profile: NodeProfile | None = None,
    ) -> None:
        self.shape, self.dtype, self._weights, self.profile = shape, dtype, weights, profile
        self.layers, self.max_positions = shape.layers, shape.max_positions
        self.vocab_size = min(vocab or shape.vocab_size, shape.vocab_size)
        self.threads = model_threads()
        cos, sin = rotary_tables(shape)
        half = shape.head_size // 2
        self.tables = cos[:, :half].contiguous(), sin[:, half:].contiguous()
        if reason := refusal(shape, dtype, "cpu"):
            raise DecoderError(f"{reason}; use kind='lean'")
        self.cutting = threading.Lock()
        with weights() as opened:
            # in the dtype of the file: a lookup is exact
            sizes = shape.vocab_size, shape.hidden
            self._embedding = read_weight(shape, opened, EMBEDDING, *sizes).clone()  # else the file stays mapped
            self.last_norm = dense(read_weight(shape, opened, "model.norm.weight", shape.hidden)).clone()
            head = read_weight(shape, opened, EMBEDDING if shape.tied else HEAD, *sizes)
            self._smoothing: Smoothing | None = None
            if dtype == "int8":
                norm = self.last_norm, head[: self.vocab_size]
                make = partial(smoothing, shape, self._embedding, partial(read_layer, shape, opened), *norm)
                self._smoothing = cached_smoothing(shape, opened, make)
            self._head = self._head_session(head[: self.vocab_size])
        self._shows_queries, self.least_rows, self.independent = False, 1, False
        self.parts: tuple[DecoderPart, ...] = ()
        self._joint = JointLayers(self)
        self._grouped: dict[
            int | Sublayers, Sequence[DecoderPart]
        ] = {}  # other arrangements of the layers: in groups, or without some sublayers
        each = self._layers_a_part()
        for lo in range(0, self.layers, each):
            progress(lo, self.layers)
            self.parts += (self._part(lo, min(lo + each, self.layers)),)
        for self.least_rows in (1, LEAST_ROWS):  # a model that a kernel cannot run is refused here too
            if self._rows_alike():
                break
        trim_heap()

    def new_cache(self, capacity: int, *, branches: int = 0) -> CompiledCache:
        """See `Decoder.new_cache`."""
        if capacity > self.max_positions:
            raise DecoderError(f"{capacity} positions are more than the model's {self.max_positions}")
        cache = CompiledCache(self.shape, self.layers, capacity + branches, self.tables, self.least_rows)
        if self._smoothing is not None:
            by = torch.stack([layer.values for layer in self._smoothing.layers])
            cache.divided = by.view(self.layers, self.shape.kv_heads, self.shape.head_size)
        return cache

    @torch.inference_mode()
    def forward(self, given: Pass, cache: Cache) -> Tensor:
        """See `Decoder.forward`.

        Raises:
            DecoderError: the cache is too short, or the pass is one of several texts.
        """
        if given.slots is not None:
            raise DecoderError("the compiled decoder runs one text a pass; open the model with kind='lean' for several")
        kv = own(cache, CompiledCache)
        if given.end > kv.capacity:
            raise DecoderError(f"position {given.end} lies beyond the cache's capacity of {kv.capacity}")
        passed = ((part, self.forward_layers(part, kv, 0, self.layers)) for part in given.parts(lean.CHUNK))
        kept = [x[len(x) - part.wanted :] for part, x in passed if part.wanted]
        return self.head(kept[0] if len(kept) == 1 else torch.cat(kept))

    def embed(self, ids: Sequence[int]) -> Tensor:
        """ids (n,) -> x (n, hidden)."""
        if len(ids) == 1:
            return self._embedding[ids[0]][None].to(torch.float32, copy=True)
        return self._embedding[torch.tensor(list(ids))].float()

    def forward_layers(self, given: Pass, cache: Cache, lo: int, hi: int, x: Tensor | None = None) -> Tensor:
        """See `Layered.forward_layers`. The slot after the inputs may be written too."""
        kv, x = own(cache, CompiledCache), self.embed(given.ids) if x is None else x
        if (joins := JOINS.get()) is not None:
            together = None if self._joint.why_not else partial(self._joint.run, lo, hi)
            alone, mine = partial(self._alone, lo, hi), Inputs(len(x), x, given, kv)
            return joins.run(layers_offered(self, lo, hi, mine, alone, together, self._joint.why_not))
        return self.passed(given, kv, lo, hi, x)

    def passed(self, given: Pass, kv: CompiledCache, lo: int, hi: int, x: Tensor) -> Tensor:
        parts, current = self.between(lo, hi), [part.session for part in self.parts]
        kv.forget(current)
        bounds = [kv.bound(part.session, range(part.lo, part.hi)) for part in parts]
        x = kv.run(bounds, given, x)
        if hi == self.layers:
            kv.length = given.end
        return x

    def _alone(self, lo: int, hi: int, inputs: Inputs) -> Tensor:
        return self.passed(*text_of(inputs), lo, hi, inputs.states)

    def joint_part(self, lo: int, hi: int) -> JointPart:
        """A second copy of the layers lo to hi - 1, for several texts."""
        return JointPart(lo, hi, self._part(lo, hi, seats=NAMES).session, self.new_cache(NO_ROWS))

    def in_groups(self, cache: Cache, together: int) -> Callable[[Pass], Tensor]:
        """See `Grouped.in_groups`.

        Raises:
            DecoderError: there is no memory for a second copy of the layers.
        """
        kv, parts = own(cache, CompiledCache), self._grouped_parts(together) if together > 1 else ()
        return self._over(kv, [kv.bind(part.session, range(part.lo, part.hi)) for part in parts])

    def leaving_out(self, cache: Cache, without: Sublayers) -> Callable[[Pass], Tensor]:
        """See `Sublayered.leaving_out`.

        Raises:
            DecoderError: there is no memory for a second copy of the other sublayers.
        """
        kv, parts = own(cache, CompiledCache), self._parts_without(without) if without.size else ()
        attend = [[i for i in range(part.lo, part.hi) if i not in without.attention] for part in parts]
        return self._over(kv, [kv.bind(part.session, some) for part, some in zip(parts, attend, strict=True)])

    def _over(self, kv: CompiledCache, bounds: Sequence[BoundInputs]) -> Callable[[Pass], Tensor]:
        """A function that runs passes through these sessions, or through the layers in order if there are none."""

        @torch.inference_mode()
        def run(given: Pass) -> Tensor:
            x = self.embed(given.ids)
            return kv.run(bounds, given, x) if bounds else self.forward_layers(given, kv, 0, self.layers, x)

        return run

    @torch.inference_mode()
    def fill(self, given: Pass, cache: Cache, lo: int, x: Tensor) -> None:
        """See `Fills.fill`; by torch, in float32, with a copy of the layers' first products that is made when first
        asked for."""
        self._products_of_keys.fill(given, x, own(cache, CompiledCache), lo)

    @cached_property
    def _products_of_keys(self) -> Layers:
        none, made = Plain(torch.empty(0, 0)), list[Layer]()
        with self._weights() as opened:
            for i in range(self.layers):
                one = read_layer(self.shape, opened, i)
                first = one.attention_norm.clone(), Plain(dense(one.qkv.weight), one.qkv.bias), one.q_norm, one.k_norm
                made.append(Layer(*first, out=none, gate_up=none, down=none, mlp_norm=torch.empty(0)))
        return Layers(self.shape, made, dtype=torch.float32, device="cpu")

    def show_queries(self) -> None:
        """See `Asked`. The sessions are made again, as outputs cannot be added later."""
        with self.cutting:
            if not self._shows_queries:
                self._shows_queries = True
                self.parts = tuple(self._part(part.lo, part.hi) for part in self.parts)
        trim_heap()

    @torch.inference_mode()
    def queries(self, token: int, position: int, cache: Cache) -> Tensor:
        """See `Asked`."""
        kv, given = own(cache, CompiledCache), Pass([token], position)
        shown = ShownQueries(self.shape, self.layers, self.tables)
        kv.run(
            (shown.bind(kv, part.session, range(part.lo, part.hi)) for part in self.parts), given, self.embed([token])
        )
        return shown.rotated(position)

    def head(self, x: Tensor) -> Tensor:
        """x (n, hidden) after the last layer -> logits (n, V) float32."""
        if (joins := JOINS.get()) is not None:
            return joins.run(head_offered(self, x, self._logits))
        return self._logits(x)

    def _logits(self, x: Tensor) -> Tensor:
        wanted, x = len(x), padded_with_last(x, self.least_rows)
        logits = torch.empty(1, len(x), self.vocab_size)
        bound = self._head.bound()
        bound.input("x", aligned(x)[None])
        bound.output("logits", logits)
        bound()
        return logits[0, :wanted]

    def head_rows(self, ids: Sequence[int] | Tensor) -> Tensor:
        """(len(ids), hidden) float32 rows of the head, for a trimmed head."""
        index = torch.as_tensor(ids, dtype=torch.long)
        if self.shape.tied:
            return self._embedding[index].float()
        with self._weights() as opened:
            return read_weight(self.shape, opened, HEAD, self.shape.vocab_size, self.shape.hidden)[index].float()

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        """See `Decoder.weight_bytes`."""
        if depth is None:
            again = sum(part.session.nbytes for parts in self._grouped.values() for part in parts)
            again += self._joint.nbytes
            return self.weight_bytes(self.layers) + self._embedding.nbytes + again
        return sum(part.session.nbytes for part in self.between(0, depth)) + head * self._head.nbytes

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        """See `Decoder.cache_bytes`."""
        slots = slots_for(capacity + branches)
        return self.shape.cache_bytes(slots, torch.float32.itemsize)

    @torch.inference_mode()
    def _rows_alike(self) -> bool:
        """Whether rows of one pass equal those of several passes, bit for bit. Kernels depend on the sizes of a product
        and on the processor, so a few rows are enough."""
        n = min(sum(TRIED_ROWS), self.max_positions)
        ids, whole, parts = [i * self.shape.vocab_size // n for i in range(n)], self.new_cache(n), self.new_cache(n)

        def rows(lo: int, hi: int, cache: CompiledCache) -> Tensor:
            x = self.forward_layers(Pass(ids[lo:hi], lo), cache, 0, self.layers)
            return torch.cat((x, self.head(x)), 1).view(torch.int32)

        ends = [min(end, n) for end in accumulate(TRIED_ROWS, initial=0)]
        apart = [rows(lo, hi, parts) for lo, hi in pairwise(ends) if lo < hi]
        self.independent = torch.equal(torch.cat(apart), rows(0, n, whole))
        return self.independent

    def between(self, lo: int, hi: int) -> Sequence[DecoderPart]:
        """The parts with layers lo to hi - 1; they are split there if necessary."""
        found = [part for part in self.parts if lo <= part.lo and part.hi <= hi]
        if found and (found[0].lo, found[-1].hi) == (lo, hi):
            return found
        if not 0 <= lo < hi <= self.layers:
            raise ValueError(f"layers {lo} to {hi} of a model with {self.layers}")
        with self.cutting:
            self.parts = tuple(self._cut(lo, hi))
        trim_heap()
        return self.between(lo, hi)

    def _cut(self, *at: int) -> Iterator[DecoderPart]:
        """The parts, split at these depths."""
        for part in self.parts:
            cuts = sorted({part.lo, *(depth for depth in at if part.lo < depth < part.hi), part.hi})
            yield from [part] if len(cuts) == 2 else map(self._part, cuts[:-1], cuts[1:])

    def _layers_a_part(self) -> int:
        with self._weights() as (tensor, names):
            count = sum(tensor(name).numel() for name in names if name.startswith("model.layers.0."))
        return max(1, int(PART_BYTES / max(1.0, BYTES[self.dtype] * count)))

    def _grouped_parts(self, together: int) -> Sequence[DecoderPart]:
        """A second copy of the layers, in groups; the last size asked for is kept."""
        with self.cutting:
            if together not in self._grouped:
                self._grouped = {}
                needed, cure = self.weight_bytes(self.layers, head=False), "leave the level out, or write @parallel=1"
                refuse(needed, free_bytes("cpu"), "a second copy of the layers, in groups,", cure)
                grouped, each = groups(0, self.layers, self.layers, together), max(1, self._layers_a_part() // together)
                some = [grouped[at : at + each] for at in range(0, len(grouped), each)]
                within = {i for group in grouped for i in group[1:]}
                self._grouped[together] = [self._part(part[0][0], part[-1][-1] + 1, within) for part in some]
                trim_heap()
            return self._grouped[together]

    def _parts_without(self, without: Sublayers) -> Sequence[DecoderPart]:
        """A second copy of the layers without some sublayers; the last set asked for is kept."""
        with self.cutting:
            if without not in self._grouped:
                self._grouped = {}
                cure = "leave the level out"
                needed = self.weight_bytes(self.layers, head=False)
                refuse(needed, free_bytes("cpu"), "a second copy of most layers", cure)
                each = self._layers_a_part()
                ends = [(lo, min(lo + each, self.layers)) for lo in range(0, self.layers, each)]
                self._grouped[without] = [self._part(lo, hi, without=without) for lo, hi in ends]
                trim_heap()
            return self._grouped[without]

    def _part(
        self,
        lo: int,
        hi: int,
        within: Collection[int] = (),
        without: Sublayers = NONE,
        seats: Sequence[str] = (),
    ) -> DecoderPart:
        graph = Graph()
        with self._weights() as opened:
            x = graph.input("x", "float32", [1, "n", self.shape.hidden])
            for seat in seats or ("",):
                graphs.steering(graph, self.shape, seat)
                branches = graphs.branching(graph, seat)
            # one layer at a time: its tensors are freed before the next one
            numbered = ((i, self._layer(i, opened)) for i in range(lo, hi))
            states = graph.output("states", [1, "n", self.shape.hidden])
            asked = self._shows_queries and not seats
            graphs.layers(graph, self.shape, x, numbered, states, branches, within, without, asked=asked, seats=seats)
        return DecoderPart(lo, hi, Session(graph, self.threads, self.profile))

    def _layer(self, i: int, opened: Weights) -> LayerWeights:
        found = read_layer(self.shape, opened, i)
        if self._smoothing is not None:
            found = smoothed(self.shape, found, self._smoothing.layers[i])
        return found.laid_out(self._product)

    def _product(self, weight: Tensor, bias: Tensor | None) -> Product:
        if self._smoothing is None:
            return product(weight, self.dtype, bias)
        return product(weight, smoothed_kind(), bias, group=SMOOTH_GROUP)

    def _head_session(self, weight: Tensor) -> Session:
        graph, norm = Graph(), self.last_norm
        x = graph.input("x", "float32", [1, "n", self.shape.hidden])
        if self._smoothing is None:
            made = product(weight, "float32" if self.dtype == "float32" else "int8")
        else:
            norm = norm / self._smoothing.head
            made = self._product(weight * self._smoothing.head, None)
        y = graph.norm(x, "norm", norm, self.shape.norm_eps)
        graph.put("Identity", [made(graph, "head", y)], [graph.output("logits", [1, "n", self.vocab_size])])
        return Session(graph, self.threads, self.profile)
