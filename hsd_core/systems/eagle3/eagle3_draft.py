"""The forward pass of an EAGLE-3 drafter (arXiv 2503.01840, section 3.1).

    g_t = fc [states of the target after three of its layers, at t]          or its own state a_t, where there is none
    a_(t+1) = layers over g_t, whose first attention reads [norm(embedding of x_(t+1)); norm(g_t)]
    the distribution of x_(t+2) = softmax(head norm a_(t+1)), over the ids of its own vocabulary

Positions: see `FedDraft`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.drafts.fed_draft import FedDraft, LaterCache
from hsd_core.models.drafts.public_draft import Checkpoint, opened_checkpoint
from hsd_core.models.lean.layers import Layers
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.one_pass import Pass
from hsd_core.systems.eagle3.eagle3_config import Eagle3Config, Eagle3Error

if TYPE_CHECKING:
    from hsd_core.models.drafts.public_draft import Over


class Eagle3Draft(FedDraft):
    """A `TrainedDraft` from a checkpoint. Read-only; one may serve many runs.

    Attributes:
        joined: the depths whose states it reads. ids: (R,) the target's ids that it knows, by the head's rows.
        of: the target that it says it was trained for, "" if it says none. The others: see `TrainedDraft`.
    Raises:
        DraftError: it is of another target, or lacks a weight.
    """

    def __init__(self, given: Checkpoint, config: Eagle3Config) -> None:
        over, shape = given.over, given.shape(config.layers)
        self.name, self.of, self.vocab_size, self._over = given.name, given.of, over.vocab_size, over
        self.hidden, self.layers, self.joined = shape.hidden, shape.layers, config.depths_of(over.layers)
        self._config, self._eps, states = config, shape.norm_eps, len(self.joined) * over.shape.hidden
        self.feeds_normal = config.norm_output
        reads = given.weight("fc.weight").shape[1]
        if reads != states:
            whose = reads // len(self.joined)
            raise given.other_target(f"{len(self.joined)} states of a width", whose, over.shape.hidden)
        self._fc = given.product(["fc"], [shape.hidden], states)
        each = config.norm_each and [given.norm(f"fc_norm.{i}", over.shape.hidden) for i in range(len(self.joined))]
        self._before = [given.norm("input_norm", states)] if config.norm_before_fc else each or []
        first = "midlayer" if "midlayer.self_attn.q_proj.weight" in given.names else "layers.0"
        self._of_token = given.norm(f"{first}.input_layernorm", shape.hidden)
        layers = [given.layer(first, shape, norm="hidden_norm", inputs=2 * shape.hidden)]
        layers += [given.layer(f"layers.{i}", shape) for i in range(1, shape.layers)]
        self._layers = Layers(shape, layers, dtype=given.float, device=over.device)
        self._norm = given.norm("norm", shape.hidden)
        self._embedding = given.embedding(shape.vocab_size, shape.hidden)
        if self._embedding is None and shape.hidden != over.shape.hidden:
            raise given.other_target("no embedding of its own, and a width", shape.hidden, over.shape.hidden)
        self.ids, said = given.known_ids(shape.vocab_size)
        own = "lm_head.weight" in given.names
        rows = given.weight("lm_head.weight", len(said), self.hidden)[said] if own else over.head_rows(self.ids)
        self._head = given.head(rows)

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(n, hidden) embeddings: its own, or the target's."""
        if self._embedding is None:
            return self._over.embed(ids)
        return self._embedding[torch.tensor(ids, device=self._embedding.device)]

    def new_cache(self, capacity: int) -> LaterCache:
        """A cache for one run."""
        return LaterCache(self._layers.new_cache(capacity))

    @torch.inference_mode()
    def join(self, states: Tensor) -> Tensor:
        """(n, F width) states of the target after the layers of `joined` -> (n, hidden)."""
        states = states.to(self._norm.dtype)
        if self._before:
            parts = states.chunk(len(self._before), -1)
            states = torch.cat([self._rms(x, norm) for x, norm in zip(parts, self._before, strict=True)], -1)
        return self._fc(states)

    def states(self, given: Pass, x: Tensor, fed: Tensor, cache: Cache) -> Tensor:
        """See `FedDraft.states`."""
        tokens, fed = self._rms(x.to(self._norm.dtype), self._of_token), fed.to(self._norm)
        normal = self._rms(fed, self._layers[0].attention_norm)
        x, wide = normal if self._config.norm_before_residual else fed, torch.cat((tokens, normal), -1)
        return self._layers.forward(given, x, own(cache, KVCache), 0, self.layers, wide=wide)

    def normal(self, states: Tensor) -> Tensor:
        """See `FedDraft.normal`."""
        return self._rms(states, self._norm)

    def logits(self, normal: Tensor) -> Tensor:
        """See `FedDraft.logits`."""
        logits = normal.new_full((len(normal), self.vocab_size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(normal)
        return logits

    def _rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self._eps)

    @property
    def nbytes(self) -> int:
        """Bytes of all its weights."""
        return self.weight_bytes() + (0 if self._embedding is None else self._embedding.nbytes)

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return nbytes(self._fc) + sum(self._layers[i].nbytes for i in range(self.layers)) + self._head.nbytes


def open_eagle3(folder: Path, name: str, over: Over) -> Eagle3Draft:
    """The drafter in a folder, over its target's decoder.

    Raises:
        DraftError: it cannot be opened, or is of another target; the message has the reason and the cure.
    """
    try:
        with opened_checkpoint(folder, name, over) as given:
            return Eagle3Draft(given, Eagle3Config.of(given.config))
    except Eagle3Error as error:
        raise DraftError(f"drafter {name}: {error}") from error
