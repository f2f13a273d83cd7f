"""One teacher-forced pass of every level over a text: each level's distribution for each of its tokens.

Levels are opened as one stack, so exits and their target run each layer once. Three sorts of levels are read
differently. A drafter that is fed the target's states reads its own instead behind the start of its draft, so its rows
are those of drafts of `STRIDE` tokens. Levels over the target (`over_target`: a view of its cache, a self-draft, a
cache of a store) are read in such drafts too, each followed by a verification of the target, as in a run whose drafts
are all accepted. Lookups have guesses instead of rows, taken at every position from databases filled up to there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hsd_core.core.events import Span
from hsd_core.core.level import (
    CommittedIds,
    Drafter,
    DraftOrder,
    Level,
    LevelRun,
    Sampler,
    drafter,
    score_ids,
    scorer,
)
from hsd_core.grammar import policies
from hsd_core.levels.shared import SharedState, open_levels
from hsd_core.levels.trunk import Layered, Trunk
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.models.cache import KVCache
from hsd_core.models.context import Context
from hsd_core.models.one_pass import Branches
from hsd_core.models.sampling import Sampling, largest, to_probs

if TYPE_CHECKING:
    from hsd_core.core.level import StackEntry
    from hsd_core.grammar.strategies import PolicyKind


STRIDE = 4  # tokens of a draft
CHUNK = 512  # tokens of a prefill pass


def over_target(level: Level) -> bool:
    """Whether a level needs a target that reads the same text."""
    return bool(getattr(level, "over_target", False))


def side_by_side(levels: Sequence[Level]) -> Iterator[list[int]]:
    """Groups of `over_target` levels that share one target: all views together, every other level alone."""
    if views := views_among(levels):
        yield views
    yield from ([i] for i, level in enumerate(levels) if over_target(level) and i not in views)


def views_among(levels: Sequence[Level]) -> list[int]:
    return [i for i, level in enumerate(levels) if getattr(level, "views", False)]


def read_prompt(run: LevelRun, ids: Sequence[int], end: int) -> None:
    """Start a run: the level knows these ids, and reads the first `end` of them."""
    run.observe(CommittedIds(ids))
    while run.cached < end:
        scorer(run).score(Context(ids[: min(end, run.cached + CHUNK)]))


def drafted_rows(levels: Sequence[Level], target: Level, prompt: Sequence[int], output: Sequence[int]) -> list[Tensor]:
    """For each level (n, V) logits of drafts of `STRIDE` tokens, as if its drafts were the text's n tokens."""
    ids, start = [*prompt, *output], len(prompt)
    runs: list[Any] = list(open_levels([*levels, target], len(ids)))[::-1]
    found: list[list[Tensor]] = [[] for _ in levels]
    try:
        for run in reversed(runs):
            read_prompt(run, prompt, start - 1)
        for at in range(start, len(ids), STRIDE):
            rows = min(STRIDE, len(ids) - at)  # the target has not read the last token of the context
            for own, run in zip(found, runs, strict=False):
                own.append(score_ids(run, ids[: at - 1 + rows], rows)[0])
            score_ids(runs[-1], ids[: at - 1 + rows], rows)
            for run in reversed(runs):
                run.observe(CommittedIds(ids[at : at + rows]))
    finally:
        for run in runs:
            run.close()
    return [torch.cat(own) for own in found]


LONGEST = 8  # positions of a draft that are measured
WIDEST = 6  # tokens of a fork that are measured


@dataclass(frozen=True, slots=True)
class Reading:
    """A text of n tokens as the levels read it, by level index.

    Attributes:
        ids: (n,) the target's tokens.
        dists: (n, V) rows of levels with distributions, on the target's device.
        guesses: the proposals of a lookup at each of the n positions, which may be empty.
        ranked: (n, WIDEST) the likeliest tokens of levels with distributions, likeliest first; only for greedy texts.
        sure: (n,) the confidence of these levels' rows, by the stop policies that compare it with a threshold.
    """

    ids: Tensor
    dists: dict[int, Tensor]
    guesses: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    ranked: dict[int, Tensor] = field(default_factory=dict)
    sure: dict[int, dict[str, Tensor]] = field(default_factory=dict)


def is_lookup(level: Level) -> bool:
    """Whether a level drafts without a distribution."""
    return not level.can_verify


def read(entries: Sequence[StackEntry], text: WrittenText, temperature: float, ends: frozenset[int]) -> Reading:
    """Read a text with every level."""
    levels = [entry.level for entry in entries]
    sampling, n = Sampling(temperature), len(text.output)
    context = [*text.prompt, *text.output[:-1]]
    shared = SharedState(len(context) + 1)
    which = [i for i, level in enumerate(levels) if not over_target(level)]
    opened = [(i, levels[i].open(shared.capacity, shared)) for i in reversed(which)]
    runs = dict(reversed(opened))
    logits: dict[int, Tensor] = {}
    reading = Reading(torch.tensor(text.output, device=levels[-1].about.device), {})
    try:
        # From below: an exit runs the first layers, and deeper levels continue from there. Fed ones read the result.
        for i, run in runs.items():
            level = levels[i]
            if is_lookup(level):
                reading.guesses[i] = _guesses(drafter(run), text, ends)
            elif not level.about.fed:
                logits[i] = score_ids(scorer(run), context, n)[0]
        for i, run in runs.items():
            if levels[i].about.fed and levels[i].can_verify:
                logits[i] = _fed_rows(levels[i], PastState(shared, run, len(context)), context, n)
    finally:
        for run in runs.values():
            run.close()
    for own in side_by_side(levels):
        rows = drafted_rows([levels[i] for i in own], levels[-1], text.prompt, text.output)
        logits |= zip(own, rows, strict=True)
    for i in sorted(logits):
        reading.dists[i] = to_probs(logits[i], sampling).to(reading.ids.device)
        if sampling.greedy:
            reading.ranked[i] = largest(logits[i], WIDEST)[1].to(reading.ids.device)
        reading.sure[i] = {kind.name: torch.tensor(sure) for kind, sure in _confidence(logits[i])}
    return reading


def _confidence(logits: Tensor) -> Iterator[tuple[PolicyKind, Sequence[float]]]:
    """By each policy whose threshold does not move."""
    for kind in policies().values():
        policy = kind.bind({})
        if policy.moving is None and (sure := policy.sure(logits)):
            yield kind, sure


class Past(Trunk):
    """A read-only trunk, as it was when `length` positions had reached a depth."""

    def __init__(self, trunk: Any) -> None:
        super().__init__(trunk.decoder, trunk.capacity)
        self._trunk, self.length = trunk, 0

    def run(self, ids: Sequence[int], depth: int, end: int, branches: Branches | None = None) -> tuple[Span, ...]:
        return ()

    def cut(self, length: int, depth: int | None = None) -> None:
        """Nothing to do: it is read-only."""

    def valid(self, depth: int) -> int:
        return min(self.length, int(self._trunk.valid(depth)))

    def hidden(self, depth: int, lo: int, hi: int) -> Tensor:
        states: Tensor = self._trunk.hidden(depth, lo, hi)
        return states

    def kv(self) -> KVCache:
        kept: KVCache = self._trunk.kv()
        return kept


class PastState(SharedState):
    """The shared state of a run as it was in the past, to read one level again: the target's states of `past.length`
    positions, and the layers below an exit, which the target has run, of all `length`."""

    def __init__(self, shared: SharedState, run: LevelRun, length: int) -> None:
        super().__init__(shared.capacity)
        self.past, self._own, self._length = Past(shared.features()[0]), getattr(run, "trunk", None), length

    def features(self, joined: Sequence[int] = ()) -> tuple[Trunk, ...]:
        return (self.past,)

    def trunk(self, decoder: Layered, depth: int, **how: Any) -> Trunk:
        assert self._own is not None, "its run reads a trunk"
        own = Past(self._own)
        own.length = self._length
        return own


def _fed_rows(level: Level, state: PastState, context: list[int], n: int) -> Tensor:
    """(n, V) logits of a fed level's drafts of `STRIDE` tokens, as if its drafts were the text's tokens."""
    prompt, drafts = len(context) + 1 - n, []
    run = scorer(level.open(state.capacity, state))
    for start in range(0, n, STRIDE):
        at, rows = prompt + start, min(STRIDE, n - start)
        state.past.length = at - 1  # between rounds the target has not read the last token
        drafts.append(score_ids(run, context[: at - 1 + rows], rows)[0])
        run.keep(at, ())
    run.close()
    return torch.cat(drafts)


def _guesses(run: Drafter, text: WrittenText, ends: frozenset[int]) -> list[tuple[int, ...]]:
    order, context, found = lookup_order(LONGEST, ends), Context(text.prompt), []
    run.observe(CommittedIds(text.prompt))
    for token in text.output:
        found.append(run.propose(context, order).ids)
        context = context + [token]
        run.observe(CommittedIds([token]))
    return found


def lookup_order(limit: int, ends: frozenset[int]) -> DraftOrder:
    """An order for a lookup, which never draws."""

    def pick(row: Tensor, depth: int, number: int) -> int:
        raise TypeError("a lookup was asked to draw a token")

    return DraftOrder(limit, Sampler(lambda logits: logits, pick), lambda drafted, last: False, ends)
