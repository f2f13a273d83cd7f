"""`lean`: a readable forward pass for the Llama, Mistral, Qwen2, Qwen3 and SmolLM shape, and for Gemma 3's text.

Embedding, layers (`layers.py`), norm, head; weights are read in the Hugging Face naming.

Names: n inputs, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.decoder_protocol import QUANTISED, DecoderError
from hsd_core.models.gpu.graphs import Graphs
from hsd_core.models.gpu.precision import computes_in
from hsd_core.models.gpu.tiled_int4 import no_copy
from hsd_core.models.gpu.transfer import sent_ids
from hsd_core.models.joint_pass import JOINS, Inputs, Offered, head_offered, layers_offered
from hsd_core.models.lean.layers import Layer, Layers
from hsd_core.models.lean.linear import Head, Linear, Packed, Plain, aligned, copies
from hsd_core.models.lean.positions import KEY_STEP, rounded_up
from hsd_core.models.lean.shape import LeanShape
from hsd_core.models.lean.sublayers import Sublayers
from hsd_core.models.one_pass import Pass

ONE_TEXT = "recorded graphs are of one text"
CHUNK = 512  # inputs per pass: bounds the attention mask of a long prompt


class LeanDecoder:
    """A `Decoder` over fused weights.

    Args:
        shape: read from the model's config by `LeanShape.from_config`.
        tensor: name -> weight in the Hugging Face naming, called once per weight.
        names: all names of weights.
        dtype: "float32", "bfloat16", "float16", or "int8" or "int4" (of the products; see `computes_in` for the rest).
        device: "cpu", "cuda", "cuda:0", ...
        vocab: keep only the first `vocab` columns of the logits.
        graphs: records passes, see `prepare`.
    """

    def __init__(
        self,
        shape: LeanShape,
        tensor: Callable[[str], Tensor],
        names: Mapping[str, object] | set[str],
        *,
        dtype: str = "float32",
        device: str = "cpu",
        vocab: int | None = None,
        graphs: Graphs | None = None,
    ) -> None:
        self.shape, self.dtype, self.device = shape, dtype, device
        self.layers, self.max_positions = shape.layers, shape.max_positions
        self.vocab_size = min(vocab or shape.vocab_size, shape.vocab_size)
        self._float = computes_in(dtype, device)
        on_cpu = torch.device(device).type == "cpu"
        dense = Packed if on_cpu and self._float is torch.float32 and Packed.available() else Plain
        if reason := no_copy(dtype, device):
            raise DecoderError(reason)
        linear = copies(device).get(dtype, dense)
        exact = torch.float32 if dtype in QUANTISED else self._float  # a copy is made from the original weights

        def get(name: str, kept: torch.dtype = self._float) -> Tensor:
            if name not in names:
                raise DecoderError(f"the weights lack {name!r}, which a {shape.model_type} of this config has")
            return aligned(tensor(name).to(device=device, dtype=kept))

        def fused(prefix: str, *parts: str) -> Linear:
            weight = torch.cat([get(f"{prefix}.{p}.weight", exact) for p in parts])
            has_bias = f"{prefix}.{parts[0]}.bias" in names
            return linear(weight, torch.cat([get(f"{prefix}.{p}.bias") for p in parts]) if has_bias else None)

        def norm(name: str) -> Tensor:
            return get(f"{name}.weight", torch.float32).add(shape.norm_offset).to(self._float)

        def layer(at: str) -> Layer:
            head_norms = f"{at}.self_attn.q_norm.weight" in names
            after = f"{at}.pre_feedforward_layernorm.weight" in names  # then outputs have norms too
            return Layer(
                attention_norm=norm(f"{at}.input_layernorm"),
                qkv=fused(f"{at}.self_attn", "q_proj", "k_proj", "v_proj"),
                q_norm=norm(f"{at}.self_attn.q_norm") * shape.query_scale if head_norms else None,
                k_norm=norm(f"{at}.self_attn.k_norm") if head_norms else None,
                out=fused(f"{at}.self_attn", "o_proj"),
                mlp_norm=norm(f"{at}.{'pre_feedforward' if after else 'post_attention'}_layernorm"),
                gate_up=fused(f"{at}.mlp", "gate_proj", "up_proj"),
                down=fused(f"{at}.mlp", "down_proj"),
                attention_after=norm(f"{at}.post_attention_layernorm") if after else None,
                mlp_after=norm(f"{at}.post_feedforward_layernorm") if after else None,
            )

        found = [layer(f"model.layers.{i}") for i in range(shape.layers)]
        self.stack = Layers(shape, found, dtype=self._float, device=device, graphs=graphs)
        self.last_norm = norm("model.norm")
        stored = tensor("model.embed_tokens.weight")
        # On the CPU it has the dtype of the file. On a GPU a tied head uses the same memory, in the layers' precision.
        self._embedding = aligned(stored.to(device) if on_cpu else stored.to(device=device, dtype=self._float))
        self._one_memory = shape.tied and not on_cpu
        head = self._embedding if self._one_memory else stored if shape.tied else tensor("lm_head.weight")
        self._head = Head(head[: self.vocab_size].to(device), self._float)

    def new_cache(self, capacity: int, *, branches: int = 0, texts: int = 1) -> KVCache:
        """See `Decoder.new_cache`. texts: each with this capacity."""
        if capacity > self.max_positions:
            raise DecoderError(f"{capacity} positions are more than the model's {self.max_positions}")
        return self.stack.new_cache(capacity + branches, texts)

    def prepare(self, cache: Cache, depths: Sequence[int]) -> None:
        """See `Prepared`."""
        self.stack.prepare(own(cache, KVCache), depths)

    @property
    def recorded(self) -> bool:
        """Whether passes of one text are replayed as graphs."""
        return self.stack.graphs is not None and not self.eager

    @property
    def eager(self) -> str | None:
        """Why passes are not recorded although they should be, or None."""
        return self.stack.eager

    @torch.inference_mode()
    def forward(self, given: Pass, cache: Cache, states: dict[int, Tensor] | None = None) -> Tensor:
        """See `Decoder.forward`.

        Args:
            states: receives the (n, hidden) states after each depth that is a key of it; for several texts only.
        """
        kv = own(cache, KVCache)
        if given.end > kv.capacity:
            raise DecoderError(f"position {given.end} lies beyond the cache's capacity of {kv.capacity}")
        if given.slots is not None:
            x, lo = self.embed(given.ids), 0
            for depth in sorted({*(states or ()), self.layers}):
                x, lo = self.forward_layers(given, kv, lo, depth, x), depth
                if states is not None and depth in states:
                    states[depth] = x
            return self.head(x)
        passed = ((part, self.forward_layers(part, kv, 0, self.layers)) for part in given.parts(CHUNK))
        kept = [x[len(x) - part.wanted :] for part, x in passed if part.wanted]
        return self.head(kept[0] if len(kept) == 1 else torch.cat(kept))

    @torch.inference_mode()
    def states(self, ids: Sequence[int], depths: Iterable[int], cache: Cache | None = None) -> dict[int, Tensor]:
        """One text from its start: depth -> (n, hidden) states after that many layers, 1 to all."""
        found: dict[int, list[Tensor]] = {depth: [] for depth in depths}
        for _, depth, x in self.walk(ids, found, cache):
            found[depth].append(x)
        return {depth: torch.cat(parts) for depth, parts in found.items()}

    def walk(
        self, ids: Sequence[int], depths: Iterable[int], cache: Cache | None = None
    ) -> Iterator[tuple[int, int, Tensor]]:
        """One text from its start, chunk by chunk: (first position, depth, x (n, hidden) after that many layers).

        To be iterated in inference mode. Depth 0 gives the embeddings.
        """
        cache, ordered = self.new_cache(len(ids)) if cache is None else cache, sorted(depths)
        for part in Pass(ids).parts(CHUNK):
            x, lo = self.embed(part.ids), 0
            for depth in ordered:
                x, lo = self.forward_layers(part, cache, lo, depth, x), depth
                yield part.start, depth, x

    def embed(self, ids: Sequence[int]) -> Tensor:
        """ids (n,) -> x (n, hidden)."""
        x = self._embedding[sent_ids(ids, self.device)].to(self._float)
        return x if self.shape.embed_scale == 1.0 else x * self.shape.embed_scale

    def head(self, x: Tensor) -> Tensor:
        """x (n, hidden) after the last layer -> logits (n, V) float32."""
        if (joins := JOINS.get()) is not None:
            return joins.run(head_offered(self, x, self._logits))
        return self._logits(x)

    def _logits(self, x: Tensor) -> Tensor:
        return self._head(F.rms_norm(x, self.last_norm.shape, self.last_norm, self.shape.norm_eps))

    @property
    def plain_head(self) -> Head:
        """The head without the last norm, for states that are normalised already."""
        return self._head

    def forward_layers(self, given: Pass, cache: Cache, lo: int, hi: int, x: Tensor | None = None) -> Tensor:
        """See `Layered.forward_layers`."""
        x = self.embed(given.ids) if x is None else x
        kv = own(cache, KVCache)
        if (joins := JOINS.get()) is not None and given.slots is None:
            return joins.run(self._offered(Inputs(len(x), x, given, kv), lo, hi))
        return self.stack.forward(given, x, kv, lo, hi)

    def _offered(self, mine: Inputs, lo: int, hi: int) -> Offered:
        def one(inputs: Inputs) -> Tensor:
            return self.stack.forward(*parts(inputs), lo, hi)

        def several(all_of: Sequence[Inputs]) -> list[Tensor]:
            return self.stack.together([parts(inputs) for inputs in all_of], lo, hi)

        def parts(inputs: Inputs) -> tuple[Pass, Tensor, KVCache]:
            assert inputs.given is not None
            return inputs.given, inputs.states, own(cast("Cache", inputs.cache), KVCache)

        return layers_offered(self, lo, hi, mine, one, None if self.recorded else several, ONE_TEXT)

    def in_groups(self, cache: Cache, together: int) -> Callable[[Pass], Tensor]:
        """See `Grouped.in_groups`."""
        kv = own(cache, KVCache)

        @torch.inference_mode()
        def run(given: Pass) -> Tensor:
            return self.stack.forward(given, self.embed(given.ids), kv, 0, self.layers, together)

        return run

    def leaving_out(self, cache: Cache, without: Sublayers) -> Callable[[Pass], Tensor]:
        """See `Sublayered.leaving_out`."""
        kv = own(cache, KVCache)

        @torch.inference_mode()
        def run(given: Pass) -> Tensor:
            return self.stack.forward(given, self.embed(given.ids), kv, 0, self.layers, without=without)

        return run

    @torch.inference_mode()
    def fill(self, given: Pass, cache: Cache, lo: int, x: Tensor) -> None:
        """See `Fills.fill`."""
        self.stack.fill(given, x, own(cache, KVCache), lo)

    def show_queries(self) -> None:
        """See `Asked`. Nothing to prepare."""

    @torch.inference_mode()
    def queries(self, token: int, position: int, cache: Cache) -> Tensor:
        """See `Asked`."""
        asked: list[Tensor] = []
        self.stack.forward(Pass([token], position), self.embed([token]), own(cache, KVCache), 0, self.layers, 1, asked)
        return torch.stack(asked)

    def head_rows(self, ids: Sequence[int] | Tensor) -> Tensor:
        """(len(ids), hidden) float32 rows of the head, for a trimmed head."""
        whole = self._embedding if self.shape.tied else self._dense_head
        return whole[torch.as_tensor(ids, dtype=torch.long, device=self.device)].float()

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        """See `Decoder.weight_bytes`."""
        if depth is None:
            return self.weight_bytes(self.layers, head=not self._one_memory) + self._embedding.nbytes
        return sum(self.stack[i].nbytes for i in range(depth)) + head * self._head.nbytes

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        """See `Decoder.cache_bytes`."""
        return self.shape.cache_bytes(rounded_up(capacity + branches, KEY_STEP), self._float.itemsize)

    @cached_property
    def _dense_head(self) -> Tensor:
        return self._head.dense()

    def layer_tensors(self, i: int) -> dict[str, Tensor]:
        """Layer i's fused weights by name, dense, to initialise a student.

        Raises:
            DecoderError: the layers have biases or norms of the heads, which drafts lack.
        """
        layer = self.stack[i]
        parts = {name: getattr(layer, name) for name in ("qkv", "out", "gate_up", "down")}
        if layer.q_norm is not None or any(part.bias is not None for part in parts.values()):
            raise DecoderError(
                f"drafts copy layers without biases and norms of heads; those of a {self.shape.model_type} have some"
            )
        norms = {"attention_norm": layer.attention_norm, "mlp_norm": layer.mlp_norm}
        return {**norms, **{name: part.dense() for name, part in parts.items()}}
