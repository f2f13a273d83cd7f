"""Drafts by Jacobi iteration (Santilli et al. 2023, arXiv 2305.10427): the level above rewrites its own guesses.

    text .. x | g1 g2 g3 g4    one pass over the guesses predicts a token behind x and behind each g
                t  h2 h3 h4 h5  t is the verifier's own; h2 .. h5 are the guesses behind t of the next pass

A guess is right as soon as everything before it is, so n tokens take at most n passes. Guesses depend only on the past
and are named, not drawn: a verifier keeps x with probability p(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING

from hsd_core.core.level import DraftOrder, LevelAbout, Outcome, Proposal, Verified, Work
from hsd_core.core.tree import NO_PROBES, Probes
from hsd_core.models.context import Context

if TYPE_CHECKING:
    from hsd_core.levels.shared import SharedState


class JacobiLevel:
    """window: tokens in the block of guesses."""

    name = "jacobi"
    can_verify = has_cache = False
    max_positions: int | None = None

    def __init__(self, vocab_size: int, window: int) -> None:
        self.vocab_size, self.window = vocab_size, window
        params: dict[str, object] = {"window": window}
        self.about = LevelAbout(kind="jacobi", label="Jacobi guesses", dtype="ids", params=params, probes=window)

    def window_probes(self, text: Sequence[int]) -> Probes:
        """The probes of its block, for any text."""
        return _in_line(list(islice(cycle(text), self.window)))

    def open(self, capacity: int, shared: SharedState) -> JacobiRun:
        return JacobiRun(self.window, shared.positions)


class JacobiRun:
    """positions: the end for probes."""

    cached = 0

    def __init__(self, window: int, positions: int | None) -> None:
        self._window, self._positions = window, positions
        self._at, self._guesses = 0, list[int]()  # position of the first guess
        self._filler: cycle[int] | None = None

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        length = len(context)
        if self._filler is None:  # the context is still the prompt
            self._filler = cycle([id_ for id_ in context if id_ not in order.ends] or list(context))
        known = self._guesses[length - self._at :] if self._at <= length else []  # else its text was dropped
        guesses = [next(self._filler) if id_ in order.ends else id_ for id_ in known]
        guesses += islice(self._filler, self._window - len(guesses))
        fits = self._positions is None or length + self._window <= self._positions
        ids = tuple(guesses[: order.limit])
        return Proposal(ids, ("w",) * len(ids), Work(1, 0, 0), probes=_in_line(guesses) if fits else NO_PROBES)

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Nothing to do: guesses know their position."""

    def observe(self, outcome: Outcome) -> None:
        if isinstance(outcome, Verified) and outcome.probed:
            self._at, self._guesses = outcome.start + 1, list(outcome.probed)

    def close(self) -> None:
        self._guesses = []


def _in_line(ids: Sequence[int]) -> Probes:
    """A chain after the context."""
    return Probes(tuple(ids), tuple(range(-1, len(ids) - 1)))
