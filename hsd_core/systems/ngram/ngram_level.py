"""Drafts by lookup: HD's databases (arXiv 2502.05609, Findings NAACL 2025), and lookahead decoding's pool.

A lookup has no distribution: its tokens are named, not drawn, so a verifier accepts x with probability p(x). The level
only drafts; on a miss nothing goes up, and the level above continues alone.

A lookahead window (arXiv 2402.02057) is computed in the passes of the level above as probes, and its n-grams are looked
up from then on. The named tokens depend only on the past, so the output's distribution does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hsd_core.core.level import CommittedIds, DraftOrder, Forks, LevelAbout, Outcome, Proposal, Verified, Work
from hsd_core.core.notes import noted
from hsd_core.core.tree import NO_PROBES, Probes
from hsd_core.levels.notes import Copies, Lookups
from hsd_core.models.context import Context
from hsd_core.systems.ngram.window import Window

if TYPE_CHECKING:
    from hsd_core.levels.lookup_trie import Found
    from hsd_core.levels.shared import SharedState
    from hsd_core.systems.ngram.databases import Databases
    from hsd_core.systems.ngram.suffix_db import Suffixes
from hsd_core.systems.ngram.notes import Filed


class NgramLevel:
    """`databases()` makes the databases of one run; static ones are shared, read-only.

    guess: sequences in a draft (HD: 7); several form a tree; 0: the order's tree says how many. window, n: the columns
    of the lookahead window (0: none) and the tokens of its n-grams.
    """

    can_verify = has_cache = False
    max_positions: int | None = None

    def __init__(
        self,
        databases: Callable[[], Databases | Suffixes],
        vocab_size: int,
        *,
        name: str = "ngram",
        kind: str = "ngram",
        label: str = "n-gram databases",
        guess: int = 1,
        window: int = 0,
        n: int = 5,
        weights: dict[str, object] | None = None,
        params: dict[str, object] | None = None,
    ) -> None:
        self.name, self._databases, self.vocab_size, self._guess = name, databases, vocab_size, guess
        self.ahead = (window, n) if window else None
        self.about = LevelAbout(
            kind=kind,
            label=label,
            dtype="ids",
            weights=weights,
            params={**databases().settings(), **(params or {})},
            sequences=max(guess, 1),
            probes=Window.most(window, n) if window else 0,
        )

    def window_probes(self, text: Sequence[int]) -> Probes:
        """The probes of its lookahead window when it is full."""
        assert self.ahead is not None, "it has no window"
        window = Window(*self.ahead, text)
        for _ in range(self.ahead[1]):
            window.step(text[0], [text[0]] * len(window.probes()[0]))
        return Probes(*window.probes())

    def open(self, capacity: int, shared: SharedState) -> NgramRun:
        databases = self._databases()
        if shared.earlier is not None:
            databases.look_in(shared.earlier)
        return NgramRun(databases, self._guess, self.ahead, shared.positions if self.ahead else None)


class NgramRun:
    """ahead: columns of the lookahead window and tokens of its n-grams. positions: the end for probes."""

    cached = 0

    def __init__(
        self,
        databases: Databases | Suffixes,
        guess: int = 1,
        ahead: tuple[int, int] | None = None,
        positions: int | None = None,
    ) -> None:
        self._databases, self._guess, self._ahead, self._positions = databases, guess, ahead, positions
        self._window: Window | None = None
        self._last = -1  # the context's last token at the last draft
        self._filed: list[tuple[int, ...]] = []  # n-grams of the window since the last commit
        self._counted = databases.counts()
        self._prompted = False

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        probes = self._probes(context, order)
        sequences, silent = self.look_up(context, order)
        nodes: dict[tuple[int, int], int] = {}  # (parent, token) -> node: common prefixes are one branch
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
        work = Work(1, 0, 0)
        copies = Copies(copied) if any(copied) else None
        notes = noted(copies, Lookups(keys, silent) if found or silent else None)
        return Proposal(ids, letters, work, forks=Forks(tree), probes=probes, notes=notes)

    def _probes(self, context: Context, order: DraftOrder) -> Probes:
        if self._ahead is None:
            return NO_PROBES
        if self._window is None:  # the context is still the prompt
            self._window = Window(*self._ahead, context, order.ends)
        self._last = context[-1]
        if self._positions is not None and len(context) + self._window.deepest > self._positions:
            return NO_PROBES
        return Probes(*self._window.probes())

    def look_up(self, context: Context, order: DraftOrder) -> tuple[list[list[Found]], int]:
        """Sequences that may follow, cut to the draft's limit and behind an end of text; the number of misses."""
        missed, found = self._databases.misses, []
        for sequence in self._databases.guesses(context, order.limit, self._guess or order.shape.nodes):
            end = next((n for n, one in enumerate(sequence, 1) if one.token in order.ends), len(sequence))
            found.append(sequence[:end])
        return found, self._databases.misses - missed

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: only committed tokens are stored."""

    def observe(self, outcome: Outcome) -> Filed | None:
        if isinstance(outcome, Verified) and outcome.probed and self._window is not None:
            whole = self._window.step(self._last, outcome.probed)
            self._databases.file(whole)
            self._filed += whole
        if not isinstance(outcome, CommittedIds):
            return None
        self._databases.insert(outcome.ids)
        if not self._prompted:  # the prompt's inserts count to the first round
            self._prompted = True
            return None
        counts, before = self._databases.counts(), self._counted
        filed, self._filed, self._counted = tuple(self._filed), [], counts
        return Filed(counts["inserts"] - before["inserts"], counts["evictions"] - before["evictions"], filed)

    def close(self) -> None:
        self._databases.close()
