"""Any other causal language model, through transformers' own forward and a cache that can go back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hsd_core.models.cache import Cache, own
from hsd_core.models.decoder_protocol import DecoderError, WholeShape
from hsd_core.models.gpu.transfer import sent_ids
from hsd_core.models.hf_cache import KEPT, CroppedCache, SnapshotCache, all_positions, has_states, states_of
from hsd_core.models.joint_pass import JOINS, Inputs, layers_offered
from hsd_core.models.lean.shape import config_restored, refuse_no_rollback
from hsd_core.models.machine import out_of_memory
from hsd_core.models.one_pass import Pass
from hsd_core.models.threads import model_threads, torch_with

ONE_TEXT = "transformers' own forward takes one text a pass here"


class TransformersDecoder:
    """A `Decoder` over `AutoModelForCausalLM`, `model`. Rolling back crops the cache, or puts back copies of states.

    Raises:
        DecoderError: the architecture is unknown, is not a causal model, or has a cache that cannot roll back.
    """

    def __init__(
        self, folder: Path, config: dict[str, Any], *, dtype: str, device: str, vocab: int | None = None
    ) -> None:
        refuse_no_rollback(config)
        from transformers import AutoConfig, AutoModelForCausalLM

        here = {"trust_remote_code": False, "local_files_only": True}
        try:
            known = AutoConfig.from_pretrained(folder, **here)
            refuse_no_rollback(known.to_dict())  # with what config.json leaves to the defaults
            self.model = AutoModelForCausalLM.from_pretrained(
                folder, config=known, dtype=getattr(torch, dtype), use_safetensors=True, **here
            )
        except DecoderError:
            raise
        except Exception as error:  # the model family's code may raise anything
            if out_of_memory(error):
                raise
            first = (" ".join(str(error).split()) or type(error).__name__)[:200]
            raise DecoderError(f"transformers cannot open a {config.get('model_type')!r} model: {first}") from error
        self.model.requires_grad_(False).eval().to(device)  # type: ignore[no-untyped-call]
        sizes = self.model.config.get_text_config()
        if lacking := [name for name in ("vocab_size", "num_hidden_layers") if not getattr(sizes, name, None)]:
            raise DecoderError(f"the config of a {config.get('model_type')!r} model does not say its {lacking[0]}")
        takes = signature(self.model.forward).parameters
        self._takes = None if any(one.kind is one.VAR_KEYWORD for one in takes.values()) else frozenset(takes)
        self.vocab_size = min(vocab or sizes.vocab_size, sizes.vocab_size)
        self.layers = sizes.num_hidden_layers
        self.max_positions = getattr(sizes, "max_position_embeddings", None) or 2048
        self.device, self.dtype = device, dtype
        heads = getattr(sizes, "num_attention_heads", None) or 1
        self.shape = WholeShape(sizes.vocab_size, getattr(sizes, "hidden_size", None) or 0, heads)
        self._sums = config_restored(config) and has_states(self.model.config)

    def new_cache(self, capacity: int, *, branches: int = 0) -> CroppedCache:
        """See `Decoder.new_cache`; it is allocated as it is filled."""
        if capacity > self.max_positions:
            raise DecoderError(f"{capacity} positions are more than the model's {self.max_positions}")
        from transformers import DynamicCache

        if self._sums:
            return SnapshotCache(partial(all_positions, self.model.config), capacity)
        return CroppedCache(DynamicCache(), capacity)

    @cached_property
    def _kept_bytes(self) -> tuple[int, int]:
        """Bytes of one position's keys and values over all layers, and of all running states."""
        cache = self.new_cache(1)
        self.forward(Pass([0]), cache)
        layers = cache.layers.layers
        kept = (getattr(layer, name, None) for layer in layers for name in ("keys", "values"))
        states = sum(part.nbytes for layer in layers for part in states_of(layer).values())
        return sum(part.nbytes for part in kept if isinstance(part, Tensor)), states

    def weight_bytes(self, depth: int | None = None, *, head: bool = True) -> int:
        """See `Decoder.weight_bytes`. It always runs all layers."""
        return sum(weight.nbytes for weight in self.model.parameters())

    def cache_bytes(self, capacity: int, *, branches: int = 0) -> int:
        """See `Decoder.cache_bytes`."""
        position, states = self._kept_bytes
        return capacity * position + (1 + KEPT) * states

    def forward(self, given: Pass, cache: Cache) -> Tensor:
        """See `Decoder.forward`.

        Raises:
            DecoderError: the cache is too short, or the pass is one of a tree, of a view or of several texts.
        """
        return self.recorded(given, cache)[0]

    @torch.inference_mode()
    def embed(self, ids: Sequence[int]) -> Tensor:
        """See `Layered.embed`."""
        found: Tensor = self.model.get_input_embeddings()(sent_ids(ids, self.device))
        return found

    def head_rows(self, ids: Sequence[int] | Tensor) -> Tensor:
        """(len(ids), hidden) float32 rows of the head."""
        rows: Tensor = self.model.get_output_embeddings().weight  # type: ignore[no-untyped-call]
        return rows[torch.as_tensor(ids, dtype=torch.long, device=self.device)].float()

    @torch.inference_mode()
    def recorded(self, given: Pass, cache: Cache, depths: Sequence[int] = ()) -> tuple[Tensor, dict[int, Tensor]]:
        """See `Recording.recorded`."""
        states: dict[int, Tensor] = {}
        alone = partial(self._forward, given, cache, depths, states)
        if (joins := JOINS.get()) is None:
            return alone(), states
        mine = Inputs(len(given.ids), None, given, cache)
        return joins.run(layers_offered(self, 0, self.layers, mine, lambda _: alone(), None, ONE_TEXT)), states

    @torch.inference_mode()
    def _forward(self, given: Pass, cache: Cache, depths: Sequence[int], found: dict[int, Tensor]) -> Tensor:
        torch_with(model_threads())
        kv = own(cache, CroppedCache)
        start, rows = given.start, given.wanted
        if given.tree is not None or given.slots is not None or given.ahead:
            raise DecoderError("transformers' own forward takes one line of one text a pass here")
        if given.end > kv.capacity:
            raise DecoderError(f"position {given.end} lies beyond the cache's capacity of {kv.capacity}")
        if start > kv.length:
            held = kv.length
            raise DecoderError(
                f"the pass begins at position {start} and the cache holds {held}; process what is between first"
            )
        kv.cut(start)
        logits = None
        for part in kv.parts(given):
            logits = self._part(part, kv, depths, found)
        assert logits is not None
        return logits[-rows:]

    def _part(self, given: Pass, kv: CroppedCache, depths: Sequence[int], found: dict[int, Tensor]) -> Tensor:
        """Run the inputs; adds their states to `found`. Returns (max(1, wanted), V) logits."""
        ids, start, rows = list(given.ids), given.start, max(1, given.wanted)
        inputs = {
            "past_key_values": kv.layers,
            "position_ids": torch.arange(start, start + len(ids), device=self.device)[None],
            "use_cache": True,
            "logits_to_keep": rows,
            "output_hidden_states": bool(depths),
        }
        taken = {name: value for name, value in inputs.items() if self._takes is None or name in self._takes}
        out = self.model(input_ids=sent_ids(ids, self.device)[None], **taken)
        if kv.length != given.end:
            read = f"{kv.length} of {given.end} positions that it read"
            raise DecoderError(
                f"the model keeps keys and values of {read}; use a model with a cache that can be cropped"
            )
        logits: Tensor = out.logits[0, -rows:, : self.vocab_size].float()
        if not depths:
            return logits
        states = getattr(out, "hidden_states", None) or ()
        shapes = {tuple(state.shape) for state in states}
        if shapes != {(1, len(ids), self.shape.hidden)} or len(states) <= self.layers:
            raise DecoderError("the model's own forward gives no state of each token after each layer; use lookups")
        for depth in depths:
            found[depth] = torch.cat((found[depth], states[depth][0])) if depth in found else states[depth][0]
        return logits
