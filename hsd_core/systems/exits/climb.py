"""Drafting at the first exit that is sure, chosen anew for each token (AdaDecode, arXiv 2506.03700).

An exit is sure if the top probability of its row is theta or more (the raw softmax, before the token is drawn). The
layers above that exit are deferred for this token; a later token that climbs higher, or the verification, runs them for
all tokens that lack them in one pass (`trunk`). If no exit is sure the draft ends, and the level above reads the last
token in its own layers.

The test is of the row, not of the drawn token: a token that must itself be likely would not follow the row that is
handed up, and the output would not follow the target's distribution.

With `gap` an exit is sure if its two likeliest tokens are more than theta apart (p1 - p2), as in FREE; with `moves`
theta is fitted to the verifier's verdicts (`trusting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import DraftOrder, DrawnFrom, Outcome, Proposal, Verified, Work
from hsd_core.core.notes import Threshold, noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.readout import Readout
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.sampling import Logits, OneHot, likeliest, softmax
from hsd_core.systems.exits.chosen_exit import Exit
from hsd_core.systems.exits.exit_level import SeveralExits
from hsd_core.systems.exits.trusting import MovingThreshold


class ClimbLevel(SeveralExits):
    """The exits of `readouts` (depth -> read-out) of one model, tried from the shallowest on for every token."""

    def __init__(
        self,
        decoder: Layered,
        readouts: Mapping[int, Readout],
        theta: float,
        *,
        gap: bool = False,
        moves: bool = False,
        weights: dict[str, object] | None = None,
    ) -> None:
        """See `SeveralExits`."""
        self.theta, self.gap, self.moves, depths = theta, gap, moves, sorted(readouts)
        label = "climb through exits " + ", ".join(map(str, depths))
        super().__init__(decoder, readouts, name="climb", label=label, params={"climbs": depths}, weights=weights)
        first = self.readouts[depths[0]]
        self.about.params.update(readout=first.name, layers=first.layers)

    def open(self, capacity: int, shared: SharedState) -> ClimbRun:
        trunk = self.enter(shared)
        exits = [Exit(trunk, at, one, f"layer {at}") for at, one in self.readouts.items()]
        return ClimbRun(exits, self.theta, gap=self.gap, moves=self.moves)


class ClimbRun:
    """`cached`: positions that the first exit has read; deeper ones have read fewer where it was sure."""

    def __init__(self, exits: Sequence[Exit], theta: float, *, gap: bool = False, moves: bool = False) -> None:
        self.exits, self._gap, self._moving = exits, gap, MovingThreshold(theta) if moves else None
        self._theta, self._drafted = theta, (0, list[int](), list[float]())  # where, what, how sure: the last draft

    @property
    def theta(self) -> float:
        """The present threshold."""
        return self._theta if self._moving is None else self._moving.theta

    @property
    def cached(self) -> int:
        return self.exits[0].cached

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        line, ids, sources = context, list[int](), list[str]()
        logits, rows = list[Tensor](), list[Tensor]()
        forwards, computed, ran = 0, 0, list[Span]()
        sure = list[float]()
        self._drafted = len(context), ids, sure
        while len(ids) < order.limit and not order.stops(len(ids), logits[-1][0] if ids else None):
            before = self.cached
            found, spans = self._climb(line)
            forwards, computed = forwards + 1, computed + max(1, len(line) - before)
            ran.extend(spans)
            if found is None:
                break
            exit_, row = found
            if self._moving is not None:
                sure.append(self._sure(row))
            token = self._drawn(row, order, len(ids), rows)
            logits.append(row)
            ids.append(token)
            sources.append(exit_.source)
            if token in order.ends:
                break
            line = line + [token]
        work = Work(forwards, computed, computed - forwards, tuple(ran))
        if not ids:
            return Proposal((), (), work, notes=noted(Threshold(self.theta)))
        drawn = DrawnFrom(torch.stack(rows) if rows else None, Logits(torch.cat(logits)))
        return Proposal(tuple(ids), tuple(sources), work, drawn, notes=noted(Threshold(self.theta)))

    def _climb(self, line: Context) -> tuple[tuple[Exit, Tensor] | None, tuple[Span, ...]]:
        """The first exit that is sure of the next token with its (1, V) logits, or None; and the layers run."""
        ran: list[Span] = []
        for exit_ in self.exits:
            logits, work = exit_.reach(line)
            ran.extend(work.ran)
            (logits,) = fetched(logits)
            sure = self._sure(logits)
            if sure > self.theta or (sure == self.theta and not self._gap):
                return (exit_, logits), tuple(ran)
        return None, tuple(ran)

    def _sure(self, logits: Tensor) -> float:
        """The top probability of a (1, V) row, or its distance from the second."""
        row = softmax(logits)[0]
        if not self._gap:
            return float(row.amax())
        first, second = row.topk(2).values.tolist()
        return float(first - second)

    def _drawn(self, logits: Tensor, order: DraftOrder, place: int, rows: list[Tensor]) -> int:
        """Draw a token; its row joins `rows` unless the run is greedy."""
        if order.sampler.greedy:
            token: int = likeliest(logits).tolist()[0]
            order.sampler.check(logits, [token])
            return token
        rows.append(order.sampler.to_probs(logits)[0])
        token = order.sampler.pick(rows[-1], place, 0)
        return token

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Reads the prompt through every exit; the level never verifies."""
        before = self.cached
        done = [e.reach(context) for e in self.exits if e.remembers or e is self.exits[-1]]
        spans = tuple(span for _, work in done for span in work.ran)
        rows = max(1, len(context) - before)
        return done[-1][0], Work(1, rows, rows - 1, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        for e in self.exits:
            e.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        """A moving threshold learns from the verifier's rows."""
        start, ids, sure = self._drafted
        if self._moving is not None and isinstance(outcome, Verified) and outcome.start == start:
            rows = outcome.rows
            best = rows.ids if isinstance(rows, OneHot) else likeliest(rows).tolist()
            agreed = [own == id_ for own, id_ in zip(best, ids, strict=False)]
            self._moving.saw(sure[: len(agreed)], agreed)

    def close(self) -> None:
        for e in self.exits:
            e.close()
