"""CALM (arXiv 2207.07061): a target that leaves its layers as soon as it is sure, and copies the state upward.

A token leaves at the first of some depths where it is sure: where the two likeliest tokens of the model's own head are
far apart, or where the state changes little from one such depth to the next. The layers above get keys and values of
the state that left, and keep them: approximations that later tokens read. What follows a prefix depends on the prefix
only, so levels below may draft for it. The prompt goes through all layers.

Not in here: the paper's trained measure, and its calibration of the threshold to a bound on the risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import CommittedIds, Outcome, Work, score_by_branches
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.memory import Beside
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.models.cache import Cache, Positions
from hsd_core.models.context import Context
from hsd_core.models.decoder_protocol import Fills
from hsd_core.models.lean.decoder import CHUNK
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import softmax
from hsd_core.systems.calm.notes import Left


class Leaving(NamedTuple):
    """When a token leaves. depths: where it may, rising. sure: the least sureness, which a token must exceed. decay:
    how fast the threshold falls to nine tenths of it over a text. states: compare states, not tokens."""

    depths: tuple[int, ...]
    sure: float
    decay: float = 0.0
    states: bool = False

    def threshold(self, share: float) -> float:
        """At a share of the longest text."""
        return self.sure * (0.9 + 0.1 * exp(-self.decay * share))


class CalmLevel(OverDecoder):
    """A model whose tokens leave early."""

    def __init__(
        self, decoder: Fills, leaving: Leaving, *, label: str = "CALM", weights: dict[str, object] | None = None
    ) -> None:
        """
        Raises:
            ValueError: a depth is none of the model's.
        """
        if not all(1 <= at < decoder.layers for at in leaving.depths):
            raise ValueError(f"exits {[*leaving.depths]} are not within layers 1 to {decoder.layers - 1}")
        params: dict[str, object] = {"leaves": list(leaving.depths), "sure": leaving.sure}
        super().__init__(
            decoder, name="calm", kind="calm", label=label, layers=decoder.layers, params=params, weights=weights
        )
        self.decoder, self.leaving = decoder, leaving
        decoder.fill(
            Pass([0]), decoder.new_cache(1), leaving.depths[0], decoder.embed([0])
        )  # prepared now, not in a run
        s = decoder.shape  # of `fill`, which may need a copy of the layers' first products
        self.store = Beside(4 * decoder.layers * s.hidden * (s.heads + 2 * s.kv_heads) * s.head_size)

    def open(self, capacity: int, shared: SharedState) -> CalmRun:
        return CalmRun(self.decoder, self.leaving, capacity, shared.branches)


class CalmRun:
    """Every token after the prompt is a pass of its own."""

    def __init__(self, decoder: Fills, leaving: Leaving, capacity: int, branches: int = 0) -> None:
        self._decoder, self._leaving, self._capacity = decoder, leaving, capacity
        self._cache: Cache = decoder.new_cache(capacity, branches=branches)
        self._prompt: int | None = None  # its length

    @property
    def cached(self) -> int:
        return self._cache.length

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        self._left = list[tuple[int, float]]()
        logits, work = score_by_branches(self._score, self._cache, context, tree)
        if not tree.is_chain or not self._left:
            return logits, work
        depths, sure = zip(*self._left[-len(logits) :], strict=True)
        return logits, Work(work.forwards, work.rows, work.catch_up, work.ran, noted(Left(depths, sure)))

    @torch.inference_mode()
    def _score(self, ids: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        """The logits after the last `rows` ids."""
        before, end = self.cached, len(ids)
        whole = min(end, max(before, (self._prompt or 1) - 1))  # the last token of the prompt may leave
        spans, found = list[Span](), list[Tensor]()
        if before < whole:
            given = Pass(ids[before:whole], before, max(0, rows - (end - whole)))
            read = [self._through(part) for part in given.parts(CHUNK)]
            found, spans = [part for part in read if len(part)], [Span(0, self._decoder.layers, whole - before)]
        for at in range(whole, end):
            logits, depth = self._step(ids[at], at)
            found.append(logits)
            spans.append(Span(0, depth, 1))
        return torch.cat(found)[-rows:], Work(1, end - before, end - before - rows, tuple(spans))

    def _through(self, part: Pass) -> Tensor:
        x = self._decoder.forward_layers(part, self._cache, 0, self._decoder.layers)
        return self._decoder.head(x[len(x) - part.wanted :]) if part.wanted else x[:0]

    def _step(self, token: int, at: int) -> tuple[Tensor, int]:
        """The (1, V) logits after one token, and the depth where it left."""
        given, decoder, leaving = Pass([token], at), self._decoder, self._leaving
        prompt = self._prompt or 1
        least = leaving.threshold((at - prompt + 1) / max(1, self._capacity - prompt))
        x, lo = decoder.embed([token]), 0
        for depth in leaving.depths:
            below, x = x, decoder.forward_layers(given, self._cache, lo, depth, x)
            lo, logits = depth, None if leaving.states else decoder.head(x)
            sure = _alike(below, x) if logits is None else _gap(logits)
            if sure > least:
                decoder.fill(given, self._cache, depth, x)
                self._left.append((depth, sure))
                return decoder.head(x) if logits is None else logits, depth
        x = decoder.forward_layers(given, self._cache, lo, decoder.layers, x)
        self._left.append((decoder.layers, sure))
        return decoder.head(x), decoder.layers

    def keep(self, start: int, path: Sequence[int]) -> None:
        self._cache.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        """The first ids are the prompt."""
        if self._prompt is None and isinstance(outcome, CommittedIds):
            self._prompt = len(outcome.ids)

    def close(self) -> None:
        self._cache = Positions()


def _gap(logits: Tensor) -> float:
    """The distance of the two highest probabilities of a (1, V) row, in [0, 1]."""
    first, second = softmax(logits)[0].topk(2).values.tolist()
    return float(first - second)


def _alike(one: Tensor, then: Tensor) -> float:
    """The cosine between two (1, hidden) states, at most 1."""
    return min(1.0, float(F.cosine_similarity(one.float(), then.float())))
