"""HSD: the recursion of hierarchical speculative decoding, in the paper's symbols.

Globerson et al. 2025, "Fast Inference via Hierarchical Speculative Decoding" (arXiv 2510.19705). Levels M_0 .. M_K,
cheapest first; M_K is the target:

    HSD(0)  drafts T_0 tokens
    HSD(i)  until T_i tokens are held:  Verify(i, HSD(i-1))                    0 < i < K
    HSD(K)  one Verify(K, HSD(K-1)); its tokens are committed

Verify is one forward of M_i over the tree from below, then a rule that keeps a path and adds one token of M_i's own.
What is held goes up as a chain with M_i's full rows, never with the residual; overshoot goes up, it is not cut. A
stack of one level is plain decoding: Verify(0) of nothing.

`budget` is how many tokens may still be committed. It depends on counts only, so it may bound any draft; no token ever
follows the end of the text or an end-of-sequence token.

The hierarchy asks and decides; it runs nothing. `pull` and `verify` are generators: they yield requests, each with its
context, and receive the answers from a driver (`driver`). Not every level has to run: `follow` sets, between two
rounds, which levels run and with which T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from torch import Tensor

from hsd_core.core.choices import ChoiceKey, Choices, Epochs, EpochsByCount, Judge
from hsd_core.core.level import DraftOrder, Sampler, StackEntry, TreeShape
from hsd_core.core.policies import DraftState, Fixed, Policy
from hsd_core.core.requests import DraftRequest, Judged, KeepRequest, Requests, Rows, ScoreRequest, TakeRequest
from hsd_core.core.rules import Rule, rows_of, tokenwise
from hsd_core.core.run_plans import RunPlan
from hsd_core.core.tree import NOTHING, Token, Tree, joined
from hsd_core.grammar import lanes_of, policy_of, rule_of
from hsd_core.grammar.keys import GROW, REPLACE
from hsd_core.models.context import Context
from hsd_core.models.sampling import (
    OneHot,
    Sampling,
    TokenId,
    dense,
    finite,
    likeliest,
    on_host,
    read_rows,
    to_probs,
)


class LevelError(ValueError):
    """A level returned logits that nothing can be drawn from; the message names it and the cure."""


def all_levels(stack: Sequence[StackEntry]) -> RunPlan:
    """The plan of all levels, with the stack's own T."""
    blocks = [entry.block for entry in stack[:-1]]
    assert None not in blocks, f"a level below the target has no block length: {blocks}"
    return RunPlan(tuple(range(len(stack))), tuple(block for block in blocks if block is not None))


class Hierarchy:
    """One run of a stack. Its state: the policies', and where verifiers dropped tokens; not the context."""

    def __init__(
        self,
        stack: Sequence[StackEntry],
        *,
        sampling: Sampling,
        choices: Choices,
        ends: frozenset[int],
        contexts: Sequence[int | None] = (),
    ) -> None:
        """
        Args:
            contexts: the most tokens that each level's model takes; None if it has no bound.
        """
        self._contexts = contexts or (None,) * len(stack)
        self.stack, self.sampling, self.choices, self.ends = stack, sampling, choices, ends
        # The target has no policy: its one verification is a round.
        self.policies: list[Policy] = [policy_of(entry.spec).bind(entry.spec.values) for entry in stack[:-1]]
        self._reads_rows = [type(policy).sure is not Fixed.sure for policy in self.policies]
        self._judges = [rule_of(entry.spec) for entry in stack]
        self._rules: list[Rule] = [
            rule.bind(entry.spec.values) for rule, entry in zip(self._judges, stack, strict=True)
        ]
        self.to_probs = partial(to_probs, sampling=sampling)
        self.epochs: Epochs = EpochsByCount(len(stack))
        drawn = not sampling.greedy
        self._shapes = [
            TreeShape(spec.widths, spec.get(GROW) or 0, drawn and bool(spec[REPLACE]))
            for spec in (entry.spec for entry in stack)
        ]
        self._lanes = lanes_of([entry.spec for entry in stack])
        self._below: dict[int, int] = {}  # verifier -> the level it verifies; none for the bottom of the plan
        self._blocks: dict[int, int] = {}
        self.follow(all_levels(stack))

    def follow(self, plan: RunPlan) -> None:
        """Run these levels from now on; only between two rounds, and before the first after the runs were opened."""
        self.plan = plan
        self._below = {above: below for below, above in pairwise(plan.levels)}
        self._blocks = dict(zip(plan.levels, plan.blocks, strict=False))  # the target has none

    def below(self, i: int) -> int | None:
        """The level that level i verifies; None for the bottom of the plan."""
        return self._below.get(i)

    def round(self, context: Context, budget: int) -> Requests[Tree]:
        """HSD(K): the tokens that the target commits after the context, at most `budget`."""
        committed, _ = yield from self.verify(len(self.stack) - 1, context, budget)
        return committed

    def pull(self, i: int, context: Context, budget: int) -> Requests[Tree]:
        """HSD(i): the tokens that level i < K hands up, at most `budget`; none if its context is full."""
        budget = self._within(i, len(context), budget)
        if i not in self._below or not budget:
            bottom = i if i not in self._below else self.plan.levels[0]
            epoch = self.epochs.of(bottom, len(context))
            order = self.order(bottom, len(context), budget, epoch)
            tree = yield DraftRequest(bottom, context, order, self.policies[bottom].moving, epoch)
            assert isinstance(tree, Tree), f"the answer to a draft request is {tree}"
            return tree
        length, held = 0, list[Tree]()
        while True:
            added, corrected = yield from self.verify(i, context, budget - length)
            held.append(added)
            length += len(added)
            logits = added.logits.values[: len(added)] if added.logits is not None and self._reads_rows[i] else None
            if length == budget or self._ended(added) or self._stops(i, length, logits, corrected=corrected):
                return joined(held)
            context = context + added.ids

    def order(self, i: int, start: int, budget: int, epoch: int) -> DraftOrder:
        """What level i is asked to draft after `start` tokens, at most `budget`; epoch: of its random choices."""
        return DraftOrder(
            min(self._blocks[i], self._within(i, start, budget)),
            Sampler(
                partial(self._checked_row, i),
                partial(self._pick, i, start, epoch),
                partial(self.check, i),
                self.sampling.greedy,
            ),
            partial(self._stops, i, corrected=False, surest=True),
            self.ends,
            self._shapes[i],
        )

    def verify(self, i: int, context: Context, budget: int) -> Requests[tuple[Tree, bool]]:
        """Verify(i, HSD(i-1)): the chain that level i adds to the context, and whether it ends in a correction."""
        spec, below = self.stack[i].spec, self.below(i)
        # A level below on another lane drafts on meanwhile: its next token has the position of a bonus.
        bonus = spec.bonus and not self._lanes[i]
        below_budget = budget - 1 if bonus else budget
        if below is not None:
            below_budget = self._within(below, len(context), below_budget)
        tree = NOTHING
        if below is not None and self._lanes[below] < self._lanes[i]:
            taken = yield TakeRequest(i, context, budget)
            assert isinstance(taken, Tree), f"the answer to a take request is {taken}"
            tree = taken
        elif below is not None and below_budget > 0:
            tree = yield from self.pull(below, context, below_budget)
        bonus = bonus and not (tree.is_chain and self._ended(tree))
        # Without a bonus the leaves need no row: nothing is decided after them.
        scored_tree = tree if bonus else tree.inner()[0]
        scored = yield ScoreRequest(i, context, scored_tree.with_probes(tree.probes))
        assert isinstance(scored, Tensor), f"the answer to a score request is {scored}"
        return (yield from self.judge(i, context, tree, scored, bonus=bonus))

    def judge(
        self, i: int, context: Context, tree: Tree, scored: Tensor, *, bonus: bool
    ) -> Requests[tuple[Tree, bool]]:
        """The verdict of level i on a tree, from its logits; without a bonus those of the inner nodes. As `verify`."""
        below = self.below(i)
        n = len(tree if bonus else tree.inner()[0]) + 1
        ahead = likeliest(scored[n:]) if tree.probes.ids else None
        logits, probs = read_rows(scored if ahead is None else scored[:n], self.sampling)
        if not logits.finite(probs.ids if isinstance(probs, OneHot) else None):
            raise self._damaged(i)
        places = rows_of(tree, bonus)
        rule = self._rule(i, below, logits.values)
        if below is not None and not self._judges[i].one_hot:
            probs = dense(probs)
        verdict = rule(tree, probs, self._judge(i, len(context)), bonus)
        kept = verdict.path
        if kept and verdict.residual is None and tree.ids[kept[-1]] in self.ends:
            verdict = replace(verdict, token=None)  # nothing follows the end of the text
        if len(kept) < len(tree):
            self.epochs.cut(i, len(context) + len(kept))

        path = tuple(places[node] - 1 for node in kept if node in places)
        if bonus and verdict.token is None:
            path = path[:-1]  # an end of the text that was processed with other branches; its row is not needed
        judged = Judged(tree, verdict, Rows(probs, logits, places), path)
        theta = self.policies[i].moving if i < len(self.policies) else None
        probed = () if ahead is None else tuple(ahead.tolist())
        token = yield KeepRequest(i, context, judged, below, theta, self.to_probs, probed)
        if len(tree) and below is not None:
            self.policies[below].on_verified(tree.longest, len(kept), self._blocks[below])
        tokens = [tree.tokens[node] for node in kept]
        if token is not None:
            assert isinstance(token, Token), f"the answer to a keep request is {token}"
            tokens.append(token)
        dists, p_logits = judged.line
        drawn_from = None if isinstance(dists, OneHot) else dists[: len(tokens)]
        return Tree(tokens, drawn_from, p_logits), verdict.residual is not None

    def check(self, i: int, logits: Tensor, largest: Sequence[int] | None = None) -> None:
        """
        Args:
            largest: see `finite`.
        Raises:
            LevelError: level i gave logits that are NaN or infinite.
        """
        if not finite(logits, largest):
            raise self._damaged(i)

    def _damaged(self, i: int) -> LevelError:
        return LevelError(
            f"level {i} ({self.stack[i].name}): its logits are not finite; its weights may be damaged: "
            "fetch them again, or run the level in another dtype"
        )

    def _checked_row(self, i: int, logits: Tensor) -> Tensor:
        if on_host(logits):  # others are checked where they are read
            self.check(i, logits)
        return to_probs(logits, self.sampling)

    def _pick(self, i: int, start: int, epoch: int, row: Tensor, depth: int, number: int) -> TokenId:
        return self.choices.draw(row, ChoiceKey("draft", i, start + depth, epoch, number))

    def _rule(self, i: int, below: int | None, logits: Tensor) -> Rule:
        if below is None:
            return tokenwise  # nothing to judge: plain decoding draws from the row under any rule
        return partial(self._rules[i], scores=logits) if self._judges[i].scores else self._rules[i]

    def _judge(self, i: int, start: int) -> Judge:
        """A target whose rule draws its own token at every position draws the token of plain decoding: with one seed it
        writes one text under every stack."""
        if i == len(self.stack) - 1 and self._judges[i].rowless:
            return Judge(self.choices, 0, start, 0)
        return Judge(self.choices, i, start, self.epochs.of(i, start))

    def _stops(self, i: int, length: int, logits: Tensor | None, *, corrected: bool, surest: bool = False) -> bool:
        """Ask level i's policy, before the next token is drawn, so that it sees the past only.

        surest: of several rows only the most confident counts: a tree goes on if any of its branches does.
        """
        policy = self.policies[i]
        sure = () if logits is None else policy.sure(logits if logits.dim() > 1 else logits[None])
        return policy.stops(DraftState(length, self._blocks[i], corrected, [max(sure)] if surest and sure else sure))

    def _within(self, i: int, length: int, budget: int) -> int:
        """How many of at most `budget` tokens level i can still take after `length` tokens."""
        most = self._contexts[i]
        return budget if most is None else max(0, min(budget, most - length))

    def _ended(self, tree: Tree) -> bool:
        return len(tree) > 0 and tree.tokens[-1].id in self.ends
