"""HD's databases as the bottom level: lookups instead of forwards (arXiv 2502.05609, Findings NAACL 2025).

A lookup has no distribution: its tokens are named, not drawn, so a verifier accepts x with probability p(x). It drafts
only; on a miss nothing goes up, and the level above goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.levels.protocol import Committed, Counts, DraftOrder, Outcome, Proposal, Work

if TYPE_CHECKING:
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
        return NgramRun(self._databases())


class NgramRun:
    cached = 0

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._counted: dict[str, Any] = databases.counts()

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        found = self._databases.guess(context, order.limit)
        end = next((i for i, x in enumerate(found) if x.token in order.ends), len(found) - 1)
        found = found[: end + 1]
        ids, letters = tuple(x.token for x in found), tuple(x.letter for x in found)
        return Proposal(ids, letters, Work(1, 0, 0), copied=tuple(x.copied for x in found))

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: only committed tokens are ever stored."""

    def observe(self, outcome: Outcome) -> Counts | None:
        if not isinstance(outcome, Committed):
            return None
        self._databases.insert(outcome.ids)
        counts, before = self._databases.counts(), self._counted
        self._counted = counts
        hits = {letter: n - before["hits"].get(letter, 0) for letter, n in counts["hits"].items()}
        return {
            "inserts": counts["inserts"] - before["inserts"],
            "evictions": counts["evictions"] - before["evictions"],
            "hits": hits,
            "misses": counts["misses"] - before["misses"],
        }

    def close(self) -> None:
        """Nothing is held outside this object."""
