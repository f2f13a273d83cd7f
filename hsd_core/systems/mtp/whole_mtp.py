"""Heads for multi-token prediction of a target that runs whole, as transformers opens them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hsd_core.models.cache import Cache, Positions, own
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.drafts.fed_draft import FedDraft, LaterCache
from hsd_core.models.hf import TransformersDecoder
from hsd_core.models.machine import out_of_memory
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.systems.mtp.mtp_names import HeadNames


class SlotCache(Positions):
    """Keys and values of a head in a cache of transformers, which can be moved too. layer: the head's number."""

    __slots__ = ("kept", "layer")

    def __init__(self, layer: int) -> None:
        from transformers import DynamicCache

        super().__init__()
        self.kept, self.layer = DynamicCache(), layer

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        if length < self.length:
            self._take(torch.arange(length))
        super().cut(length)

    def move(self, base: int, nodes: Sequence[int]) -> None:
        """See `Positions.move`."""
        self.length = base + len(nodes)
        self._take(torch.tensor([*range(base), *(base + node for node in nodes)]))

    def _take(self, slots: Tensor) -> None:
        layer: Any = self.kept.layers[self.layer]
        layer.keys, layer.values = (kept.index_select(2, slots.to(kept.device)) for kept in (layer.keys, layer.values))


class WholeMtp(FedDraft):
    """A `TrainedDraft` over `over`: head number `at` of `model`, transformers' `MtpModel`. Read-only."""

    layers = 1
    joined: tuple[int, ...]

    def __init__(self, name: str, over: TransformersDecoder, model: Any, number: int = 0) -> None:
        self.name, self.vocab_size, self.hidden = name, over.vocab_size, over.shape.hidden
        self.joined, self._model, self._number, config = (over.layers,), model, number, model.config
        self._layer, self._type = (
            model.layers[number],
            (getattr(config, "layer_types", None) or [None] * (number + 1))[number],
        )
        self._window = config.sliding_window if self._type == "sliding_attention" else 0

    def new_cache(self, capacity: int) -> LaterCache:
        """A cache for one run; it is allocated as it is filled."""
        return LaterCache(SlotCache(self._number))

    def join(self, states: Tensor) -> Tensor:
        """The target's last states as they are recorded, after its last norm."""
        return states

    @torch.inference_mode()
    def states(self, given: Pass, x: Tensor, fed: Tensor, cache: Cache) -> Tensor:
        """See `FedDraft.states`; they are normalised already."""
        kept, model = own(cache, SlotCache), self._model
        kept.cut(given.start)
        sees = given.tree or Branches(given.end, ())
        places = sees.positions(0, given.end)
        hidden = sees.hidden(given.start, given.end)
        if self._window:
            hidden |= places[given.start :, None] - places >= self._window
        mask = torch.zeros(hidden.shape, dtype=x.dtype).masked_fill_(hidden, torch.finfo(x.dtype).min)
        # the token of slot t has position t + 1
        turned: dict[str, Any] = {"position_ids": (places[given.start :] + 1)[None].to(x.device)}
        if model.rotary_emb is not None:
            kinds = {"layer_type": self._type} if model.has_per_layer_rope else {}
            turned["position_embeddings"] = model.rotary_emb(x[None], **turned, **kinds)
        mask = mask[None, None].to(x.device)
        states: Tensor = self._layer(x[None], fed[None].to(x), **turned, attention_mask=mask, past_key_values=kept.kept)
        kept.length = given.end
        return (model.shared_post_norm(states) if model.use_shared_post_norm else states)[0]

    def normal(self, states: Tensor) -> Tensor:
        """See `FedDraft.normal`."""
        return states

    def logits(self, normal: Tensor) -> Tensor:
        """See `FedDraft.logits`."""
        logits: Tensor = self._model._project_to_logits(normal)[:, : self.vocab_size].float()
        return logits

    @property
    def nbytes(self) -> int:
        """Bytes of its own weights: embedding and head are the target's."""
        return sum(weight.nbytes for weight in self._layer.parameters())

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return self.nbytes + int(self._model.shared_head.weight.nbytes)


def open_whole(folder: Path, name: str, over: TransformersDecoder, heads: Sequence[HeadNames]) -> list[WholeMtp]:
    """The heads in a target's folder.

    Raises:
        DraftError: transformers does not open heads of such a model.
    """
    from transformers import modeling_layers

    config, heads_of = over.model.config.get_text_config(), getattr(modeling_layers, "MtpModel", None)
    if heads_of is None or not getattr(config, "num_mtp_layers", None):
        raise DraftError(
            f"transformers opens no heads for multi-token prediction of a {config.model_type!r} model; use lookups"
        )
    # which weights are heads: its own list has the layers of published sizes only
    over.model._keys_to_ignore_on_load_unexpected = [re.escape(one.join.rpartition(".")[0]) + r"\." for one in heads]
    over.model.config._name_or_path = str(folder)
    try:
        model = heads_of.from_pretrained(over.model, device_map={"": over.device})
    except Exception as error:  # the model family's code may raise anything
        if out_of_memory(error):
            raise
        first = (" ".join(str(error).split()) or type(error).__name__)[:200]
        raise DraftError(f"transformers cannot open its heads for multi-token prediction: {first}") from error
    model.requires_grad_(False).eval()
    return [WholeMtp(name, over, model, number) for number in range(len(model.layers))]
