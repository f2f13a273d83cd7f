"""HSD: the recursion of hierarchical speculative decoding, in the paper's symbols.

Globerson et al. 2025, "Fast Inference via Hierarchical Speculative Decoding" (arXiv 2510.19705). Levels M_0 .. M_K
stand cheapest first, M_K is the target:

    HSD(0)  drafts T_0 tokens
    HSD(i)  until T_i tokens are held:  Verify(i, HSD(i-1))                    0 < i < K
    HSD(K)  one Verify(K, HSD(K-1)); its tokens are committed

Verify is one forward of M_i over the tree from below, then a rule that keeps a path and adds one token of M_i's own.
What is held goes up as a chain with M_i's full rows, never with the residual; overshoot goes up, it is not cut. A
stack of one level is plain decoding: Verify(0) of nothing.

`budget` is how many tokens may still be committed. It depends on counts alone, so it may bound any draft, and no
token ever lies behind the end of the text or an end-of-sequence token.

The hierarchy asks and decides; it runs nothing. `pull` and `verify` yield requests and are sent the answers by whoever
drives them (see `driver`). Not every level need run: `follow` says, between two rounds, which ones do and with which T.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

from torch import Tensor

from hsd_core.engine.choices import Choices, Judge, Key
from hsd_core.engine.plans import RunPlan
from hsd_core.engine.rules import Rule, Verdict, greedy, rows_of, tokenwise
from hsd_core.levels.kinds import policy_of, rules
from hsd_core.levels.policies import DraftState, Policy
from hsd_core.levels.protocol import DraftOrder
from hsd_core.levels.tree import NOTHING, Token, Tree, in_order, joined
from hsd_core.models.sampling import (
    Laws,
    OneHot,
    Sampling,
    dense,
    fetched_law,
    finite,
    likeliest,
    to_probs,
)
from hsd_core.stacks.grammar import LevelSpec


class Place(Protocol):
    """A level's place in a stack, as far as the algorithm knows it."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> LevelSpec: ...

    @property
    def block(self) -> int | None:
        """Its T; None for the target."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """Request: what `level` drafts behind the context. The answer: `Tree`.

    theta: the level's stop threshold as it stands, where it moves.
    """

    level: int
    order: DraftOrder
    theta: float | None


@dataclass(frozen=True, slots=True)
class Score:
    """Request: `level`'s logits behind the context and every node of `tree` but its unread ones: (len(tree) + 1, V).

    What the drafter wants computed beside its tree (`Tree.probes`) stands as the last nodes.
    """

    level: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class Keep:
    """Request: `level` has judged `tree`, by the level `below`; only its path is kept. The answer: `Token | None`, its
    own token behind the path with its number in the run.

    start: the length of the context behind which the tree stands. path: the kept nodes as the scored tree numbers them.
    probs, logits: the verifier's rows behind the context and the kept nodes, up to the last one that was scored.
    all_probs, all_logits: all its rows; places: fork -> its row among them. to_probs, theta: see `Draft`. probed: the
    verifier's likeliest token behind each probe; no choice is made there, whatever the sampling.
    """

    level: int
    below: int | None
    theta: float | None
    start: int
    tree: Tree
    verdict: Verdict
    path: tuple[int, ...]
    probs: Laws
    logits: Tensor
    all_probs: Laws
    all_logits: Tensor
    places: Mapping[int, int]
    to_probs: Callable[[Tensor], Tensor]
    probed: tuple[int, ...] = ()


Request = Draft | Score | Keep
Asking = Generator[Request, Any, Tree]


class LevelError(ValueError):
    """A level gave rows that nothing can be drawn from; the message says which, and what helps."""


def all_levels(stack: Sequence[Place]) -> RunPlan:
    """The plan of all levels, as the stack is written."""
    blocks = [place.block for place in stack[:-1]]
    assert None not in blocks, f"a level below the target has no block length: {blocks}"
    return RunPlan(tuple(range(len(stack))), tuple(block for block in blocks if block is not None))


class Hierarchy:
    """One run of a stack. Its state: the `context` (prompt, what was committed, what levels hold), the policies'."""

    def __init__(
        self, stack: Sequence[Place], context: list[int], *, sampling: Sampling, choices: Choices, ends: frozenset[int]
    ) -> None:
        self.stack, self.context = stack, context
        self.sampling, self.choices, self.ends = sampling, choices, ends
        # The target has no policy: its one verification is a round.
        self.policies: list[Policy] = [policy_of(place.spec) for place in stack[:-1]]
        self._rules: list[Rule] = [rules()[place.spec.rule].load() for place in stack]
        self._to_probs = partial(to_probs, sampling=sampling)
        self._cuts = [0] * len(stack)  # by verifier: how often it did not keep all of a tree
        self._below: dict[int, int] = {}  # verifier -> the level it verifies; none for the bottom of the plan
        self._blocks: dict[int, int] = {}
        self.follow(all_levels(stack))

    def follow(self, plan: RunPlan) -> None:
        """Run these levels from now on; only between two rounds, and before the first after the runs were opened."""
        self.plan = plan
        self._below = {above: below for below, above in pairwise(plan.levels)}
        self._blocks = dict(zip(plan.levels, plan.blocks, strict=False))  # the target has none

    def round(self, budget: int) -> Asking:
        """HSD(K): what the target commits, at most `budget` tokens."""
        committed, _ = yield from self.verify(len(self.stack) - 1, budget)
        return committed

    def pull(self, i: int, budget: int) -> Asking:
        """HSD(i): what level i < K hands up, at most `budget` tokens."""
        if i not in self._below:
            spec, greedy = self.stack[i].spec, self.sampling.greedy
            order = DraftOrder(
                min(self._blocks[i], budget),
                partial(self._checked_law, i),
                partial(self._pick, i),
                partial(self._stops, i, corrected=False, surest=True),
                self.ends,
                partial(self.check, i),
                spec.widths,
                greedy,
                spec.replace and not greedy,
            )
            tree: Tree = yield Draft(i, order, self.policies[i].moving)
            return tree
        start, length, held = len(self.context), 0, list[Tree]()
        while True:
            added, corrected = yield from self.verify(i, budget - length)
            held.append(added)
            length += len(added)
            if length == budget or self._ended(added) or self._stops(i, length, added.logits, corrected=corrected):
                del self.context[start:]  # it is judged anew above
                return joined(held)

    def verify(self, i: int, budget: int) -> Generator[Request, Any, tuple[Tree, bool]]:
        """Verify(i, HSD(i-1)): the chain that level i adds to the context, and whether it ends in a correction."""
        spec, start, below = self.stack[i].spec, len(self.context), self._below.get(i)
        below_budget = budget - 1 if spec.bonus else budget
        tree = NOTHING
        if below is not None and below_budget > 0:
            tree = yield from self.pull(below, below_budget)
        bonus = spec.bonus and not (tree.is_chain and self._ended(tree))
        # Without a bonus the leaves need not be processed: their rows would decide nothing.
        judged = tree if bonus else tree.inner()[0]
        scored: Tensor = yield Score(i, judged.beside(tree.probes))
        ahead = likeliest(scored[len(judged) + 1 :]) if tree.probes.ids else None
        logits, probs = fetched_law(scored[: len(judged) + 1], self.sampling)
        self.check(i, logits, probs.ids if isinstance(probs, OneHot) else None)
        places = rows_of(tree, bonus)
        rule = self._rule(i, below, logits)
        if rule not in (tokenwise, greedy):  # which read no row of one token, and keep nothing else
            probs = dense(probs)
        verdict = rule(tree, probs, Judge(self.choices, i, start, self._epoch(i)), bonus)
        kept = verdict.path
        if kept and verdict.residual is None and tree.ids[kept[-1]] in self.ends:
            verdict = replace(verdict, token=None)  # nothing stands behind the end of the text
        rejected = verdict.residual is not None
        self._cuts[i] += len(kept) < len(tree)

        path = tuple(places[node] - 1 for node in kept if node in places)
        if bonus and verdict.token is None:
            path = path[:-1]  # the end of the text was processed beside other branches; nothing needs the row behind it
        p, p_logits = probs, logits
        if not in_order(path):
            rows = [0, *(node + 1 for node in path)]
            p, p_logits = probs[rows], logits[rows]
        theta = self.policies[i].moving if i < len(self.policies) else None
        probed = () if ahead is None else tuple(ahead.tolist())
        token: Token | None = yield Keep(
            i, below, theta, start, tree, verdict, path, p, p_logits, probs, logits, places, self._to_probs, probed
        )
        if len(tree) and below is not None:
            self.policies[below].on_verified(tree.longest, len(kept), self._blocks[below])
        tokens = [tree.tokens[node] for node in kept]
        if token is not None:
            tokens.append(token)
        self.context.extend(token.id for token in tokens)
        drawn_from = None if isinstance(p, OneHot) else p[: len(tokens)]
        return Tree(tokens, drawn_from, p_logits[: len(tokens)]), rejected

    def check(self, i: int, logits: Tensor, largest: Sequence[int] | None = None) -> None:
        """
        Args:
            largest: see `finite`.
        Raises:
            LevelError: level i gave logits that are NaN or infinite.
        """
        if not finite(logits, largest):
            raise LevelError(
                f"level {i} ({self.stack[i].name}): its logits are not finite; its weights may be damaged: "
                "fetch them again, or run the level in another dtype"
            )

    def _checked_law(self, i: int, logits: Tensor) -> Tensor:
        if logits.device.type == "cpu":
            self.check(i, logits)
        return to_probs(logits, self.sampling)

    def _pick(self, i: int, row: Tensor, depth: int, number: int) -> int | Tensor:
        draw = self.choices.draw if row.device.type == "cpu" else self.choices.draw_there
        return draw(row, Key("draft", i, len(self.context) + depth, self._epoch(i), number))

    def _rule(self, i: int, below: int | None, logits: Tensor) -> Rule:
        if below is None:
            return tokenwise  # it judges nobody: plain decoding draws from the law, whatever rule is written there
        rule, k = self._rules[i], self.stack[i].spec.k
        return partial(rule, k=k, scores=logits) if k else rule

    def _epoch(self, i: int) -> int:
        """How often level i and those above have dropped drafted tokens: a new choice for a place is made then."""
        return sum(self._cuts[i:])

    def _stops(self, i: int, length: int, logits: Tensor | None, *, corrected: bool, surest: bool = False) -> bool:
        """Ask level i's policy, before the next token is drawn (design rule: it sees the past only).

        surest: of several rows only the surest counts: a tree goes on where any of its branches does.
        """
        policy = self.policies[i]
        sure = () if logits is None else policy.sure(logits.reshape(-1, logits.shape[-1]))
        return policy.stops(DraftState(length, self._blocks[i], corrected, [max(sure)] if surest and sure else sure))

    def _ended(self, tree: Tree) -> bool:
        return len(tree) > 0 and tree.tokens[-1].id in self.ends
