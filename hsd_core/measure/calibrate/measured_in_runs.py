"""Levels that are measured in runs: those that offer several candidates, or end their own drafts.

The offers of such a level depend on the rounds before (a window moves with every pass, a draft is drawn, climbing exits
are sure or not). So the stack LEVEL:8,target runs on the calibration prompts, and all levels judge every offer along
the text of the same run (`acceptance.count_offers`); this is exact for the target, whose rounds these are. A shorter
draft counts as the beginning of such an offer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hsd_core.core.level import Proposal, StackEntry
from hsd_core.core.tree import Token, Tree
from hsd_core.measure.calibrate.acceptance import count_offers
from hsd_core.measure.calibrate.reading import LONGEST, read
from hsd_core.measure.texts import written_texts
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.trace.conventions import loop_from
from hsd_core.trace.metrics import committed_ids

if TYPE_CHECKING:
    from hsd_core.measure.calibrate.candidates import Candidates
    from hsd_core.measure.intervals import Tally


SECONDS = 20.0  # per level, for runs and for reading their texts
FEWEST, STRIDE = 4, 5  # texts; every fifth first, so that all kinds of prompts are among the first


def count_in_runs(
    found: Candidates,
    texts: Sequence[WrittenText],
    temperature: float,
    tally: Tally,
    *,
    ends: frozenset[int],
    tokens: int,
    seconds: float,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> None:
    """Count the offers of run-only levels after the texts' prompts, by level number.

    Args:
        tokens: of each text, in which rounds are counted. seconds: after which no further text begins.
    Raises:
        Stopped: `stop` returned True.
    """
    if not found.run_only:
        return
    began, order = time.monotonic(), [at for first in range(STRIDE) for at in range(first, len(texts), STRIDE)]
    for done, number in enumerate(order):
        if done >= FEWEST and time.monotonic() - began > seconds:
            break
        prompt, last = texts[number].prompt, WrittenText((), ())
        for level, entry in enumerate(found.run_only, len(found.entries)):
            stack = [entry, found.entries[-1]]
            output, offers = ran(stack, prompt, temperature, number, ends=ends, tokens=tokens, stop=stop)
            if output != last.output:  # greedy runs write one text
                last = WrittenText(prompt, output)
                reading = read(found.entries, last, temperature, ends)
            count_offers(tally, number, reading, level, {start: one.tree for start, one in offers.items()})
            for one in offers.values():
                for n in range(1, LONGEST + 1):
                    tally.add(("forwards", level, n), number, min(n, one.forwards), 1)
        progress(done + 1, len(order))


def ran(
    stack: Sequence[StackEntry],
    prompt: Sequence[int],
    temperature: float,
    seed: int,
    *,
    ends: frozenset[int],
    tokens: int,
    stop: Callable[[], bool],
) -> tuple[tuple[int, ...], dict[int, Offered]]:
    """The text of a level and its target, cut where it repeats itself, and the offers of rounds that began in its first
    `tokens` tokens, by the index of their first token; greedy ones without rows.

    Raises:
        Stopped: `stop` returned True.
    """
    noted: list[tuple[int, Proposal]] = []
    level: Any = _Noting(stack[0].level, noted)
    entries = [StackEntry(level, replace(stack[0].spec, block=LONGEST), LONGEST), *stack[1:]]
    # One more round than is counted, so that no counted draft is cut by the limit.
    most, sampling = tokens + LONGEST + 1, Sampling(temperature)
    ids = committed_ids(
        written_texts.run_to_end(entries, prompt, sampling, seed, max_new_tokens=most, ends=ends, heads=0, stop=stop)
    )
    output, offers = tuple(ids[: loop_from(ids)]), dict[int, Offered]()
    for length, proposal in noted:
        if (start := length - len(prompt)) < min(tokens, len(output)):
            tree = proposal.tree(lambda id_, source: Token(-1, id_, -1, "draft", source))
            tree = replace(tree, rows=None, logits=None) if sampling.greedy else tree
            offers[start] = Offered(tree, proposal.work.forwards)
    return output, offers


@dataclass(frozen=True, slots=True)
class Offered:
    """An offer, and the number of forwards for it."""

    tree: Tree
    forwards: int


class _Noting:
    """A level, or its state in a run, whose proposals are recorded with the length of the context."""

    def __init__(self, inner: Any, noted: list[tuple[int, Proposal]]) -> None:
        self._inner, self._noted = inner, noted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def open(self, *given: Any) -> _Noting:
        return _Noting(self._inner.open(*given), self._noted)

    def propose(self, context: Context, order: Any) -> Proposal:
        proposal: Proposal = self._inner.propose(context, order)
        self._noted.append((len(context), proposal))
        return proposal
