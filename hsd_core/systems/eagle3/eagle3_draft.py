"""The forward pass of an EAGLE-3 drafter (arXiv 2503.01840, section 3.1).

    g_t = fc [states of the target after three of its layers, at t]          or its own state a_t, where there is none
    a_(t+1) = layers over g_t, whose first attention reads [norm(embedding of x_(t+1)); norm(g_t)]
    the distribution of x_(t+2) = softmax(head norm a_(t+1)), over the ids of its own vocabulary

The first token of a text has no state before it and is no input: the layers' slot t holds the token of position t + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache, own
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.drafts.public_draft import Checkpoint, opened_checkpoint
from hsd_core.models.lean.layers import Layers
from hsd_core.models.lean.linear import nbytes
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.systems.eagle3.eagle3_config import Eagle3Config, Eagle3Error

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder


@dataclass(slots=True)
class LaterCache:
    """A cache of the layers, for every position but the first. begun: 1 once the first position is passed."""

    layers: KVCache
    begun: int = 0

    @property
    def length(self) -> int:
        """See `Cache`."""
        return self.layers.length + self.begun

    def cut(self, length: int) -> None:
        """See `Cache.cut`."""
        self.layers.cut(max(0, length - 1))
        self.begun = min(self.begun, length)

    def keep(self, base: int, path: Sequence[int]) -> None:
        """See `Cache.keep`."""
        self.layers.keep(base - 1, path)

    def mark(self) -> int:
        """See `Cache.mark`."""
        return self.length

    def restore(self, mark: object) -> None:
        """See `Cache.restore`."""
        assert isinstance(mark, int)
        self.cut(mark)


class Eagle3Draft:
    """A `TrainedDraft` from a checkpoint. Read-only; one may serve many runs.

    Attributes:
        joined: the depths whose states it reads. ids: (R,) the target's ids that it knows, by the head's rows.
        of: the target that it says it was trained for, "" if it says none. The others: see `TrainedDraft`.
    Raises:
        DraftError: it is of another target, or lacks a weight.
    """

    at, fed, ahead, window = 0, True, 1, 0
    unknown: Tensor | None = None

    def __init__(self, given: Checkpoint, config: Eagle3Config) -> None:
        over, shape = given.over, given.shape(config.layers)
        self.name, self.of, self.vocab_size, self._over = given.name, given.of, over.vocab_size, over
        self.hidden, self.layers, self.joined = shape.hidden, shape.layers, config.depths_of(over.layers)
        self._config, self._eps, states = config, shape.norm_eps, len(self.joined) * over.shape.hidden
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
        self._set_head(given, shape.vocab_size)

    def _set_head(self, given: Checkpoint, vocab: int) -> None:
        """Its head over the ids that this target can say. `d2t` holds, by row, what is added for the target's id."""
        added = given.weight("d2t", kept=torch.long) if "d2t" in given.names else torch.zeros(vocab, dtype=torch.long)
        ids = (torch.arange(len(added), device=added.device) + added).to(self._over.device)
        rows = given.weight("lm_head.weight", len(ids), self.hidden) if "lm_head.weight" in given.names else None
        if not (len({*ids.tolist()}) == len(ids) > 0 and ids.min() >= 0 and ids.max() < vocab):
            raise DraftError(f"drafter {self.name}: d2t names ids that its target does not have; fetch it again")
        known = given.weight("t2d", vocab, kept=torch.bool) if "t2d" in given.names else torch.zeros(1)
        if known.any() and not torch.equal(known.nonzero()[:, 0], ids.sort()[0]):
            raise DraftError(f"drafter {self.name}: d2t and t2d name other ids; fetch it again")
        said = ids < self.vocab_size
        self.ids = ids[said]
        self._head = given.head(self._over.head_rows(self.ids) if rows is None else rows[said])

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
        """See `TrainedDraft.forward`. The row of a text's first token is what its layers say of it alone."""
        kept = own(cache, LaterCache)
        assert fed is not None
        tokens, fed = self._rms(x.to(self._norm.dtype), self._of_token), fed.to(self._norm)
        passed = []
        if not given.start:
            passed.append(self._states(Pass(given.ids[:1]), tokens[:1], fed[:1], kept))
            kept.layers.cut(0)
            kept.begun, tokens, fed = 1, tokens[1:], fed[1:]
        if len(tokens):
            sees = given.sees and Branches(given.sees.base - 1, given.sees.parents)
            rest = Pass(given.ids[-len(tokens) :], max(0, given.start - 1), given.wanted, sees)
            passed.append(self._states(rest, tokens, fed, kept))
        states = passed[0] if len(passed) == 1 else torch.cat(passed)
        normal = self._rms(states, self._norm)
        read = normal[len(normal) - given.wanted :]
        logits = read.new_full((len(read), self.vocab_size), float("-inf"), dtype=torch.float32)
        logits[:, self.ids] = self._head(read)
        return logits, normal if self._config.norm_output else states

    def _states(self, given: Pass, tokens: Tensor, fed: Tensor, kept: LaterCache) -> Tensor:
        """(n, hidden) states after its layers, before the last norm."""
        normal = self._rms(fed, self._layers[0].attention_norm)
        x = normal if self._config.norm_before_residual else fed
        return self._layers.forward(given, x, kept.layers, 0, self.layers, wide=torch.cat((tokens, normal), -1))

    def _rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self._eps)

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    def mark(self, cache: Cache) -> None:
        """It copies nothing."""

    @property
    def nbytes(self) -> int:
        """Bytes of all its weights."""
        return self.weight_bytes() + (0 if self._embedding is None else self._embedding.nbytes)

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return nbytes(self._fc) + sum(self._layers[i].nbytes for i in range(self.layers)) + self._head.nbytes


def open_eagle3(folder: Path, name: str, over: LeanDecoder | CompiledDecoder) -> Eagle3Draft:
    """The drafter in a folder, over its target's decoder.

    Raises:
        DraftError: it cannot be opened, or is of another target; the message has the reason and the cure.
    """
    try:
        with opened_checkpoint(folder, name, over) as given:
            return Eagle3Draft(given, Eagle3Config.of(given.config))
    except Eagle3Error as error:
        raise DraftError(f"drafter {name}: {error}") from error
