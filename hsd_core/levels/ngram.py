"""HD's databases as the bottom level: lookups instead of forwards (arXiv 2502.05609, Findings NAACL 2025).

A lookup has no distribution: its rows are one-hot, so a verifier accepts x with probability p(x). It drafts only;
a miss hands up an empty block, and the level above goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.levels.protocol import Counting, DraftOrder, Proposal, Work

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.levels.commons import Commons
    from hsd_core.ngram import Databases


class NgramLevel:
    """`databases()` makes the databases of one run; static ones are shared inside them, read-only."""

    kind = "ngram"
    can_draft = True
    can_verify = False
    has_cache = False
    max_positions: int | None = None
    layers: int | None = None
    device = "cpu"
    dtype = "ids"

    def __init__(
        self,
        databases: Callable[[], Databases],
        vocab_size: int,
        *,
        name: str = "ngram",
        label: str = "n-gram databases",
        weights: dict[str, object] | None = None,
        params: dict[str, object] | None = None,
    ) -> None:
        self._databases, self.vocab_size = databases, vocab_size
        self.name, self.label, self.weights = name, label, weights
        self.params = params or {}

    def open(self, capacity: int, commons: Commons) -> NgramRun:
        return NgramRun(self._databases(), self.vocab_size)


class NgramRun(Counting):
    cached = 0

    def __init__(self, databases: Databases, vocab_size: int) -> None:
        self._databases, self._vocab_size = databases, vocab_size
        self._told: dict[str, Any] = databases.counts()

    def propose(self, tape: list[int], order: DraftOrder) -> Proposal:
        import torch

        found = self._databases.guess(tape, order.limit)
        end = next((i for i, x in enumerate(found) if x.token in order.ends), len(found) - 1)
        found = found[: end + 1]
        ids = tuple(x.token for x in found)
        rows = torch.zeros(len(ids), self._vocab_size)
        if ids:
            rows[torch.arange(len(ids)), torch.tensor(ids)] = 1.0
        letters, copied = tuple(x.letter for x in found), tuple(x.copied for x in found)
        return Proposal(ids, rows, letters, None, Work(1, 0, 0), copied)

    def score(self, tape: Sequence[int], rows: int) -> tuple[Tensor, Work]:
        raise TypeError("an n-gram level has no distribution and cannot verify")

    def commit(self, ids: Sequence[int]) -> None:
        self._databases.insert(ids)

    def rollback(self, length: int) -> None:
        """Nothing to do: only committed tokens are ever stored."""

    def take_counts(self) -> dict[str, Any]:
        counts, before = self._databases.counts(), self._told
        self._told = counts
        hits = {letter: n - before["hits"].get(letter, 0) for letter, n in counts["hits"].items()}
        return {
            "inserts": counts["inserts"] - before["inserts"],
            "evictions": counts["evictions"] - before["evictions"],
            "hits": hits,
            "misses": counts["misses"] - before["misses"],
        }

    def close(self) -> None:
        """Nothing is held outside this object."""
