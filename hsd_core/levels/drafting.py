"""Autoregressive drafting for any level that can score: one forward a token (HSD's level 0).

On a device, tokens are drawn there and copied to the host once, after the last one: waiting for every token would add
the launch of its pass. Tokens after an end of the text are dropped then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import DraftOrder, DrawnFrom, Proposal, Work
from hsd_core.core.notes import noted
from hsd_core.levels.notes import Copies
from hsd_core.models.context import Context
from hsd_core.models.gpu.device_rows import DeviceLogits, ranking
from hsd_core.models.gpu.device_text import Mark
from hsd_core.models.gpu.pending_context import PendingContext
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.sampling import Logits, TrimmedLogits, joined_rows, likeliest, on_host
from hsd_core.models.suffixes import Copied

CopiedFrom = Callable[[int], Copied | None]
_Drafted = tuple[list[int], DrawnFrom, list[Copied | None]]  # ids, rows that they were drawn from, copies


class Scores(Protocol):
    """Gives logits after a context; on a device, where a draft may be cut, also `keep`. A `Scorer` is one.

    One with a trimmed head also has `next_row`, the same as `TrimmedLogits`.
    """

    def score(self, context: Context) -> tuple[Tensor, Work]: ...
    def keep(self, start: int, path: Sequence[int]) -> None: ...


@dataclass(slots=True)
class _Forwards:
    """The forwards of one draft: the (1, C) logits of each, and their work. trimmed: with their tokens; empty: all."""

    run: Scores
    logits: list[Tensor] = field(default_factory=list)
    trimmed: list[TrimmedLogits] = field(default_factory=list)
    forwards: int = 0
    rows: int = 0
    catch_up: int = 0
    ran: list[Span] = field(default_factory=list)

    def score(self, line: Context) -> Tensor:
        logits, work = getattr(self.run, "next_row", self.run.score)(line)
        if isinstance(logits, TrimmedLogits):
            self.trimmed.append(logits)
            logits = logits.rows[0][0][None]
        self.logits.append(logits)
        self.forwards, self.rows = self.forwards + work.forwards, self.rows + work.rows
        self.catch_up += work.catch_up
        self.ran.extend(work.ran)
        return logits

    def token(self, column: int) -> int:
        """The token of a column of the last logits."""
        return int(self.trimmed[-1].rows[0][1][column]) if self.trimmed else column

    def drawn_from(self, rows: list[Tensor]) -> DrawnFrom:
        """rows: (C,) the distributions of the tokens, if they have any."""
        if not self.trimmed:
            return DrawnFrom(torch.stack(rows) if rows else None, Logits(torch.cat(self.logits)))
        logits = joined_rows(self.trimmed)
        return DrawnFrom(logits.spread(rows, 0.0) if rows else None, logits)

    def goes_on(self, order: DraftOrder) -> bool:
        drafted = len(self.logits)
        return drafted < order.limit and not order.stops(drafted, self.logits[-1][0] if drafted else None)

    @property
    def work(self) -> Work:
        return Work(self.forwards, self.rows, self.catch_up, tuple(self.ran))


def draft_token_by_token(
    run: Scores,
    context: Context,
    order: DraftOrder,
    source: str,
    copied: CopiedFrom = lambda token: None,
    mark: Callable[[], Mark | None] = lambda: None,
) -> Proposal:
    """A chain of at most `order.limit` tokens.

    Args:
        copied: the origin of a token drawn from the last row; None if it is not a copy. mark: the same on a device,
            before the token is known to the host.
    """
    made = _Forwards(run)
    if not made.goes_on(order):
        return Proposal((), (), made.work)
    first = made.score(context)
    ids, drawn, origins = (
        _on_host(made, context, order, copied) if on_host(first) else _on_device(made, context, order, mark)
    )
    if len(ids) < len(made.logits):
        run.keep(len(context) + len(ids) - 1, ())
    notes = noted(Copies(tuple(origins)) if any(origins) else None)
    return Proposal(tuple(ids), (source,) * len(ids), made.work, drawn, notes=notes)


def _on_host(made: _Forwards, line: Context, order: DraftOrder, copied: CopiedFrom) -> _Drafted:
    """Draft on after the first forward; greedy tokens have no rows."""
    ids, rows, origins = list[int](), list[Tensor](), list[Copied | None]()
    while True:
        logits = made.logits[-1]
        if order.sampler.greedy:
            (column,) = likeliest(logits).tolist()
            order.sampler.check(logits, [column])
        else:
            row = order.sampler.to_probs(logits)[0]
            column = order.sampler.pick(row, len(ids), 0)
            rows.append(row)
        ids.append(token := made.token(column))
        origins.append(copied(token))
        if token in order.ends or not made.goes_on(order):
            return ids, made.drawn_from(rows), origins
        line = line + [token]
        made.score(line)


def _on_device(made: _Forwards, context: Context, order: DraftOrder, mark: Callable[[], Mark | None]) -> _Drafted:
    """The same on a device, where logits and greedy rows stay; results are fetched once. The draft ends with the first
    of `order.ends`."""
    line, rows, marks = PendingContext(context, ()), list[Tensor](), list[Mark]()
    while True:
        row = order.sampler.to_probs(made.logits[-1])[0]
        line = line.then(order.sampler.pick(row, len(rows), 0))
        rows.append(row)
        marks += [found] if (found := mark()) else []
        if not made.goes_on(order):
            break
        made.score(line)
    there, logits = torch.stack(line.there), torch.cat(made.logits)
    marked = [torch.stack(part) for part in zip(*marks, strict=True)]
    kept = [] if order.sampler.greedy else [torch.stack(rows)]
    parts = there, logits.gather(1, there[:, None])[:, 0], *ranking(logits)
    drawn, own, chances, likeliest_ids, peaks, *more = fetched(*parts, *marked, *kept)
    known, dist = DeviceLogits(logits, chances, likeliest_ids, peaks), more.pop() if kept else None
    if not known.finite():
        order.sampler.check(logits)
    seen: list[int] = drawn.tolist()
    n = next((at + 1 for at, id_ in enumerate(seen) if id_ in order.ends), len(seen))
    drawn_from = DrawnFrom(None if dist is None else dist[:n], known[:n])
    return seen[:n], drawn_from, _origins(seen, own.tolist(), more)[:n]


def _origins(seen: Sequence[int], logits: Sequence[float], marks: Sequence[Tensor]) -> list[Copied | None]:
    """The origins of tokens. logits: of the tokens. marks: (n,) for each part of their marks; empty without copies."""
    found: list[Copied | None] = []
    for at, (token, place, alike, share) in enumerate(zip(*(part.tolist() for part in marks), strict=True)):
        says = alike and token == seen[at]
        own = min(1.0, math.exp(share - logits[at])) if says else 0.0
        found.append(Copied(place, alike, own) if says else None)
    return found
