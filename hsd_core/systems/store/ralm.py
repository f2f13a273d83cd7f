"""Generation with a retrieved passage before the prompt, retrieved again every few tokens: plainly, and by speculation.

RaLMSpec (arXiv 2401.14021) over Ram et al. 2023: after every `every` tokens the last `query` tokens are a query, and
the best passage replaces the one before the prompt. Speculation guesses the passage among those returned before, by the
same ranking, generates on, and checks several guesses with one batch of queries; from the first wrong guess on the text
is generated again with the right passage. A token is drawn with the coin of its place, so one seed gives one text, with
and without speculation.

Another passage changes all keys and values: the whole line is read again, which on a CPU takes far longer than a query.
The caches of the last few passages are kept.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from hsd_core.core.choices import ChoiceKey, Choices
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.store.strides import SEEN, best_stride, gamma_of

KEPT = 4  # passages whose keys and values are kept
PREFETCH = 20  # passages that a query puts into the cache
MOST_STEPS = 16
Ranks = Callable[[Sequence[int]], Sequence[float]]  # the last tokens -> every passage's score


@dataclass(slots=True)
class RetrievalSettings:
    """How passages are retrieved. every: tokens between queries. query: tokens of a query. stride: guesses that a batch
    checks, None for OS3. plain: no guesses."""

    every: int = 4
    query: int = 32
    stride: int | None = 3
    plain: bool = False


@dataclass(slots=True)
class RalmResult:
    """A run's output and costs: ids; the passage of each step; queries, their batches and ms; tokens read for another
    passage and their ms; guesses; rounds with a wrong guess; ms in total."""

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
    ranks: Ranks,
    asking: RetrievalSettings,
    *,
    sampling: Sampling,
    choices: Choices,
    tokens: int,
    ends: frozenset[int] = frozenset(),
    stop: Callable[[], bool] = lambda: False,
) -> RalmResult:
    """Generate `tokens` tokens, or up to an end of the text, with the best passage for each step.

    Args:
        passages: ids of each. ranks: scores all of them for the last tokens.
        stop: called before every step; True ends the run with the tokens that are settled.
    """
    line = PassageContext(decoder, passages, prompt, tokens)
    run = _Run(line, list(prompt), ranks, asking, sampling, choices, tokens, ends)
    begun = time.perf_counter()
    while not run.over and not stop():
        run.one_step() if asking.plain else run.round(stop)
    run.made.ms = 1e3 * (time.perf_counter() - begun)
    return run.made


@dataclass
class _Run:
    _line: PassageContext
    _prompt: list[int]
    _ranks: Ranks
    _asking: RetrievalSettings
    _sampling: Sampling
    _choices: Choices
    _tokens: int
    _ends: frozenset[int]
    made: RalmResult = field(default_factory=RalmResult)
    _cache: set[int] = field(default_factory=set)
    _rounds: tuple[tuple[int, int], ...] = ()
    _steps: int = 0  # OS3's a is the mean time of steps, its b that of batches; the text does not depend on them
    _step_ms: float = 0.0

    @property
    def over(self) -> bool:
        ids = self.made.ids
        return len(ids) >= self._tokens or (bool(ids) and ids[-1] in self._ends)

    def one_step(self) -> None:
        """Retrieve a passage, and generate with it."""
        (passage,) = self._asked([self._query()])
        self._write(passage)

    def round(self, stop: Callable[[], bool]) -> None:
        """Generate some steps with guessed passages, check all guesses at once, and go back to the first wrong one."""
        made = self.made
        if not self._cache:
            return self.one_step()
        asked: list[tuple[list[int], int, int]] = []  # the query, the guess, the start of its step
        for _ in range(self._stride()):
            query = self._query()
            guess = self._best(query, self._cache)
            asked.append((query, guess, len(made.ids)))
            self._write(guess)
            if self.over or stop():
                break
        true = self._asked([query for query, _, _ in asked])
        made.guesses += len(asked)
        right = next((i for i, (_, guess, _) in enumerate(asked) if guess != true[i]), len(asked))
        self._rounds = (*self._rounds, (len(asked), right))[-SEEN:]
        if right < len(asked):
            made.wrong += 1
            del made.ids[asked[right][2] :], made.passages[len(made.passages) - (len(asked) - right) :]
            self._write(true[right])
        return None

    def _stride(self) -> int:
        if self._asking.stride is not None:
            return self._asking.stride
        step, query = self._step_ms / self._steps, self.made.query_ms / self.made.batches
        return best_stride(gamma_of(self._rounds), step, query, longest=MOST_STEPS)

    def _query(self) -> list[int]:
        return [*self._prompt, *self.made.ids][-self._asking.query :]

    def _asked(self, queries: Sequence[list[int]]) -> list[int]:
        with self._timed("query_ms"):
            found = []
            for query in queries:
                scores = self._ranks(query)
                order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
                self._cache.update(order[:PREFETCH])
                found.append(order[0])
        self.made.queries, self.made.batches = self.made.queries + len(queries), self.made.batches + 1
        return found

    def _best(self, query: list[int], among: set[int]) -> int:
        scores = self._ranks(query)
        return min(among, key=lambda at: (-scores[at], at))

    def _write(self, passage: int) -> None:
        """Generate one step with a passage."""
        made, start = self.made, time.perf_counter()
        for _ in range(min(self._asking.every, self._tokens - len(made.ids))):
            begun = time.perf_counter()
            logits, read = self._line.logits(passage, made.ids)
            if read > 1:
                made.read, made.read_ms = made.read + read, made.read_ms + 1e3 * (time.perf_counter() - begun)
            row = to_probs(logits, self._sampling)[0]
            place = len(self._prompt) + len(made.ids)
            made.ids.append(self._choices.draw(row, ChoiceKey("own", 0, place, 0)))
            if made.ids[-1] in self._ends:
                break
        made.passages.append(passage)
        self._steps, self._step_ms = self._steps + 1, self._step_ms + 1e3 * (time.perf_counter() - start)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        setattr(self.made, what, getattr(self.made, what) + 1e3 * (time.perf_counter() - begun))
