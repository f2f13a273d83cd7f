"""HD's databases as the bottom level: lookups instead of forwards (arXiv 2502.05609, Findings NAACL 2025).

A lookup has no distribution: its tokens are named, not drawn, so a verifier accepts x with probability p(x). It drafts
only; on a miss nothing goes up, and the level above goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hsd_core.levels.protocol import Committed, Counts, DraftOrder, Outcome, Proposal, Work

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState
    from hsd_core.ngram import Databases
    from hsd_core.ngram.databases import Found


class NgramLevel:
    """`databases()` makes the databases of one run; static ones are shared inside them, read-only.

    guess: how many sequences a draft offers side by side (HD: 7); several form a tree.
    """

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
        guess: int = 1,
        weights: dict[str, object] | None = None,
        params: dict[str, object] | None = None,
    ) -> None:
        self._databases, self.vocab_size, self.guess = databases, vocab_size, guess
        self.name, self.label, self.weights = name, label, weights
        self.params: dict[str, object] = {**databases().settings(), **(params or {})}

    def open(self, capacity: int, shared: SharedState) -> NgramRun:
        return NgramRun(self._databases(), self.guess)


class NgramRun:
    cached = 0

    def __init__(self, databases: Databases, guess: int = 1) -> None:
        self._databases, self._guess = databases, guess
        self._counted: dict[str, Any] = databases.counts()
        self._prompted = False

    def propose(self, context: Sequence[int], order: DraftOrder) -> Proposal:
        sequences, silent = self.look_up(context, order)
        nodes: dict[tuple[int, int], int] = {}  # (parent, token) -> node: what begins alike is one branch
        found: list[Found] = []
        for sequence in sequences:
            parent = -1
            for one in sequence:
                if (parent, one.token) not in nodes:
                    nodes[parent, one.token] = len(found)
                    found.append(one)
                parent = nodes[parent, one.token]
        ids, letters, keys, copied = (tuple(part) for part in zip(*found, strict=True)) if found else ((),) * 4
        parents = tuple(parent for parent, _ in nodes)
        chain = parents == tuple(range(-1, len(found) - 1))
        tree = None if chain else parents
        return Proposal(ids, letters, Work(1, 0, 0), parents=tree, copied=copied, keys=keys, silent=silent)

    def look_up(self, context: Sequence[int], order: DraftOrder) -> tuple[list[list[Found]], int]:
        """Sequences that may follow, none longer than a draft may be or going on behind an end; lookups in vain."""
        missed, found = self._databases.misses, []
        for sequence in self._databases.guesses(context, order.limit, self._guess):
            end = next((n for n, one in enumerate(sequence, 1) if one.token in order.ends), len(sequence))
            found.append(sequence[:end])
        return found, self._databases.misses - missed

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: only committed tokens are ever stored."""

    def observe(self, outcome: Outcome) -> Counts | None:
        if not isinstance(outcome, Committed):
            return None
        self._databases.insert(outcome.ids)
        if not self._prompted:  # the prompt is counted with the first round
            self._prompted = True
            return None
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
