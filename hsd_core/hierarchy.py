"""HSD: the recursion of hierarchical speculative decoding, in the paper's symbols.

Globerson et al. 2025, "Fast Inference via Hierarchical Speculative Decoding" (arXiv 2510.19705). Levels M_0 .. M_K
stand cheapest first, M_K is the target:

    HSD(0)  drafts T_0 tokens one by one
    HSD(i)  until T_i tokens are held:  Verify(i, HSD(i-1))                    0 < i < K
    HSD(K)  one Verify(K, HSD(K-1)); its tokens are committed

Verify is one forward of M_i over the block from below, then a rule that keeps a prefix and adds one token of M_i's
own. A block goes up with M_i's full rows, never with the residual; overshoot goes up, it is not cut. A stack of
one level is plain decoding: Verify(0) of an empty block.

`room` is how many tokens may still be committed. It depends on counts alone, so it may bound any draft, and no
token ever lies behind the end of the text or an end-of-sequence token.

Not every level need run: `follow` says, between two rounds, which ones do and with which T. HSD(i-1) then is the next
lower level of that course; levels that rest keep their state and fall behind on the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from torch import Tensor

from hsd_core.choices import Choices
from hsd_core.courses import Course, Drafted, Judged
from hsd_core.levels.choosing import Learning
from hsd_core.levels.protocol import DraftOrder, Level, LevelRun, Resting
from hsd_core.policies import DEFAULT_THETA, POLICIES, Held, Policy
from hsd_core.rules import RULES, Rule, tokenwise
from hsd_core.sampling import Sampling, finite, law, raw
from hsd_core.scribe import Block, Scribe
from hsd_core.stacks import LevelSpec
from hsd_core.trace import Event


@dataclass(frozen=True, slots=True)
class Seat:
    """A level's place in a stack. `block` is its T; None for the target."""

    level: Level
    spec: LevelSpec
    block: int | None

    @property
    def theta(self) -> float:
        return DEFAULT_THETA if self.spec.theta is None else self.spec.theta


def whole(seats: Sequence[Seat]) -> Course:
    """The course of all levels, as the stack is written."""
    blocks = [seat.block for seat in seats[:-1]]
    assert None not in blocks, f"a level below the target has no block length: {blocks}"
    return Course(tuple(range(len(seats))), tuple(block for block in blocks if block is not None))


class LevelError(ValueError):
    """A level gave rows that nothing can be drawn from; the message says which, and what helps."""


class Stopped(Exception):
    """The consumer asked the run to stop; raised between two forwards."""


class Hierarchy:
    """One run of a stack. All state is here, in `runs` and on the `tape`; levels are read-only."""

    def __init__(
        self,
        seats: Sequence[Seat],
        runs: Sequence[LevelRun],
        tape: list[int],
        *,
        sampling: Sampling,
        choices: Choices,
        ends: frozenset[int],
        scribe: Scribe,
        stop: Callable[[], bool],
    ) -> None:
        self.seats, self.runs, self.tape = seats, runs, tape
        self.sampling, self.choices, self.ends = sampling, choices, ends
        self.scribe, self._stop = scribe, stop
        # The target has no policy: its one verification is a round.
        self.policies: list[Policy] = [POLICIES[seat.spec.policy](seat.theta) for seat in seats[:-1]]
        self._outcomes: list[Drafted | Judged] = []  # of this round
        self._below: dict[int, int] = {}  # verifier -> the level it verifies; none for the bottom of the course
        self._blocks: dict[int, int] = {}
        self.course = whole(seats)
        self._lay()

    def follow(self, course: Course) -> None:
        """Run these levels from now on; only between two rounds, and before the first after the runs were opened.

        Raises:
            ValueError: it is no course of this stack.
        """
        course.check([seat.level.can_verify for seat in self.seats])
        self.course = course
        self._lay()
        for i, run in enumerate(self.runs):
            if isinstance(run, Resting):
                run.rest(i not in course.levels)

    def take_outcomes(self) -> tuple[Drafted | Judged, ...]:
        """What was drafted and judged since the last call."""
        outcomes = tuple(self._outcomes)
        self._outcomes.clear()
        return outcomes

    def _lay(self) -> None:
        self._below = {above: below for below, above in pairwise(self.course.levels)}
        self._blocks = dict(zip(self.course.levels, self.course.blocks, strict=False))  # the target has none

    def pull(self, i: int, room: int) -> Generator[Event, None, Block]:
        """HSD(i): the next block of level i < K, at most `room` tokens, left at the end of the tape."""
        if i not in self._below:
            return (yield from self._draft(i, room))
        held = Block.empty(self.seats[i].level.vocab_size)
        while True:
            added, corrected = yield from self.verify(i, room - len(held))
            held = held + added
            if len(held) == room or self._ended(held) or self._stops(i, len(held), corrected, added.logits):
                return held

    def verify(self, i: int, room: int) -> Generator[Event, None, tuple[Block, bool]]:
        """Verify(i, HSD(i-1)): the tokens that level i keeps or adds, and whether the last one is a correction."""
        seat, start, below = self.seats[i], len(self.tape), self._below.get(i)
        below_room = room - 1 if seat.spec.bonus else room
        block = Block.empty(seat.level.vocab_size)
        if below is not None and below_room > 0:
            block = yield from self.pull(below, below_room)
        self._heed_stop()
        n = len(block)
        bonus = seat.spec.bonus and not self._ended(block)
        # Without a bonus the last drafted token need not be processed: its row would decide nothing.
        rows = n + 1 if bonus or n == 0 else n
        t0 = self.scribe.clock.now()
        logits, work = self.runs[i].score(self.tape[: len(self.tape) - n + rows - 1], rows)
        self.check(i, logits)
        p = law(logits, self.sampling)
        # The bottom level judges nobody: plain decoding draws from the law, whatever rule is written there.
        rule: Rule = RULES[seat.spec.rule] if below is not None else tokenwise
        if seat.spec.k and below is not None:
            rule = partial(rule, k=seat.spec.k, scores=logits)
        verdict = rule(block.ids, block.rows, p, self.choices, bonus)
        t1 = self.scribe.clock.now()

        kept = verdict.accepted
        yield self.scribe.verify(i, below, start, block, p, logits, verdict, work, t0, t1, self._theta(i))
        if n and below is not None:
            self._outcomes.append(Judged(i, below, n, kept))
            self.policies[below].told(n, kept, self._blocks[below])
        cut = start + kept
        yield from self._rollback(cut)
        if below is not None and isinstance(drafter := self.runs[below], Learning):
            drafter.learn(start, p[: kept + 1], partial(law, sampling=self.sampling))
        tokens = block.tokens[:kept]
        if verdict.token is not None:
            how = "correct" if kept < n else "bonus"
            token = self.scribe.token(verdict.token, level=i, how=how, source=seat.level.name)
            yield self.scribe.own(token, at=cut, p=p[kept], logits=logits[kept])
            tokens = [*tokens, token]
            self.tape.append(token.id)
        out = Block(tokens, p[: len(tokens)], logits[: len(tokens)])
        self.scribe.handed_up(i, len(tokens))
        if i < len(self.seats) - 1:  # the target's is written after the commit
            yield self.kv()
        return out, kept < n

    def _draft(self, i: int, room: int) -> Generator[Event, None, Block]:
        """HSD(0), level i being the bottom: at most T_0 tokens, each with the row it was drawn from."""
        self._heed_stop()
        seat, start = self.seats[i], len(self.tape)
        order = DraftOrder(
            limit=min(self._blocks[i], room),
            draw=partial(self._draw, i),
            stops=partial(self._stops_draft, i),
            ends=self.ends,
            vocab_size=seat.level.vocab_size,
        )
        t0 = self.scribe.clock.now()
        proposal = self.runs[i].propose(self.tape, order)
        t1 = self.scribe.clock.now()
        tokens = [
            self.scribe.token(token, level=i, how="draft", source=source)
            for token, source in zip(proposal.ids, proposal.sources, strict=True)
        ]
        self.tape.extend(proposal.ids)
        block = Block(tokens, proposal.rows, proposal.logits)
        yield self.scribe.draft(i, start, block, proposal.work, t0, t1, self._theta(i), proposal.copied)
        self._outcomes.append(Drafted(i, len(tokens)))
        self.scribe.handed_up(i, len(tokens))
        return block

    def check(self, i: int, logits: Tensor) -> None:
        """
        Raises:
            LevelError: level i gave logits that are NaN or infinite.
        """
        if not finite(logits):
            raise LevelError(
                f"level {i} ({self.seats[i].level.name}): its logits are not finite; its weights may be damaged: "
                "fetch them again, or run the level in another dtype"
            )

    def kv(self) -> Event:
        """The cache lengths as they stand."""
        caches = ((i, run) for i, run in enumerate(self.runs) if self.seats[i].level.has_cache)
        return self.scribe.kv(caches, len(self.tape))

    def _draw(self, i: int, logits: Tensor) -> tuple[int, Tensor]:
        self.check(i, logits)
        row = law(logits, self.sampling)[0]
        return self.choices.draw(row), row

    def _stops_draft(self, i: int, drafted: int, last: Tensor | None) -> bool:
        self._heed_stop()  # a draft is one forward a token
        return self._stops(i, drafted, False, last)

    def _stops(self, i: int, length: int, corrected: bool, logits: Tensor | None) -> bool:
        """Ask level i's policy, before the next token is drawn (design rule: it sees the past only)."""
        policy, sure = self.policies[i], []
        if policy.reads_confidence and logits is not None:
            sure = raw(logits.reshape(-1, logits.shape[-1])).amax(-1).tolist()
        return policy.stops(Held(length, self._blocks[i], corrected, sure))

    def _theta(self, i: int) -> float | None:
        """Level i's threshold as it stands, where it moves."""
        if isinstance(run := self.runs[i], Learning):
            return run.theta
        return self.policies[i].moving if i < len(self.policies) else None

    def _ended(self, block: Block) -> bool:
        return len(block) > 0 and block.tokens[-1].id in self.ends

    def _rollback(self, cut: int) -> Generator[Event, None, None]:
        del self.tape[cut:]
        for i, run in enumerate(self.runs):
            before = run.cached
            if before > cut:
                run.rollback(cut)
                yield self.scribe.rollback(i, before, cut)

    def _heed_stop(self) -> None:
        if self._stop():
            raise Stopped
