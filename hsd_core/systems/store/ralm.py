"""Generation with a retrieved passage before the prompt, retrieved again every few tokens: plainly, and by speculation.

RaLMSpec (arXiv 2401.14021) over Ram et al. 2023: after every `every` tokens the last `query` tokens are a query, and
the best passage replaces the one before the prompt. Speculation guesses the passage among those returned before, by the
same ranking, generates on, and checks several guesses with one batch of queries; from the first wrong guess on the text
is generated again with the right passage. A token is drawn with the coin of its place, so one seed gives one text, with
and without speculation.

The store may have a lane of its own (the paper's asynchronous verification): a batch is asked while the next step is
generated, on a reckoned clock. A step whose text is taken back is run to its end, as every request of a lane is.

Another passage changes all keys and values: the whole line is read again, which on a CPU takes far longer than a query.
The caches of the last few passages are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, NamedTuple, Protocol

import torch

from hsd_core.core.choices import ChoiceKey, Choices
from hsd_core.core.clock import EngineClock
from hsd_core.levels.reckoned_lanes import SimulatedLanes
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.store.strides import SEEN, best_stride, gamma_of

KEPT = 4  # passages whose keys and values are kept
PREFETCH = 20  # passages that a query puts into the cache
MOST_STEPS = 16


class Retriever(Protocol):
    """Scores passages for the last tokens of a line; higher is better. Both give a passage the same score."""

    def scores(self, queries: Sequence[Sequence[int]]) -> Sequence[Sequence[float]]:
        """(n, passages) scores of all passages, in one call of the store."""
        ...

    def among(self, query: Sequence[int], passages: Sequence[int]) -> Sequence[float]:
        """The scores of some passages, by the local cache."""
        ...


@dataclass(slots=True)
class RetrievalSettings:
    """How passages are retrieved. every: tokens between queries. query: tokens of a query. stride: guesses that a batch
    checks, None for OS3. plain: no guesses. apart: the store has a lane of its own."""

    every: int = 4
    query: int = 32
    stride: int | None = 3
    plain: bool = False
    apart: bool = False


@dataclass(slots=True)
class RalmResult:
    """A run's output and costs: ids; the passage of each step; queries, their batches and ms; tokens read for another
    passage and their ms; guesses; rounds with a wrong guess; ms in total, reckoned if the store has a lane."""

    ids: list[int] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)
    queries: int = 0
    batches: int = 0
    query_ms: float = 0.0
    read: int = 0
    read_ms: float = 0.0
    guesses: int = 0
    wrong: int = 0
    ms: float = 0.0


class PassageContext:
    """A target that reads a passage, a prompt and the output; the caches of the last passages are kept."""

    def __init__(self, decoder: Any, passages: Sequence[Sequence[int]], prompt: Sequence[int], room: int) -> None:
        """room: the most tokens behind the prompt."""
        self._decoder, self._passages, self._prompt, self._room = decoder, passages, list(prompt), room
        self._kept: OrderedDict[int, tuple[Any, list[int]]] = OrderedDict()

    @torch.inference_mode()
    def logits(self, passage: int, written: Sequence[int]) -> tuple[torch.Tensor, int]:
        """(1, V) logits behind the line, and the number of tokens read for them."""
        line = [*self._passages[passage], *self._prompt, *written]
        cache, held = self._kept.pop(passage, (None, []))
        if cache is None:
            cache = self._decoder.new_cache(len(self._passages[passage]) + len(self._prompt) + self._room)
        alike = next((i for i, (a, b) in enumerate(zip(held, line, strict=False)) if a != b), min(len(held), len(line)))
        start = min(alike, len(line) - 1)
        found = self._decoder.forward(Pass(line[start:], start, 1), cache)
        self._kept[passage] = cache, line
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found, len(line) - start


def generate_with_passages(
    decoder: Any,
    passages: Sequence[Sequence[int]],
    prompt: Sequence[int],
    store: Retriever,
    asking: RetrievalSettings,
    *,
    sampling: Sampling,
    choices: Choices,
    tokens: int,
    ends: frozenset[int] = frozenset(),
    stop: Callable[[], bool] = lambda: False,
    clock: EngineClock | None = None,
) -> RalmResult:
    """Generate `tokens` tokens, or up to an end of the text, with the best passage for each step.

    Args:
        passages: ids of each. stop: called before every step; True ends the run with the tokens that are settled.
    """
    line, clock = PassageContext(decoder, passages, prompt, tokens), clock or EngineClock()
    run = _Run(line, list(prompt), store, asking, sampling, choices, tokens, ends, clock)
    begun = clock.now()
    while not run.settled and not stop():
        run.one_step() if asking.plain else run.round(stop)
    run.back_to()
    run.made.ms = (clock.now() - begun) / 1e6
    return run.made


class _Guess(NamedTuple):
    """A step that was generated with a guessed passage. start, step: how many tokens and steps there were before."""

    query: list[int]
    passage: int
    start: int
    step: int


class _Job(NamedTuple):
    """What a lane does: 0 generates, 1 asks the store."""

    level: int
    does: Callable[[], Any]


class _Done(NamedTuple):
    found: Any
    t1: int


@dataclass
class _Run:
    _line: PassageContext
    _prompt: list[int]
    _store: Retriever
    _asking: RetrievalSettings
    _sampling: Sampling
    _choices: Choices
    _tokens: int
    _ends: frozenset[int]
    _clock: EngineClock
    made: RalmResult = field(default_factory=RalmResult)
    _cache: set[int] = field(default_factory=set)
    _rounds: tuple[tuple[int, int], ...] = ()
    _guessed: list[_Guess] = field(default_factory=list)  # not checked yet
    _steps: int = 0  # OS3's a is the mean time of steps, its b that of batches; the text does not depend on them
    _step_ms: float = 0.0

    def __post_init__(self) -> None:
        self._lanes = SimulatedLanes[_Job, _Done](lambda job: _Done(job.does(), self._clock.now()), self._clock)

    @property
    def over(self) -> bool:
        """Whether the text is whole; steps may be left to check."""
        ids = self.made.ids
        return len(ids) >= self._tokens or (bool(ids) and ids[-1] in self._ends)

    @property
    def settled(self) -> bool:
        return self.over and not self._guessed

    def one_step(self) -> None:
        """Retrieve a passage, and generate with it."""
        self._write(self._learnt(self._asked([self._query()]))[0])

    def round(self, stop: Callable[[], bool]) -> None:
        """Generate some steps with guessed passages, check all guesses at once, and go back to the first wrong one.

        If the store has a lane of its own, one more step is generated meanwhile: the first of the next round, if all
        guesses are right.
        """
        made = self.made
        if not self._cache:
            return self.one_step()
        stride = self._stride()
        while len(self._guessed) < stride and not (self.over or stop()):
            self._guess()
        asked, self._guessed = self._guessed, []
        if not asked:
            return None
        self._lanes.start(_Job(1, lambda: self._asked([one.query for one in asked])))
        if self._asking.apart and not (self.over or stop()):
            self._lanes.start(_Job(0, self._guess))
            ended = dict((self._lanes.ended(), self._lanes.ended()))
        else:
            ended = dict([self._lanes.ended()])
        true = self._learnt(next(done.found for job, done in ended.items() if job.level))
        made.guesses += len(asked)
        right = next((i for i, one in enumerate(asked) if one.passage != true[i]), len(asked))
        self._rounds = (*self._rounds, (len(asked), right))[-SEEN:]
        if right < len(asked):
            made.wrong += 1
            self.back_to(asked[right])
            self._write(true[right])
        return None

    def back_to(self, step: _Guess | None = None) -> None:
        """Take a step back and all that was written after it; without one, those that are not checked."""
        if step := step or next(iter(self._guessed), None):
            del self.made.ids[step.start :], self.made.passages[step.step :]
        self._guessed = []

    def _guess(self) -> None:
        """Generate one step with the cache's best passage."""
        query, made = self._query(), self.made
        among = sorted(self._cache)
        scores = self._store.among(query, among)
        passage = min(range(len(among)), key=lambda at: (-scores[at], at))
        self._guessed.append(_Guess(query, among[passage], len(made.ids), len(made.passages)))
        self._write(among[passage])

    def _stride(self) -> int:
        if self._asking.stride is not None:
            return self._asking.stride
        step, query = self._step_ms / self._steps, self.made.query_ms / self.made.batches
        return best_stride(gamma_of(self._rounds), step, query, at_once=self._asking.apart, longest=MOST_STEPS)

    def _query(self) -> list[int]:
        return [*self._prompt, *self.made.ids][-self._asking.query :]

    def _asked(self, queries: Sequence[list[int]]) -> list[list[int]]:
        """The store's best passages for each query, in one call."""
        begun = self._clock.now()
        found = [best_of(scores) for scores in self._store.scores(queries)]
        self.made.query_ms += (self._clock.now() - begun) / 1e6
        self.made.queries, self.made.batches = self.made.queries + len(queries), self.made.batches + 1
        return found

    def _learnt(self, found: Sequence[list[int]]) -> list[int]:
        """Put what a batch returned into the cache; the best passage for each query."""
        self._cache.update(*found)
        return [best[0] for best in found]

    def _write(self, passage: int) -> None:
        """Generate one step with a passage."""
        made, start = self.made, self._clock.now()
        for _ in range(min(self._asking.every, self._tokens - len(made.ids))):
            begun = self._clock.now()
            logits, read = self._line.logits(passage, made.ids)
            if read > 1:
                made.read, made.read_ms = made.read + read, made.read_ms + (self._clock.now() - begun) / 1e6
            row = to_probs(logits, self._sampling)[0]
            place = len(self._prompt) + len(made.ids)
            made.ids.append(self._choices.draw(row, ChoiceKey("own", 0, place, 0)))
            if made.ids[-1] in self._ends:
                break
        made.passages.append(passage)
        self._steps, self._step_ms = self._steps + 1, self._step_ms + (self._clock.now() - start) / 1e6


def best_of(scores: Sequence[float]) -> list[int]:
    """The best passages, of equal ones the first."""
    return nsmallest(PREFETCH, range(len(scores)), key=lambda at: (-scores[at], at))
