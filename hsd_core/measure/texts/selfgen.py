"""Self-generation: a target's outputs after many prompts, in batches, as data for drafts and n-gram databases.

Prompts can be the target's own too (Magpie: Xu et al. 2024, arXiv 2406.08464): after the opening of a user's turn it
writes the turn, then the answer.

Every text has its own random generator, seeded by the run's seed, its prompt and the number of equal prompts before it,
so a text does not depend on the batch size, on other prompts or on interruptions; except at near ties, if a device's
products differ in the last bits with the number of rows.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from hsd_core.models.cache import KVCache
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.trace.conventions import loop_from
from hsd_core.trace.prompt_files import PromptText, check_ids

INVENTING = Sampling(0.9, 200)  # prompts must differ, however the answers are sampled
LONGEST_TURN = 160  # tokens of an invented turn
LOOP_CHECK = 16  # tokens between checks for a loop
PROMPT_STEP = 64  # prompts are sorted by length in steps of this; within a step jobs keep their order
FLOAT16_MOST = 65504.0


@dataclass(frozen=True, slots=True)
class Job:
    """A text to write. copy: the number of equal prompts before it in the file.

    closing: not empty if the prompt is only the opening of a user's turn: the target writes the turn, these ids follow,
    then its answer.
    """

    text: PromptText
    copy: int
    closing: tuple[int, ...] = ()

    def chance(self, seed: int) -> random.Random:
        """The random generator of this text."""
        name = hashlib.sha256(json.dumps([seed, self.copy, self.text.prompt_ids]).encode()).hexdigest()
        return random.Random(name)


@dataclass(frozen=True, slots=True)
class TurnOpening:
    """The beginning of an invented turn, the ids that close it and open the answer, and its weight."""

    ids: tuple[int, ...]
    closing: tuple[int, ...]
    kind: str
    weight: float


Keep = Callable[[Job, list[int], dict[int, Tensor]], None]


@dataclass(slots=True)
class _Row:
    """A text in progress. ids: behind the job's prompt. answer: the index in `ids` of the answer, None in the turn."""

    job: Job
    chance: random.Random
    ids: list[int] = field(default_factory=list)
    answer: int | None = 0
    forced: list[int] = field(default_factory=list)
    states: list[dict[int, Tensor]] = field(default_factory=list)

    @property
    def at(self) -> int:
        """The position of the last token."""
        return len(self.job.text.prompt_ids) + len(self.ids) - 1

    def take(self, token: int, ends: frozenset[int]) -> None:
        """Add a token that the target drew. The end of a turn is followed by the ids that open the answer."""
        self.ids.append(token)
        if self.answer is None and (token in ends or len(self.ids) >= LONGEST_TURN):
            closing = list(self.job.closing)
            if token in ends:
                self.ids[-1] = closing.pop(0)  # the template's end of turn, whichever end was drawn
            self.forced = closing
            self.answer = len(self.ids) + len(closing)

    def over(self, ends: frozenset[int], limit: int, capacity: int, cut_loops: bool) -> bool:
        """Whether the text is finished."""
        if self.at + 1 >= capacity:
            return True
        if self.answer is None or (written := len(self.ids) - self.answer) < 1:
            return False
        looped = cut_loops and written % LOOP_CHECK == 0 and loop_from(self.ids[self.answer :]) is not None
        return self.ids[-1] in ends or written >= limit or looped

    def finished(self) -> tuple[Job, list[int]]:
        """The job, with its written turn, and the answer."""
        text = self.job.text
        if not self.answer:
            return self.job, self.ids
        ids = (*text.prompt_ids, *self.ids[: self.answer])
        text = replace(text, prompt_ids=ids, written_from=len(text.prompt_ids))
        return replace(self.job, text=text), self.ids[self.answer :]


def jobs_of(texts: Sequence[PromptText]) -> list[Job]:
    """A job for every prompt of the file."""
    return _numbered((text, ()) for text in texts)


def _numbered(texts: Iterable[tuple[PromptText, tuple[int, ...]]]) -> list[Job]:
    """Jobs of texts and their closing ids, each with the number of equal prompts before it."""
    seen: Counter[tuple[int, ...]] = Counter()
    jobs = []
    for text, closing in texts:
        jobs.append(Job(text, seen[text.prompt_ids], closing))
        seen[text.prompt_ids] += 1
    return jobs


def generate(
    decoder: LeanDecoder,
    jobs: Sequence[Job],
    sampling: Sampling,
    *,
    ends: frozenset[int],
    max_new_tokens: int = 192,
    batch: int = 16,
    seed: int = 0,
    cut_loops: bool = False,
    depths: Sequence[int] = (),
    keep: Keep | None = None,
) -> Iterator[tuple[Job, list[int]]]:
    """Write all texts, at most `batch` at a time; yields each as it is finished, not in order.

    An output ends with an id of `ends`, after `max_new_tokens`, at the end of the context, or, with `cut_loops`, soon
    after it has begun to repeat itself.

    Args:
        depths, keep: `keep(job, output, states)` is called for every finished text; states: depth -> (n - 1, hidden)
            float16 hidden states of its n tokens except the last, which training would compute again otherwise.
    Raises:
        ValueError: a prompt fills the context, or an id lies beyond the vocabulary.
    """
    if max_new_tokens < 1 or batch < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens} and batch {batch}; both must be at least 1")
    if not jobs:
        return
    for job in jobs:
        _check(job.text.prompt_ids, decoder)
    # Long prompts first, so that no long one is left alone at the end; the cache fits the longest.
    waiting = sorted(jobs, key=lambda job: len(job.text.prompt_ids) // PROMPT_STEP)
    room = max_new_tokens + max((LONGEST_TURN + len(job.closing) for job in jobs if job.closing), default=0)
    capacity = min(decoder.max_positions, max(len(job.text.prompt_ids) for job in jobs) + room)
    slots = min(batch, len(jobs))
    cache = decoder.new_cache(capacity, texts=slots)
    rows: list[_Row | None] = [None] * slots

    def over(row: _Row) -> bool:
        return row.over(ends, max_new_tokens, capacity, cut_loops)

    def ended(row: _Row) -> tuple[Job, list[int]]:
        job, output = row.finished()
        if keep is not None:
            keep(job, output, {depth: torch.cat([part[depth] for part in row.states]) for depth in depths})
        return job, output

    while waiting or any(rows):
        for b in range(slots):
            while rows[b] is None and waiting:
                row = _Row(job := waiting.pop(), job.chance(seed), answer=None if job.closing else 0)
                logits, states = _first(decoder, list(job.text.prompt_ids), cache.text(b), depths)
                row.states.append(states)
                _write([row], logits, sampling, ends)
                rows[b] = row
                if over(row):
                    yield ended(row)
                    rows[b] = None
        live = [row for row in rows if row]
        if not live:
            continue
        # An empty slot has a token at position 0, whose row is not used: the batch keeps its shape.
        step = Pass([row.ids[-1] if row else 0 for row in rows], slots=tuple(row.at if row else 0 for row in rows))
        taken: dict[int, Tensor] = dict.fromkeys(depths, cache.keys)  # the step puts the states there
        logits = decoder.forward(step, cache, taken)
        index = torch.tensor([b for b in range(slots) if rows[b]], device=logits.device)
        if depths:
            half = {depth: as_half(state) for depth, state in taken.items()}
            for b, kept in enumerate(rows):
                if kept:
                    kept.states.append({depth: state[b : b + 1] for depth, state in half.items()})
        _write(live, logits[index], sampling, ends)
        for b, done in enumerate(rows):
            if done and over(done):
                yield ended(done)
                rows[b] = None


@torch.inference_mode()
def _first(
    decoder: LeanDecoder, prompt: list[int], cache: KVCache, depths: Sequence[int]
) -> tuple[Tensor, dict[int, Tensor]]:
    """The prefill: (1, V) logits behind the prompt, and its states after `depths`."""
    if not depths:
        return decoder.forward(Pass(prompt), cache), {}
    found = decoder.states(prompt, {*depths, decoder.layers}, cache)
    return decoder.head(found[decoder.layers][-1:]), {depth: as_half(found[depth]) for depth in depths}


def _write(rows: Sequence[_Row], logits: Tensor, sampling: Sampling, ends: frozenset[int]) -> None:
    """One more token for every row: logits (len(rows), V)."""
    for inventing in (True, False):
        own = [i for i, row in enumerate(rows) if not row.forced and (row.answer is None) == inventing]
        if own:
            used = INVENTING if inventing else sampling
            drawn = _draw(logits[torch.tensor(own, device=logits.device)], used, [rows[i].chance for i in own])
            for i, token in zip(own, drawn, strict=True):
                rows[i].take(token, ends)
            rows = [row for i, row in enumerate(rows) if i not in own]
            logits = logits[[i for i in range(len(logits)) if i not in own]]
    for row in rows:
        row.ids.append(row.forced.pop(0))


def invented(openings: Sequence[TurnOpening], count: int, seed: int) -> list[Job]:
    """Jobs whose prompts the target writes, with openings drawn by weight; a larger count starts with the same ones."""
    chosen = random.Random(seed).choices(openings, [o.weight for o in openings], k=count)
    return _numbered((PromptText(opening.ids, kind=opening.kind), opening.closing) for opening in chosen)


def _check(prompt: Sequence[int], decoder: LeanDecoder) -> None:
    if len(prompt) >= decoder.max_positions:
        raise ValueError(f"a prompt has {len(prompt)} tokens, the context {decoder.max_positions}; leave it out")
    check_ids(prompt, decoder.vocab_size)


def as_half(state: Tensor) -> Tensor:
    """A hidden state in float16 on the CPU; the first position's large states are clamped, not infinite."""
    return state.float().clamp(-FLOAT16_MOST, FLOAT16_MOST).half().cpu()


def _draw(logits: Tensor, sampling: Sampling, chances: Sequence[random.Random]) -> list[int]:
    """One token per row, (n, V) -> n ids, by inverting the row's distribution function at its own uniform number."""
    if sampling.greedy:
        return logits.argmax(-1).tolist()  # type: ignore[no-any-return]
    total = to_probs(logits, sampling).double().cumsum(-1)
    uniform = torch.tensor([chance.random() for chance in chances], dtype=torch.float64, device=logits.device)
    at = total[:, -1] * uniform
    # side="right" never picks a token of probability zero; rounding at the top must not go beyond the last token.
    token = torch.searchsorted(total, at[:, None], right=True)[:, 0]
    last = torch.searchsorted(total, total[:, -1:].contiguous())[:, 0]
    return torch.minimum(token, last).tolist()  # type: ignore[no-any-return]
