"""Two models that take turns by entropy (EAD, arXiv 2502.06833): the small one writes while the text is easy.

Every row of a writer has an entropy, in bits, of its raw softmax. While the mean of the last `window` is at least tau
the large model writes, below it the small one. After a change the writer stays for `stay` tokens, so that the mean is
of its own entropies: two models' are not on one scale (the paper's stay was not found). Before the first token the mean
is 0: at tau 0 the large model writes everything, and at a tau that no entropy reaches the small one does.

A model that takes over first reads what it missed, in one pass. What follows a prefix depends on the prefix only.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import CommittedIds, LevelRun, Outcome, Scorer, Work, score_by_branches, score_ids, scorer
from hsd_core.core.notes import noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.memory import Beside
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.shared import SharedState
from hsd_core.models import Decoder
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.systems.turns.notes import Turns


class Turning(NamedTuple):
    """When the writer changes. tau: bits."""

    tau: float
    window: int = 5
    stay: int = 5


class Writer(Protocol):
    """A `ModelLevel`, or an `ExitLevel` of the large model."""

    decoder: Decoder

    def open(self, capacity: int, shared: SharedState) -> LevelRun: ...


class TurnsLevel(OverDecoder):
    """A small and a large writer; decoder: the large one's."""

    def __init__(
        self,
        decoder: Decoder,
        small: Writer,
        large: Writer,
        turning: Turning,
        *,
        label: str = "turns",
        weights: dict[str, object] | None = None,
        params: dict[str, object] | None = None,
    ) -> None:
        super().__init__(
            decoder,
            name="turns",
            kind="turns",
            label=label,
            layers=decoder.layers,
            params={**turning._asdict(), **(params or {})},
            weights=weights,
        )
        self.decoder, self.small, self.large, self.turning = decoder, small, large, turning
        self.store = Beside(0 if small.decoder is decoder else small.decoder.weight_bytes())

    def open(self, capacity: int, shared: SharedState) -> TurnsRun:
        own = SharedState(capacity, shared.branches, shared.positions)
        large = self.large.open(capacity, own)  # before the small one, which may be an exit of it
        small = self.small.open(capacity, own)
        own.prepare()
        return TurnsRun(scorer(small), scorer(large), self.turning)


class TurnsRun:
    """`cached`: positions that have a row; each of the two models may have read fewer."""

    def __init__(self, small: Scorer, large: Scorer, turning: Turning) -> None:
        self._writers, self._turning = (small, large), turning
        self._read = 0  # positions of the prompt, without the last, that both have read
        self._prompt: int | None = None
        self._turns = list[tuple[int, float]]()  # of each later position: who wrote the row after it, and its entropy

    @property
    def cached(self) -> int:
        return self._read + len(self._turns)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        logits, work = score_by_branches(self._score, self, context, tree)
        if not tree.is_chain or len(self._turns) < len(logits):
            return logits, work
        who, bits = zip(*self._turns[-len(logits) :], strict=True)
        return logits, Work(work.forwards, work.rows, work.catch_up, work.ran, noted(Turns(who, bits)))

    def _score(self, ids: Context, rows: int) -> tuple[Tensor, Work]:
        """The logits after the last `rows` ids."""
        begun, end = self.cached, len(ids)
        whole = min(end, max(begun, (self._prompt or 1) - 1))
        found, computed, ran = list[Tensor](), 0, list[Span]()
        if begun < whole:
            wanted = max(0, rows - (end - whole))
            for writer in self._writers:
                logits, work = score_ids(writer, ids[:whole], max(1, wanted))
                computed, ran = computed + work.rows, [*ran, *work.ran]
            found, self._read = [logits[len(logits) - wanted :]], whole
        for at in range(whole, end):
            who = self._next()
            logits, work = self._writers[who].score(ids.cut(at + 1))
            (logits,) = fetched(logits)
            self._turns.append((who, _entropy(logits)))
            found.append(logits)
            computed, ran = computed + work.rows, [*ran, *work.ran]
        return torch.cat(found), Work(1, computed, computed - rows, tuple(ran))

    def _next(self) -> int:
        """Who writes the next row: 0 the small, 1 the large model."""
        turns, (tau, window, stay) = self._turns, self._turning
        on = turns[-1][0] if turns else None
        if on is not None and any(who != on for who, _ in turns[-stay:]):
            return on
        return int((fmean(bits for _, bits in turns[-window:]) if turns else 0.0) >= tau)

    def cut(self, length: int) -> None:
        """See `Cut.cut`."""
        for writer in self._writers:
            if writer.cached > length:
                writer.keep(length, ())
        self._read = min(self._read, length)
        del self._turns[max(0, length - self._read) :]

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Of a tree that was read as branches only a chain is still there."""
        self.cut(min(self.cached, start + len(path)))

    def observe(self, outcome: Outcome) -> None:
        """The first ids are the prompt."""
        if self._prompt is None and isinstance(outcome, CommittedIds):
            self._prompt = len(outcome.ids)

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


def _entropy(logits: Tensor) -> float:
    """Of a (1, V) row's softmax, in bits."""
    logs = logits[0].double().log_softmax(-1)
    return float(-(logs.exp() * logs).nan_to_num().sum() / 0.6931471805599453)
