"""A head for multi-token prediction over a target whose layers are Llama's (DeepSeek-V3, arXiv 2412.19437, 2.2).

h'_t = M [norm(embedding of x_(t+1)); norm(h_t)]     h_t: the target's state after its last norm, or the head's own
the distribution of x_(t+2) = softmax(the target's head, norm of a layer over h'_1 to h'_t)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.drafts.fed_draft import FedDraft, LaterCache
from hsd_core.models.drafts.public_draft import Checkpoint
from hsd_core.models.lean.layers import Layers
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.one_pass import Pass
from hsd_core.systems.mtp.mtp_names import HeadNames

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder


class LeanMtp(FedDraft):
    """A `TrainedDraft` from the target's own checkpoint. Read-only; one may serve many runs.

    Raises:
        DraftError: a weight is missing, or has another size.
    """

    layers = 1
    joined: tuple[int, ...]

    def __init__(self, given: Checkpoint, names: HeadNames) -> None:
        over = cast("LeanDecoder | CompiledDecoder", given.over)
        shape, self._first = replace(over.shape.of_draft(1), max_positions=over.max_positions), names.state_first
        self.name, self.vocab_size, self.hidden, self._eps = given.name, over.vocab_size, shape.hidden, shape.norm_eps
        self.joined, self._last_norm = (over.layers,), over.last_norm.to(given.float)
        self._of_token, self._of_state, self._norm = (
            given.norm(name, shape.hidden) for name in (names[0], names[1], names[3])
        )
        self._join = given.product([names.join], [shape.hidden], 2 * shape.hidden)
        layer = given.layer(names.layer, shape)
        self._layers = Layers(shape, [layer], dtype=given.float, device=over.device)
        self._head, self._copied = given.target_head()

    def new_cache(self, capacity: int) -> LaterCache:
        """A cache for one run."""
        return LaterCache(self._layers.new_cache(capacity))

    @torch.inference_mode()
    def join(self, states: Tensor) -> Tensor:
        """The target's last states, normalised as for its own head."""
        return self._rms(states.to(self._norm), self._last_norm)

    def states(self, given: Pass, x: Tensor, fed: Tensor, cache: Cache) -> Tensor:
        """See `FedDraft.states`."""
        parts = [self._rms(x.to(self._norm), self._of_token), self._rms(fed.to(self._norm), self._of_state)]
        x = self._join(torch.cat(parts[::-1] if self._first else parts, -1))
        return self._layers.forward(given, x, own(cache, KVCache), 0, 1)

    def normal(self, states: Tensor) -> Tensor:
        """See `FedDraft.normal`."""
        return self._rms(states, self._norm)

    def logits(self, normal: Tensor) -> Tensor:
        """See `FedDraft.logits`."""
        return self._head(normal)

    def _rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self._eps)

    @property
    def nbytes(self) -> int:
        """Bytes of all its weights; of the target's head if it has a copy."""
        return self.weight_bytes() - self._head.nbytes + self._copied

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return nbytes(self._join) + self._layers[0].nbytes + self._head.nbytes
