"""Costs of passes timed alone: the time of a verification of n rows, and of a drafted token.

They give the shape, ms by rows; `run_costs` scales them to real runs. Every measurement is at the same place of a text
(about 150 tokens in) and is undone by a rollback.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

from hsd_core.core.choices import ChoiceKey, Judge, SeededChoices
from hsd_core.core.level import DraftOrder, Sampler, Scorer, score_ids
from hsd_core.core.rules import tokenwise
from hsd_core.core.tree import NO_PROBES, Probes, Tree, named
from hsd_core.grammar import fan_of
from hsd_core.levels.shared import open_levels, shares
from hsd_core.measure.calibrate.reading import is_lookup, over_target, read_prompt, views_among
from hsd_core.measure.intervals import median_interval
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.measure.timed import NS_PER_MS, Task, in_turns
from hsd_core.models.context import Context
from hsd_core.models.sampling import OneHot, Sampling, TokenId, likeliest, read_rows, to_probs
from hsd_core.theory import Costs

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.core.level import StackEntry


ROWS = (1, 2, 3, 4, 6, 8, 12, 16)
EDGE_ROWS = (2, 4, 8)
DRAFTED = 4  # tokens of a timed draft
CONTEXT = 150  # tokens before it, if no length is requested
TURNS, WARM_UP, FEWEST = 9, 2, 4
BUDGET = 15.0  # seconds


@dataclass(frozen=True, slots=True)
class Timings:
    """By level number: verifications by rows, ms of a drafted token.

    edges[(j, i)]: verifications by i right after a draft of j over the same weights; with the lookahead window of j; or
    of several sequences of j if i judges them one after another. lighter: pairs (j, i) where i continues from the
    layers that j has run, which differ in every draft: only runs show what that saves.
    """

    verify: dict[int, Costs] = field(default_factory=dict)
    draft: dict[int, float] = field(default_factory=dict)
    edges: dict[tuple[int, int], Costs] = field(default_factory=dict)
    lighter: tuple[tuple[int, int], ...] = ()
    turns: int = 0
    context: int = 0


def time_levels(
    entries: Sequence[StackEntry],
    texts: Sequence[WrittenText],
    temperature: float,
    *,
    run_only: Sequence[StackEntry] = (),
    context: int = CONTEXT,
    seconds: float = BUDGET,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> Timings:
    """Measure the costs of all levels at a temperature (greedy rows are cheaper than sampled ones).

    Args:
        run_only: levels that are measured only in runs; their numbers follow. context: tokens of text before.
        seconds: after which no further turn begins.
    Raises:
        Stopped: `stop` returned True.
    """
    rest = _IdleLevels(entries, run_only, texts, Sampling(temperature), context)
    try:
        found = in_turns(
            rest.tasks(), TURNS - WARM_UP, WARM_UP, fewest=FEWEST, seconds=seconds, progress=progress, stop=stop
        )
    finally:
        rest.close()
    verify: dict[int, list[tuple[int, list[float]]]] = {}
    edges: dict[tuple[int, int], list[tuple[int, list[float]]]] = {}
    draft = {}
    for key, values in found.items():
        match key:
            case ("verify", int(i), int(n)):
                verify.setdefault(i, []).append((n, values))
            case ("edge", int(j), int(i), int(n)):
                edges.setdefault((j, i), []).append((n, values))
            case ("draft", int(i)):
                draft[i] = median_interval(values)[0]
    return Timings(
        {i: _costs(rows) for i, rows in verify.items()},
        draft,
        {pair: _costs(rows) for pair, rows in edges.items()},
        rest.lighter(),
        max(map(len, found.values()), default=0),
        rest.context,
    )


def _costs(measured: Sequence[tuple[int, list[float]]]) -> Costs:
    medians = [median_interval(values) for _, values in measured]
    ms, low, high = (tuple(round(part, 5) for part in parts) for parts in zip(*medians, strict=True))
    return Costs(tuple(n for n, _ in measured), ms, low, high)


class _IdleLevels:
    """Levels behind `context` tokens of a text, each in a run of its own."""

    def __init__(
        self,
        entries: Sequence[StackEntry],
        run_only: Sequence[StackEntry],
        texts: Sequence[WrittenText],
        sampling: Sampling,
        context: int,
    ) -> None:
        self.entries, self.sampling, self._choices = entries, sampling, SeededChoices(0)
        # Of a fused draft only the drafter: it is what shares states.
        self.levels: list[Any] = [entry.level for entry in entries]
        self.levels += [getattr(entry.level, "drafter", entry.level) for entry in run_only]
        self._judge = Judge(self._choices, 0, 0, 0)
        ids = [token for text in texts for token in (*text.prompt, *text.output)]
        # By number: the number of sequences in a draft, and the probes with them.
        fans = [fan[1] if (fan := fan_of(entry.spec)) else 1 for entry in run_only]
        probes = [window_probes(entry.level, ids) for entry in run_only]
        self._several = dict(enumerate(zip(fans, probes, strict=True), len(entries)))
        spare = max([8, *map(deepest, probes)])
        room = min((s.level.max_positions or context + 64 for s in entries), default=context + 64)
        self.context = max(2, min(context, room - max(ROWS) - spare))
        again = cycle(ids)
        self._text = [next(again) for _ in range(self.context + max(ROWS) + spare)]
        self._open: list[Any] = []

    def tasks(self) -> dict[tuple[object, ...], Task]:
        found: dict[tuple[object, ...], Task] = {}
        views = self._views()
        for i, entry in enumerate(self.entries):
            if is_lookup(entry.level):
                continue
            run = views[i] if i in views else self._at_rest(self._with_target([i]))[0]
            for n in ROWS:
                found["verify", i, n] = self._verification(run, n)
            if i < len(self.entries) - 1:
                found["draft", i] = self._drafting(run, fed=entry.level.about.fed)
        for j, i in self._edges():
            below, above = self._at_rest(self._with_target([j, i]))[:2]
            for n in EDGE_ROWS:
                found["edge", j, i, n] = self._after_draft(below, above, n)
        for j, (wide, probes) in self._several.items():
            for i, entry in enumerate(self.entries):
                # A fed level judges a tree branch by branch, so rows of a tree cost it more than those of a chain.
                if is_lookup(entry.level) or not (probes.ids or (wide > 1 and entry.level.about.fed)):
                    continue
                run = self._at_rest(self._with_target([i]), branches=max(ROWS) + len(probes.ids))[0]
                for n in (1, *EDGE_ROWS, max(ROWS)):
                    found["edge", j, i, n] = self._verification(run, n, wide, probes)
        return found

    def close(self) -> None:
        for run in self._open:
            run.close()

    def _edges(self) -> list[tuple[int, int]]:
        """Pairs that read the same trunk: the upper one continues where the lower one stopped."""
        models = [i for i, level in enumerate(self.levels) if not is_lookup(level) and level.about.layers]
        last, found = len(self.entries) - 1, []
        for j, i in ((j, i) for j in models for i in models if i <= last and (j < i or j > last)):
            below, above = shares([self.levels[k] for k in self._with_target([j, i])])[:2]
            found += [(j, i)] if below is not None and below == above else []
        return found

    def _views(self) -> dict[int, Any]:
        """The runs of views over one target, which they share, as its text may be long."""
        which = views_among(self.levels[: len(self.entries)])
        return dict(zip(which, self._at_rest(self._with_target(which)), strict=False)) if which else {}

    def lighter(self) -> tuple[tuple[int, int], ...]:
        """Run-only levels, except lookups, that read the target's trunk."""
        last = len(self.entries) - 1
        ending = [j for j in self._several if not self.levels[j].can_verify and self.levels[j].has_cache]
        return tuple((j, last) for j in ending if shares([self.levels[j], self.levels[last]])[0] is not None)

    def _with_target(self, which: list[int]) -> list[int]:
        """These levels, with the target if one of them reads its states or is `over_target`."""
        last = len(self.entries) - 1
        needed = any(self.levels[i].about.fed or over_target(self.levels[i]) for i in which)
        return [*which, last] if last not in which and needed else which

    def _at_rest(self, which: Sequence[int], branches: int = 0) -> list[Any]:
        """Runs of these levels, opened together; branches: the most nodes of a tree behind the context."""
        runs = list(open_levels([self.levels[i] for i in which], len(self._text), branches))[::-1]
        self._open += runs
        # Levels over the target start from a context whose last token no model has read.
        late = any(over_target(self.levels[i]) for i in which)
        for run in reversed(runs):
            read_prompt(run, self._text[: self.context], self.context - late)
        return runs

    def _verification(self, run: Scorer, n: int, wide: int = 1, probes: Probes = NO_PROBES) -> Task:
        """n rows: of a chain, or of `wide` chains, with probes."""
        context, ids = Context(self._text[: self.context + 1]), self._text[self.context + 1 : self.context + n]
        tree, prepared = named(ids), list[Tree]()
        if wide > 1 and ids:
            tree = replace(tree, parents=tuple(max(-1, node - wide) for node in range(n - 1)))
        asked = tree.with_probes(probes)

        def measure() -> float:
            if not prepared:  # a draft that is always accepted: the verifier's own rows are the drafter's
                read, p = read_rows(run.score(context, asked)[0][: n - 1], self.sampling)
                rows = None if isinstance(p, OneHot) else p.clone()
                prepared.append(replace(named(likeliest(read.values).tolist()), rows=rows))
                run.keep(self.context, ())
            began = time.perf_counter_ns()
            logits, _ = run.score(context, asked)
            if probes.ids:
                likeliest(logits[n:])
            tokenwise(prepared[0], read_rows(logits[:n], self.sampling)[1], self._judge, True)
            took = time.perf_counter_ns() - began
            run.keep(self.context, ())
            return took / NS_PER_MS

        return measure

    def _drafting(self, run: Any, *, fed: bool) -> Task:
        order, context = self._order(DRAFTED), Context(self._text[: self.context])
        # An idle level has not read the last token; a fed one also recomputes tokens read without true features.
        behind = 1 + (DRAFTED // 2 if fed else 0)

        def measure() -> float:
            run.keep(self.context - behind, ())
            began = time.perf_counter_ns()
            ids = run.propose(context, order).ids
            took = time.perf_counter_ns() - began
            run.keep(self.context, ())
            return took / NS_PER_MS / len(ids)

        return measure

    def _after_draft(self, below: Any, above: Any, n: int) -> Task:
        context, order = Context(self._text[: self.context + 1]), self._order(n - 1)

        def measure() -> float:
            drafted = below.propose(context, order)
            began = time.perf_counter_ns()
            logits, _ = score_ids(above, [*context, *drafted.ids], n)
            p = read_rows(logits, self.sampling)[1]
            tokenwise(replace(named(drafted.ids), rows=drafted.drawn.rows), p, self._judge, True)
            took = time.perf_counter_ns() - began
            for run in (below, above):
                run.keep(self.context, ())
            return took / NS_PER_MS

        return measure

    def _order(self, limit: int) -> DraftOrder:
        def pick(row: Tensor, depth: int, number: int) -> TokenId:
            return self._choices.draw(row, ChoiceKey("draft", 0, depth, 0))

        rows, greedy = partial(to_probs, sampling=self.sampling), self.sampling.greedy
        sampler = Sampler(rows, pick, greedy=greedy)
        return DraftOrder(limit, sampler, lambda *past: False)


def window_probes(level: Any, text: Sequence[int]) -> Probes:
    """The probes of a level's full lookahead window in a verification of its drafts; NO_PROBES without one."""
    found: Probes = level.window_probes(text) if level.about.probes else NO_PROBES
    return found


def deepest(probes: Probes) -> int:
    """The number of positions behind the text that they span."""
    depths: list[int] = []
    for parent in probes.parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    return max(depths, default=0)
