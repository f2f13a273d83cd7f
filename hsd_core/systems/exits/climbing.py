"""A climb through the exits of one model, anew for each token (AdaDecode, arXiv 2506.03700).

A token is drafted at the first exit that is sure: whose *row* has a top probability of theta or more (the raw softmax,
before the token is drawn). The layers above that exit are deferred for this token; a later one that climbs higher, or
the verification, runs them for all tokens that lack them in one pass (`trunk`). Where no exit is sure the draft ends,
so that the level above reads the last token in its own layers.

What is looked at is the row. A token that must itself be likely would not be drawn from the row that is handed up, and
the output would follow another distribution than the target's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import DraftOrder, DrawnFrom, Outcome, Proposal, Work
from hsd_core.core.notes import Threshold, noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.model_level import OverDecoder
from hsd_core.levels.readout import Readout
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.sampling import Logits, likeliest, softmax
from hsd_core.systems.exits.choosing import Exit


class Step(Protocol):
    """An exit that is climbed through. `cached`: how much of the context it has read."""

    source: str

    @property
    def cached(self) -> int: ...

    @property
    def remembers(self) -> bool:
        """Whether it has to read every position."""
        ...

    def reach(self, context: Context) -> tuple[Tensor, Work]:
        """The (1, V) logits behind the context, once it has read what is new of it."""
        ...

    def keep(self, start: int, path: Sequence[int]) -> None: ...

    def close(self) -> None: ...


class ClimbLevel(OverDecoder):
    """The exits of `readouts` (depth -> read-out) of one model, climbed through for every token."""

    can_verify = False

    def __init__(
        self,
        decoder: Layered,
        readouts: Mapping[int, Readout],
        theta: float,
        *,
        weights: dict[str, object] | None = None,
    ) -> None:
        """
        Raises:
            ValueError: there is no exit to climb to, or one that is not an early one.
        """
        if not readouts or not all(1 <= at < decoder.layers for at in readouts):
            raise ValueError(f"exits {sorted(readouts)} are not within layers 1 to {decoder.layers - 1}")
        self.decoder, self.readouts, self.theta = decoder, dict(sorted(readouts.items())), theta
        first, deepest = next(iter(self.readouts.values())), max(self.readouts)
        params: dict[str, object] = {"climbs": [*self.readouts], "readout": first.name, "layers": first.layers}
        label = "climb through exits " + ", ".join(map(str, self.readouts))
        super().__init__(
            decoder, name="climb", kind="climb", label=label, layers=deepest, params=params, weights=weights
        )

    def enter(self, shared: SharedState) -> Trunk:
        """Marks every exit's depth, the deepest first."""
        trunks = [shared.trunk(self.decoder, at) for at in reversed(self.readouts)]
        return trunks[-1]

    def open(self, capacity: int, shared: SharedState) -> ClimbRun:
        trunk = self.enter(shared)
        return ClimbRun([Exit(trunk, at, one, f"layer {at}") for at, one in self.readouts.items()], self.theta)


class ClimbRun:
    """`cached`: what the first exit has read; the others have read no more, and less where tokens were sure early."""

    def __init__(self, exits: Sequence[Step], theta: float) -> None:
        self.exits, self.theta = exits, theta

    @property
    def cached(self) -> int:
        return self.exits[0].cached

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        line, ids, sources = context, list[int](), list[str]()
        logits, rows = list[Tensor](), list[Tensor]()
        forwards, computed, ran = 0, 0, list[Span]()
        while len(ids) < order.limit and not order.stops(len(ids), logits[-1][0] if ids else None):
            before = self.cached
            found, spans = self._climb(line)
            forwards, computed = forwards + 1, computed + max(1, len(line) - before)
            ran.extend(spans)
            if found is None:
                break
            exit_, row = found
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

    def _climb(self, line: Context) -> tuple[tuple[Step, Tensor] | None, tuple[Span, ...]]:
        """The first exit that is sure of what comes behind the line, with its (1, V) logits, and the layers run."""
        ran: list[Span] = []
        for exit_ in self.exits:
            logits, work = exit_.reach(line)
            ran.extend(work.ran)
            (logits,) = fetched(logits)
            if float(softmax(logits).amax()) >= self.theta:
                return (exit_, logits), tuple(ran)
        return None, tuple(ran)

    def _drawn(self, logits: Tensor, order: DraftOrder, place: int, rows: list[Tensor]) -> int:
        """A token of this row, which joins the others unless it is greedy."""
        if order.sampler.greedy:
            token: int = likeliest(logits).tolist()[0]
            order.sampler.check(logits, [token])
            return token
        rows.append(order.sampler.to_probs(logits)[0])
        token = order.sampler.pick(rows[-1], place, 0)
        return token

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """The prompt goes through every exit; nobody verifies with this level."""
        before = self.cached
        done = [e.reach(context) for e in self.exits if e.remembers or e is self.exits[-1]]
        spans = tuple(span for _, work in done for span in work.ran)
        rows = max(1, len(context) - before)
        return done[-1][0], Work(1, rows, rows - 1, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        for e in self.exits:
            e.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        """Nothing to do: it does not learn."""

    def close(self) -> None:
        for e in self.exits:
            e.close()
