"""The forward pass of a DFlash drafter (arXiv 2602.06036), which says a block of tokens in one pass.

    c_t = norm(fc [states of the target after several of its layers, at t])      for every position that it has read
    a block: the tokens since, then masks; each of its layers attends from the block to all c and to the whole block,
        or to those in a window
    the distribution at a mask = softmax(the target's head, norm of the block's state there)

A block is always as long as the drafter was trained for; tokens that a middle level wrote take the place of masks.
Names: n inputs, L layers, G key/value heads, d head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.cache import Cache, KVCache
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.drafts.public_draft import Checkpoint, opened_checkpoint
from hsd_core.models.lean.layers import Layers
from hsd_core.models.lean.linear import nbytes
from hsd_core.systems.dflash.dflash_config import DFlashConfig, DFlashError

if TYPE_CHECKING:
    from hsd_core.models.drafts.public_draft import Over


class DFlashDraft:
    """A drafter from a checkpoint. Read-only; one may serve many runs.

    Attributes:
        joined: the depths whose states it reads. block: its inputs. ahead: the most tokens of a draft.
        of: the target that it says it was trained for, "" if it says none.
    Raises:
        DraftError: it is of another target, or has a form that is not read.
    """

    def __init__(self, given: Checkpoint, config: DFlashConfig) -> None:
        over, shape = given.over, replace(given.shape(config.layers), windows=(), local_theta=None)
        self.name, self.of, self.vocab_size, self._over = given.name, given.of, over.vocab_size, over
        self.hidden, self.layers = shape.hidden, shape.layers
        self.block, self._mask, self.joined, self._config = config.block, config.mask, config.depths, config
        self.ahead, self._windows = self.block - 1, config.windows or (0,) * shape.layers
        if not all(1 <= at <= over.layers for at in self.joined):
            raise given.other_target("states up to a layer", max(self.joined), over.layers)
        if shape.hidden != over.shape.hidden:
            raise given.other_target("a width", shape.hidden, over.shape.hidden)
        if not (self.block > 1 and 0 <= self._mask < shape.vocab_size):
            raise DraftError(f"drafter {given.name}: a block of {self.block} with mask {self._mask}; fetch it again")
        self._fc = given.product(["fc"], [shape.hidden], len(self.joined) * shape.hidden)
        self._of_states, self._norm = given.norm("hidden_norm", shape.hidden), given.norm("norm", shape.hidden)
        layers = [given.layer(f"layers.{i}", shape) for i in range(shape.layers)]
        self._layers = Layers(shape, layers, dtype=given.float, device=over.device)
        self._embedding = given.embedding(shape.vocab_size, shape.hidden)
        self.ids, said = given.known_ids(shape.vocab_size)
        if "lm_head.weight" in given.names:
            self._head = given.head(given.weight("lm_head.weight", len(said), shape.hidden)[said])
            self._copied = self._head.nbytes
        else:
            self._head, self._copied = given.target_head()

    def new_cache(self, capacity: int) -> KVCache:
        """Keys and values of the positions that it has read."""
        return self._layers.new_cache(min(capacity, self._over.max_positions))

    @torch.inference_mode()
    def read(self, states: Tensor, cache: KVCache) -> None:
        """Read the target's (n, F hidden) states at the next n positions."""
        c = self._layers.rms(self._fc(states.to(self._norm)), self._of_states)
        at, shape = slice(cache.length, cache.length + len(c)), self._layers.shape
        cos, sin = (table[at, None] for table in self._layers.rotary)
        for i in range(self.layers):
            layer = self._layers[i]
            grouped = layer.qkv(c).view(len(c), -1, shape.head_size)[:, shape.heads :]
            k, v = grouped.chunk(2, 1)
            k = k if layer.k_norm is None else self._layers.rms(k, layer.k_norm)
            cache.keys[i, 0, :, at] = (k * cos + k.roll(shape.head_size // 2, -1) * sin).transpose(0, 1)
            cache.values[i, 0, :, at] = v.transpose(0, 1)
        cache.length = at.stop

    @torch.inference_mode()
    def rows(self, tokens: Sequence[int], cache: KVCache) -> Tensor:
        """(n, V) logits of what follows the tokens after the positions that it has read."""
        start = cache.length
        block = min(self.block, self._over.max_positions - start)
        x = self._embed([*tokens, *[self._mask] * (block - len(tokens))]).to(self._norm)
        seen = {window: self._seen(window, start, block) for window in {*self._windows}}
        cos, sin = (table[start : start + block, None] for table in self._layers.rotary)

        def attend(i: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            keys = torch.cat((cache.keys[i, 0, :, :start], k.transpose(0, 1)), 1)
            values = torch.cat((cache.values[i, 0, :, :start], v.transpose(0, 1)), 1)
            each = q.shape[1] // len(keys)
            keys, values = (kept.repeat_interleave(each, 0)[None] for kept in (keys, values))
            mixed = F.scaled_dot_product_attention(q.transpose(0, 1)[None], keys, values, seen[self._windows[i]])
            return mixed[0].transpose(0, 1)

        for i in range(self.layers):
            x = self._layers.mixed(i, x + self._layers.attended(i, x, cos, sin, attend))
        read = self._head(self._layers.rms(x[len(tokens) :], self._norm))
        if len(self.ids) == read.shape[1] == self.vocab_size:
            return read
        logits = read.new_full((len(read), self.vocab_size), float("-inf"))
        logits[:, self.ids] = read
        return logits

    def _embed(self, ids: Sequence[int]) -> Tensor:
        if self._embedding is None:
            return self._over.embed(ids)
        return self._embedding[torch.tensor(ids, device=self._embedding.device)]

    def _seen(self, window: int, start: int, block: int) -> Tensor | None:
        """(block, start + block) bool: what a block after `start` positions sees with this window; None: all."""
        if not window:
            return None
        key = torch.arange(start + block, device=self._norm.device)
        at = key[start:, None]
        if not self._config.from_first:
            return (at - key).abs() <= window
        seen = (key >= start - window).expand(block, -1)
        return seen & (key <= at) if self._config.causal else seen

    def copied(self, cache: Cache, token: int, row: int = -1) -> None:
        """It copies nothing."""

    @property
    def nbytes(self) -> int:
        """Bytes of all its weights; of the target's head if it has a copy."""
        return self.weight_bytes() - self._head.nbytes + self._copied

    def weight_bytes(self) -> int:
        """Bytes that a pass reads."""
        return nbytes(self._fc) + sum(self._layers[i].nbytes for i in range(self.layers)) + self._head.nbytes


def open_dflash(folder: Path, name: str, over: Over) -> DFlashDraft:
    """The drafter in a folder, over its target's decoder.

    Raises:
        DraftError: it cannot be opened, or is of another target; the message has the reason and the cure.
    """
    try:
        with opened_checkpoint(folder, name, over) as given:
            return DFlashDraft(given, DFlashConfig.of(given.config))
    except DFlashError as error:
        raise DraftError(f"drafter {name}: {error}") from error
