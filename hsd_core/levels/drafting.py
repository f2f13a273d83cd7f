"""Autoregressive drafting for any level that can score: one forward a token (HSD's level 0).

On a device tokens are drawn and read there, and the host sees them once, behind the last one: with the host waiting for
every token each one would cost a whole launch of its pass. What follows an end of the text was drafted in vain then,
and is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from hsd_core.levels.protocol import DraftOrder, Proposal, Scorer, Work
from hsd_core.models.context import Context
from hsd_core.models.gpu.text import Mark
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.gpu.unseen import Ahead
from hsd_core.models.sampling import likeliest
from hsd_core.trace import Copied, Span

CopiedFrom = Callable[[int], Copied | None]


@dataclass(slots=True)
class _Forwards:
    """What the forwards of one draft gave: the (1, V) logits of each, and their work."""

    run: Scorer
    logits: list[Tensor] = field(default_factory=list)
    rows: int = 0
    catch_up: int = 0
    ran: list[Span] = field(default_factory=list)

    def score(self, line: Context) -> Tensor:
        logits, work = self.run.score(line)
        self.logits.append(logits)
        self.rows, self.catch_up = self.rows + work.rows, self.catch_up + work.catch_up
        self.ran.extend(work.ran)
        return logits

    def goes_on(self, order: DraftOrder) -> bool:
        drafted = len(self.logits)
        return drafted < order.limit and not order.stops(drafted, self.logits[-1][0] if drafted else None)

    @property
    def work(self) -> Work:
        return Work(len(self.logits), self.rows, self.catch_up, tuple(self.ran))


def draft_token_by_token(
    run: Scorer,
    context: Context,
    order: DraftOrder,
    source: str,
    copied: CopiedFrom = lambda token: None,
    mark: Callable[[], Mark | None] = lambda: None,
) -> Proposal:
    """A chain of at most `order.limit` tokens.

    Args:
        copied: what a token, drawn from the last row, was copied from; None for one that was not. mark: the same on a
            device, before anybody has seen the token.
    """
    made = _Forwards(run)
    if not made.goes_on(order):
        return Proposal((), (), made.work)
    first = made.score(context)
    if first.device.type == "cpu":
        ids, rows, origins = _here(made, context, order, copied)
        logits = torch.cat(made.logits)
    else:
        ids, rows, logits, origins = _there(made, context, order, mark)
        if len(ids) < len(made.logits):
            run.keep(len(context) + len(ids) - 1, ())
    places = tuple(origins) if any(origins) else ()
    return Proposal(tuple(ids), (source,) * len(ids), made.work, rows, logits, copied=places)


def _here(
    made: _Forwards, line: Context, order: DraftOrder, copied: CopiedFrom
) -> tuple[list[int], Tensor | None, list[Copied | None]]:
    """Go on behind the first forward: ids, (n, V) rows, none of greedy ones, and what was copied."""
    ids, rows, origins = list[int](), list[Tensor](), list[Copied | None]()
    while True:
        logits = made.logits[-1]
        if order.greedy:
            (token,) = likeliest(logits).tolist()
            order.check(logits, [token])
        else:
            row = order.to_probs(logits)[0]
            token = order.pick(row, len(ids), 0)
            rows.append(row)
        ids.append(token)
        origins.append(copied(token))
        if token in order.ends or not made.goes_on(order):
            return ids, torch.stack(rows) if rows else None, origins
        line = line + [token]
        made.score(line)


def _there(
    made: _Forwards, context: Context, order: DraftOrder, mark: Callable[[], Mark | None]
) -> tuple[list[int], Tensor, Tensor, list[Copied | None]]:
    """The same on a device, and the logits: they are waited for once. The draft ends with the first of `order.ends`."""
    line, rows, marks = Ahead(context, ()), list[Tensor](), list[Mark]()
    while True:
        row = order.to_probs(made.logits[-1])[0]
        line = line.then(order.pick_there(row, len(rows), 0))
        rows.append(row)
        marks += [found] if (found := mark()) else []
        if not made.goes_on(order):
            break
        made.score(line)
    more = [torch.stack(part) for part in zip(*marks, strict=True)]
    drawn, dist, logits, *more = fetched(torch.stack(line.there), torch.stack(rows), torch.cat(made.logits), *more)
    order.check(logits)
    seen: list[int] = drawn.tolist()
    n = next((at + 1 for at, id_ in enumerate(seen) if id_ in order.ends), len(seen))
    return seen[:n], dist[:n], logits[:n], _copied(seen, logits, more)[:n]


def _copied(seen: Sequence[int], logits: Tensor, marks: Sequence[Tensor]) -> list[Copied | None]:
    """What the tokens were copied from. marks: (n,) each part of all their marks; none of what copies nothing."""
    found: list[Copied | None] = []
    for at, (token, place, alike, share) in enumerate(zip(*(part.tolist() for part in marks), strict=True)):
        says = alike and token == seen[at]
        own = min(1.0, math.exp(share - float(logits[at, seen[at]]))) if says else 0.0
        found.append(Copied(place, alike, own) if says else None)
    return found
