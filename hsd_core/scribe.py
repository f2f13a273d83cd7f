"""Writes down what a run does, as events, while the engine's clock stands still.

The scribe numbers tokens (serials), remembers which levels passed them and counts each level's work. It decides
nothing: a run without details takes the same choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hsd_core import trace
from hsd_core.clock import EngineClock
from hsd_core.courses import Course
from hsd_core.levels.protocol import LevelRun, Work
from hsd_core.rules import Verdict
from hsd_core.sampling import raw


@dataclass(frozen=True, slots=True)
class Token:
    """A drafted or drawn token: its number in this run, its id, who made it and how (draft | correct | bonus)."""

    serial: int
    id: int
    level: int
    how: str
    source: str


@dataclass(frozen=True, slots=True)
class Block:
    """Tokens handed up, with the (n, V) rows that they were drawn from and the logits behind those rows."""

    tokens: list[Token]
    rows: Tensor
    logits: Tensor | None

    @staticmethod
    def empty(vocab_size: int) -> Block:
        return Block([], torch.empty(0, vocab_size), torch.empty(0, vocab_size))

    @property
    def ids(self) -> list[int]:
        return [token.id for token in self.tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def __add__(self, other: Block) -> Block:
        if not len(self):
            return other
        logits = None
        if self.logits is not None and other.logits is not None:
            logits = torch.cat((self.logits, other.logits))
        return Block(self.tokens + other.tokens, torch.cat((self.rows, other.rows)), logits)


@dataclass(slots=True)
class _Total:
    forwards: int = 0
    rows: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    ns: int = 0


class Scribe:
    """Makes the events of one run.

    heads: how many of the likeliest tokens of each row to write down; 0 writes none.
    prompt_length: positions before it are the prompt; events count from its end.
    """

    def __init__(self, clock: EngineClock, levels: int, prompt_length: int, heads: int) -> None:
        self.clock = clock
        self.round = 0
        self.committed = prompt_length
        self._prompt = prompt_length
        self._heads = heads
        self._serials = 0
        self._passed: dict[int, tuple[int, ...]] = {}
        self._totals = [_Total() for _ in range(levels)]

    def token(self, id_: int, *, level: int, how: str, source: str) -> Token:
        token = Token(self._serials, id_, level, how, source)
        self._serials += 1
        return token

    def handed_up(self, level: int, tokens: int) -> None:
        self._totals[level].tokens_out += tokens

    def draft(
        self, level: int, start: int, block: Block, work: Work, t0: int, t1: int, theta: float | None = None,
        copied: Sequence[trace.Copied | None] = (),
    ) -> trace.Draft:  # fmt: skip
        """A draft. copied: see `Proposal`."""
        with self.clock.stopped():
            self._count(level, work, 0, t1 - t0)
            confidence: list[float | None] = [None] * len(block)
            if block.logits is not None and len(block):
                confidence = [_short(x) for x in raw(block.logits).amax(-1).tolist()]
            return trace.Draft(
                self.round, level, start - self._prompt,
                serials=tuple(token.serial for token in block.tokens),
                ids=tuple(block.ids),
                sources=tuple(token.source for token in block.tokens),
                q=tuple(_short(x) for x in _chances(block.rows, block.ids)),
                confidence=tuple(confidence),
                forwards=work.forwards, rows=work.rows, catch_up=work.catch_up, t0=t0, t1=t1, ran=work.ran,
                theta=_short_or_none(theta), copied=tuple(self._placed(x) for x in copied),
            )  # fmt: skip

    def verify(
        self, level: int, below: int | None, start: int, block: Block, p: Tensor, logits: Tensor, verdict: Verdict,
        work: Work, t0: int, t1: int, theta: float | None = None,
    ) -> trace.Verify:  # fmt: skip
        """A verification. p, logits: (n or n + 1, V) rows of the verifier for the n tokens of `block`, by `below`."""
        with self.clock.stopped():
            n = len(block)
            self._count(level, work, n, t1 - t0)
            p_heads = self._head_rows(logits[:n])
            q_heads = self._one_hot_heads(block.ids) if block.logits is None else self._head_rows(block.logits)
            p_of, q_of = _chances(p, block.ids), _chances(block.rows, block.ids)
            checks = []
            for t, token in enumerate(block.tokens):
                outcome = "accepted" if t < verdict.accepted else "rejected" if t == verdict.accepted else "unjudged"
                residual = None
                if outcome == "accepted":
                    self._passed[token.serial] = (*self._passed.get(token.serial, ()), level)
                elif outcome == "rejected" and verdict.residual is not None and self._heads:
                    residual = _head(verdict.residual, self._heads)
                checks.append(
                    trace.Check(
                        token.serial, token.id, _short(verdict.alphas[t]), verdict.coins[t], outcome,
                        _short(p_of[t]), _short(q_of[t]), p_heads[t], q_heads[t], residual,
                    )
                )  # fmt: skip
            at = start - self._prompt
            rows, catch_up, moved = work.rows, work.catch_up, _short_or_none(theta)
            return trace.Verify(self.round, level, below, at, rows, catch_up, tuple(checks), t0, t1, work.ran, moved)

    def own(self, token: Token, *, at: int, p: Tensor, logits: Tensor) -> trace.Correct | trace.Bonus:
        """A correction or bonus. p, logits: (V,) row of the level that drew it."""
        with self.clock.stopped():
            event = trace.Correct if token.how == "correct" else trace.Bonus
            head = self._head_rows(logits.unsqueeze(0))[0]
            chance = _short(float(p[token.id]))
            place = at - self._prompt
            return event(self.round, token.level, place, token.serial, token.id, chance, self.clock.now(), head)

    def commit(self, block: Block) -> trace.Commit:
        at = self.committed - self._prompt
        self.committed += len(block)
        tokens = tuple(
            trace.Committed(t.serial, t.id, t.level, t.how, t.source, self._passed.get(t.serial, ()))
            for t in block.tokens
        )
        return trace.Commit(self.round, at, tokens, self.clock.now())

    def rollback(self, level: int, before: int, after: int) -> trace.Rollback:
        return trace.Rollback(self.round, level, before, after, self.clock.now())

    def kv(self, caches: Iterable[tuple[int, LevelRun]], tape_length: int) -> trace.Kv:
        """The cache lengths of the levels that have one, given as (index, run)."""
        held = tape_length - self.committed
        lengths = tuple(
            trace.KvLength(i, run.cached, tape_length - run.cached, self.committed, held) for i, run in caches
        )
        return trace.Kv(self.round, lengths, self.clock.now())

    def plan(self, course: Course, stack: str, t0: int) -> trace.Plan:
        return trace.Plan(
            self.round, stack, self.clock.now(), course.levels, course.blocks, _short_or_none(course.predicted_ms),
            _short_or_none(course.left_ms), course.why, {k: _short(x) for k, x in course.acceptance.items()}, t0,
        )  # fmt: skip

    def footer(self, reason: str, *, prefill_ns: int, decode_ns: int) -> trace.Footer:
        totals = tuple(
            trace.LevelTotal(i, t.forwards, t.rows, t.tokens_in, t.tokens_out, t.ns) for i, t in enumerate(self._totals)
        )
        return trace.Footer(reason, self.round, self.committed - self._prompt, prefill_ns, decode_ns, totals)

    def _count(self, level: int, work: Work, tokens_in: int, ns: int) -> None:
        total = self._totals[level]
        total.forwards += work.forwards
        total.rows += work.rows
        total.tokens_in += tokens_in
        total.ns += ns

    def _head_rows(self, logits: Tensor) -> list[trace.Row | None]:
        if not self._heads or not logits.shape[0]:
            return [None] * logits.shape[0]
        return [_head(row, self._heads) for row in raw(logits)]

    def _placed(self, copied: trace.Copied | None) -> trace.Copied | None:
        """Its position counted from the end of the prompt."""
        return copied and trace.Copied(copied.at - self._prompt, copied.alike, _short(copied.share))

    def _one_hot_heads(self, ids: list[int]) -> list[trace.Row | None]:
        return [trace.Row((i,), (1.0,), 0.0) if self._heads else None for i in ids]


def _head(row: Tensor, k: int) -> trace.Row:
    top = row.topk(min(k, row.shape[-1]))
    pairs = [(i, _short(x)) for i, x in zip(top.indices.tolist(), top.values.tolist(), strict=True) if x > 0.0]
    tail = max(0.0, 1.0 - sum(x for _, x in pairs))
    return trace.Row(tuple(i for i, _ in pairs), tuple(x for _, x in pairs), _short(tail))


def _chances(rows: Tensor, ids: list[int]) -> list[float]:
    """(n or more, V) rows -> the n tokens' own probabilities."""
    if not ids:
        return []
    index = torch.tensor(ids, device=rows.device).unsqueeze(1)
    return [float(x) for x in rows[: len(ids)].gather(1, index).squeeze(1)]


def _short_or_none(x: float | None) -> float | None:
    return None if x is None else _short(x)


def _short(x: float) -> float:
    """Six significant digits: enough to read and replay, half the size of a trace."""
    return float(f"{x:.6g}")
