"""Policy `del`: every round chooses an exit and the length of its draft anew (DEL, arXiv 2504.05598).

Among the target's exits up to some depth (trained ones, or all layers through the model's own head as in the paper)
each round drafts with the exit l and the length d of the most expected tokens per layer run,

    TPL(l, d) = (1 + a_l + ... + a_l^d) / (d l + L)

where L is the target's number of layers and a_l the chance that a token of exit l is accepted. The a_l are estimated
from *shadow tokens*: the hidden states of the last verification go through every exit's read-out, and each row q is
compared with the target's row p there by sum min(q, p) under the run's sampling; at temperature 0 that is 1 for the
same first choice and 0 otherwise. d = 0 is a choice too: one token per L layers if no exit pays.

A draft ends behind an unsure token, which is kept. An exit's threshold is learned from the same shadow tokens: the mean
of its average confidence in tokens that the target would keep and in tokens that it would reject (the paper has a
moving threshold too; its formula was not available).

Both depend only on the past and throw no coin, so the stack stays exact and a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice

import torch
from torch import Tensor

from hsd_core.core.level import DraftOrder, Outcome, Proposal, Verified, Work
from hsd_core.core.notes import Threshold, noted
from hsd_core.core.tree import NOTHING, Tree
from hsd_core.levels.readout import Lens, Readout, TrunkRun
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.models.context import Context
from hsd_core.models.gpu.transfer import fetched
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import dense, softmax
from hsd_core.systems.exits.exit_level import SeveralExits

FIRST_GUESS = 0.5  # of every a_l, before any token was seen
MEMORY = 0.95  # decay of the estimate by one shadow token: it looks back over about 20 tokens
SHADOWS = 64  # rows of logits that one product computes
ENOUGH = 1.0  # shadow tokens of either kind before there is a threshold


def tokens_per_layer(chance: float, length: int, cost: float, layers: int) -> float:
    """TPL: expected tokens of a round / layers run in it. `cost`: layers per drafted token."""
    return sum(chance**k for k in range(length + 1)) / (length * cost + layers)


def best_plan(chances: Sequence[float], costs: Sequence[float], layers: int, longest: int) -> tuple[int, int]:
    """The (exit, length) of the highest TPL; of equal ones the shorter draft of the shallower exit."""
    plans = [(i, d) for d in range(longest + 1) for i in range(len(costs))]
    return max(plans, key=lambda plan: tokens_per_layer(chances[plan[0]], plan[1], costs[plan[0]], layers))


class ChoosingLevel(SeveralExits):
    """The exits of `readouts` (depth -> read-out) of one model; in each round one of them drafts."""

    def __init__(
        self,
        decoder: Layered,
        readouts: Mapping[int, Readout],
        *,
        weights: dict[str, object] | None = None,
        memory: float = MEMORY,
    ) -> None:
        """See `SeveralExits`."""
        self.memory, depths = memory, sorted(readouts)
        params: dict[str, object] = {"chooses": depths}
        if untrained := {readout.name for readout in readouts.values()} == {Lens.name}:
            params["readout"] = Lens.name
        label = f"exit chosen each round, of {_listed(depths)}" + untrained * ", untrained read-out"
        super().__init__(decoder, readouts, name="exit", label=label, params=params, weights=weights)

    def open(self, capacity: int, shared: SharedState) -> ChoosingRun:
        trunk = self.enter(shared)
        exits = [Exit(trunk, at, readout, readout.name) for at, readout in self.readouts.items()]
        return ChoosingRun(exits, self.decoder.layers, self.memory)


class Exit(TrunkRun):
    """One of several exits, and the estimate of its acceptance."""

    def __init__(self, trunk: Trunk, depth: int, readout: Readout, source: str) -> None:
        super().__init__(trunk, depth, readout, source)
        self.source, self.chance = source, FIRST_GUESS
        self.cost = depth + readout.layers
        # Its confidence in shadow tokens as (sum, weight), decaying as `chance` does: in those kept, in the others.
        self._kept, self._lost = (0.0, 0.0), (0.0, 0.0)

    @property
    def theta(self) -> float | None:
        """The mean of its average confidence in kept and in other tokens; None before both were seen."""
        if min(self._kept[1], self._lost[1]) < ENOUGH:
            return None
        return 0.5 * (self._kept[0] / self._kept[1] + self._lost[0] / self._lost[1])

    def saw(self, share: float, sure: float, memory: float) -> None:
        """Learn from a shadow token: `share` is the probability that it is kept, `sure` its raw top probability."""
        self.chance = memory * self.chance + (1.0 - memory) * share
        self._kept = (memory * self._kept[0] + share * sure, memory * self._kept[1] + share)
        self._lost = (memory * self._lost[0] + (1.0 - share) * sure, memory * self._lost[1] + 1.0 - share)

    @property
    def remembers(self) -> bool:
        """Whether its read-out has layers of its own, which have to process every position."""
        return bool(self._readout.layers)

    @torch.inference_mode()
    def shadow(self, context: Context, lo: int, hi: int) -> tuple[Tensor, int]:
        """The logits behind positions lo, ..., hi - 1, which the trunk has reached, and the number of rows computed."""
        start = min(self._cache.length, lo) if self.remembers else lo
        x = self.states(start, hi)
        given = Pass(context[start:hi], start, hi - lo)
        logits, _ = self._readout.forward(given, x, self._cache, context[:hi])
        return logits, hi - start

    def states(self, lo: int, hi: int) -> Tensor:
        """(hi - lo, hidden) states at its depth, of positions that the trunk has reached."""
        return self._trunk.hidden(self._depth, lo, hi)

    @torch.inference_mode()
    def read(self, x: Tensor) -> Tensor:
        """The logits of states (n, hidden) at any depth, for a read-out without layers of its own."""
        return self._readout.forward(Pass([0] * len(x), wanted=len(x)), x, self._cache, ())[0]

    def reach(self, context: Context) -> tuple[Tensor, Work]:
        """Run the trunk to its depth for the whole context; the logits behind the last token."""
        spans = self._trunk.run(context, self._depth, len(context))
        logits, rows = self.shadow(context, len(context) - 1, len(context))
        return logits, Work(1, rows, rows - 1, spans)


class ChoosingRun:
    """`cached`: positions that the exit which drafted last has processed."""

    def __init__(self, exits: Sequence[Exit], layers: int, memory: float) -> None:
        self.exits, self._layers, self._memory = exits, layers, memory
        self._verified: Verified | None = None  # learned from when the next draft begins, and within its time
        self.cached = 0

    def propose(self, context: Context, order: DraftOrder) -> Proposal:
        shadow_rows = self._learn(context)
        chances, costs = [e.chance for e in self.exits], [e.cost for e in self.exits]
        i, length = best_plan(chances, costs, self._layers, order.limit)
        drafting = self.exits[i]
        theta = drafting.theta

        def stops(drafted: int, last: Tensor | None) -> bool:
            unsure = theta is not None and last is not None and float(softmax(last).max()) < theta
            return unsure or order.stops(drafted, last)

        order_ = replace(order, limit=length, stops=stops)
        proposal = drafting.propose(context, order_)
        work = proposal.work
        self.cached = len(context) + len(proposal.ids) - 1
        rows, catch_up = work.rows + shadow_rows, work.catch_up + shadow_rows
        notes = {**proposal.notes, **noted(None if theta is None else Threshold(theta))}
        return replace(proposal, work=Work(work.forwards, rows, catch_up, work.ran), notes=notes)

    def score(self, context: Context, tree: Tree = NOTHING) -> tuple[Tensor, Work]:
        """Reads the prompt through every exit; the level never verifies."""
        done = [e.reach(context) for e in self.exits if e.remembers or e is self.exits[-1]]
        self.cached = len(context)
        spans = tuple(span for _, work in done for span in work.ran)
        computed = sum(work.rows for _, work in done)
        return done[-1][0], Work(1, computed, computed - 1, spans)

    def keep(self, start: int, path: Sequence[int]) -> None:
        self.cached = min(self.cached, start + len(path))
        for e in self.exits:
            e.keep(start, path)

    def observe(self, outcome: Outcome) -> None:
        if isinstance(outcome, Verified):
            self._verified = outcome

    def close(self) -> None:
        for e in self.exits:
            e.close()

    def _learn(self, context: Context) -> int:
        """Update every a_l from the rows of the last verification; returns the number of rows computed for it."""
        seen, self._verified = self._verified, None
        if seen is None:
            return 0
        judged = dense(seen.rows)
        # The row for position t is read behind position t - 1.
        lo, hi = seen.start - 1, seen.start - 1 + len(judged)
        computed, read = 0, list[Tensor]()
        for logits, rows in self._shadows(context, lo, hi):
            read += [seen.to_probs(logits), softmax(logits).amax(-1)]
            computed += rows
        here = fetched(*read)
        for e, dist, sure in zip(self.exits, here[::2], here[1::2], strict=True):
            shares = torch.minimum(dist.to(judged), judged).sum(-1)
            for share, top in zip(shares.tolist(), sure.tolist(), strict=True):
                e.saw(min(1.0, share), top, self._memory)
        return computed

    def _shadows(self, context: Context, lo: int, hi: int) -> Iterator[tuple[Tensor, int]]:
        """`Exit.shadow` of every exit. Those without layers of their own share a head, so one product reads several."""
        few = max(1, SHADOWS // (hi - lo))
        for remembers, group in groupby(self.exits, lambda e: e.remembers):
            if remembers:
                yield from (e.shadow(context, lo, hi) for e in group)
                continue
            while some := list(islice(group, few)):
                logits = some[0].read(torch.cat([e.states(lo, hi) for e in some]))
                yield from ((rows, hi - lo) for rows in logits.chunk(len(some)))


def _listed(depths: Sequence[int]) -> str:
    """For example "4, 8", or "1 to 29" for consecutive depths."""
    if len(depths) > 2 and depths[-1] - depths[0] == len(depths) - 1:
        return f"{depths[0]} to {depths[-1]}"
    return ", ".join(map(str, depths))
