"""The exact distribution of the engine: every branch of every random choice, with its probability, in float64.

`Scripted` stands in for the engine's `Choices`: it follows a script and, behind its end, takes the first branch that
has mass. `every_path` replays a function under one script after the other until all branches were taken.

`run_distribution` replays whole runs. Its number of paths grows as the product over all tokens and coins, so
`merged_distribution` joins paths on the way: what `Hierarchy.pull` and `verify` hand up in one context is enumerated
once (by the real methods) and is one choice among blocks from then on. Rows are functions of the prefix, so blocks
with equal ids are one, if they leave the stop policies in one state: policies remember.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor
from toys import output_of

import hsd_core
from hsd_core.core import run as engine
from hsd_core.core.choices import ChoiceKey, SeededChoices
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.level import StackEntry
from hsd_core.core.requests import DraftRequest, Request, ScoreRequest
from hsd_core.core.tree import Token, Tree
from hsd_core.levels.shared import open_levels
from hsd_core.models.context import Context
from hsd_core.models.one_pass import in_order
from hsd_core.models.sampling import Sampling, TokenId, on_host, to_probs
from hsd_core.stacks import prepared

T = TypeVar("T")
Distribution = dict[tuple[int, ...], float]
SAMPLED = Sampling(temperature=1.0)
WIDEST = 32  # nodes of a tree


class Keys:
    """Every choice of a run has a key of its own: two with one key would be one choice."""

    def __init__(self) -> None:
        self._keys: set[tuple[Any, ...]] = set()

    def _only_once(self, key: tuple[Any, ...]) -> None:
        if isinstance(next(iter(key), None), ChoiceKey):
            assert key not in self._keys, f"two choices have the key {key}"
            self._keys.add(key)


class OnceEach(SeededChoices, Keys):
    """A run's own choices, each made once."""

    def __init__(self, seed: int) -> None:
        SeededChoices.__init__(self, seed)
        Keys.__init__(self)

    def draw(self, row: Tensor, key: ChoiceKey) -> int:
        self._only_once((key,))
        return super().draw(row, key)

    def accept(self, alpha: float, key: ChoiceKey) -> tuple[bool, float | None]:
        self._only_once((key,))
        return super().accept(alpha, key)


class Scripted(Keys):
    """`Choices` that follow a script of branch numbers; `mass` is the probability of the path so far."""

    def __init__(self) -> None:
        self.script: list[list[int]] = []  # [branch taken, branches there are]
        self.rewind()

    def rewind(self) -> None:
        self._at, self.mass = 0, 1.0
        Keys.__init__(self)

    def advance(self) -> bool:
        """To the next script, depth first; False when all branches were taken."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if self.script:
            self.script[-1][0] += 1
        return bool(self.script)

    def pick(self, masses: Sequence[float]) -> int:
        if self._at == len(self.script):
            self.script.append([0, len(masses)])
        branch, there_are = self.script[self._at]
        assert there_are == len(masses), "the run took another way under the same script: hidden randomness"
        self._at += 1
        self.mass *= masses[branch]
        return branch

    def draw(self, row: Tensor, *key: Any) -> TokenId:
        self._only_once(key)
        chances = row.tolist()
        slack = 1e-9 if row.dtype == torch.float64 else 1e-5
        assert abs(sum(chances) - 1.0) < slack, f"a row that sums to {sum(chances)}"
        support = [token for token, chance in enumerate(chances) if chance > 0.0]
        token = support[self.pick([chances[token] for token in support])]
        return token if on_host(row) else torch.full((), token, device=row.device)

    def accept(self, alpha: float, *key: Any) -> tuple[bool, float | None]:
        self._only_once(key)
        assert 0.0 <= alpha <= 1.0 + 1e-12, f"alpha {alpha} is not a probability"
        if alpha <= 0.0 or alpha >= 1.0:
            return alpha >= 1.0, None
        return self.pick([alpha, 1.0 - alpha]) == 0, 0.5


def every_path(act: Callable[[Scripted], T]) -> Iterator[tuple[float, T]]:
    """(probability, result) of `act` for every path through its choices."""
    choices = Scripted()
    while True:
        choices.rewind()
        result = act(choices)
        yield choices.mass, result
        if not choices.advance():
            return


def run_distribution(stack: Sequence[StackEntry], prompt: Sequence[int], max_new: int, **options: Any) -> Distribution:
    """The distribution of the committed ids: whole runs of the engine, every path."""
    options = {"sampling": SAMPLED, "heads": 0, "max_new_tokens": max_new, **options}
    headers: list[Any] = []  # all paths have one
    real, found = prepared.run_header, Distribution()

    def header(*given: Any) -> Any:
        headers[:] = headers or [real(*given)]
        return headers[0]

    def whole(choices: Scripted) -> tuple[int, ...]:
        return output_of(list(hsd_core.run(stack, prompt, seed=0, choices=choices, **options)))

    with patch.object(prepared, "run_header", header):
        for mass, output in every_path(whole):
            found[output] = found.get(output, 0.0) + mass
    return found


def merged_distribution(
    stack: Sequence[StackEntry], prompt: Sequence[int], max_new: int, **options: Any
) -> Distribution:
    """As `run_distribution`, joining paths inside the hierarchy; the engine's own loop runs over the joined blocks."""

    class OneMemo(Merged):
        memo: ClassVar[dict[Any, Any]] = {}

    with patch.object(engine, "Hierarchy", OneMemo):
        return run_distribution(stack, prompt, max_new, **options)


class Untouchable:
    """In place of the policies of the levels above: what a level hands up does not depend on them."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a level read {name} of the policy of a level above it")


class Merged(Hierarchy):
    """A hierarchy in which what a level hands up is one choice among blocks, each enumerated from the real methods."""

    memo: ClassVar[dict[Any, Any]]

    def pull(self, i: int, context: Context, budget: int) -> Generator[Any, Any, Tree]:
        yield from ()
        return self._one_of("pull", i, context, budget)[0]

    def verify(self, i: int, context: Context, budget: int) -> Generator[Any, Any, tuple[Tree, bool]]:
        yield from ()
        return self._one_of("verify", i, context, budget)

    def _one_of(self, what: str, i: int, context: Context, budget: int) -> tuple[Tree, bool]:
        own = self.policies[: i + 1]  # no level asks a policy above its own: see `Untouchable`
        key = (what, i, budget, tuple(context), repr(own), self.plan.levels, self.plan.blocks)
        if key not in self.memo:
            self.memo[key] = self._enumerate(what, i, context, budget)
        masses, trees = self.memo[key]
        tree, corrected, policies = trees[self.choices.pick(masses)]  # type: ignore[attr-defined]
        self.policies[: i + 1] = [copy(policy) for policy in policies]
        return tree, corrected

    def _enumerate(
        self, what: str, i: int, context: Context, budget: int
    ) -> tuple[list[float], list[tuple[Tree, bool, list[Any]]]]:
        def once(choices: Scripted) -> tuple[Tree, bool, list[Any]]:
            inner = type(self)(self.stack, sampling=self.sampling, choices=choices, ends=self.ends)
            inner.follow(self.plan)
            own = [copy(policy) for policy in self.policies[: i + 1]]
            inner.policies = [*own, *(Untouchable() for _ in self.policies[i + 1 :])]
            room = len(context) + budget + WIDEST
            result = Enumerated(self.stack, room).drive(getattr(Hierarchy, what)(inner, i, context, budget))
            tree, corrected = result if isinstance(result, tuple) else (result, False)
            assert 0 < tree.longest <= budget or (i == 0 and not len(tree)), f"{what}({i}, {budget}) gave {len(tree)}"
            sure = tree.rows is None and self.sampling.greedy  # its row is one-hot
            assert i == 0 or sure or len(tree.rows) == len(tree), "a token went up without its row"
            return tree, corrected, inner.policies[: i + 1]

        masses: dict[Any, float] = {}
        trees: dict[Any, tuple[Tree, bool, list[Any]]] = {}
        for mass, (tree, corrected, policies) in every_path(once):
            name = (tuple(tree.ids), tree.parents, tree.offers, corrected, repr(policies))
            masses[name] = masses.get(name, 0.0) + mass
            known, *_ = trees.setdefault(name, (tree, corrected, policies))
            same = known.rows is None or torch.allclose(known.rows.double(), tree.rows.double(), atol=1e-12)
            assert same, "rows depend on the path"
        return list(masses.values()), list(trees.values())


class Enumerated:
    """A driver of the hierarchy that writes nothing: levels are asked, and caches kept."""

    def __init__(self, stack: Sequence[StackEntry], room: int) -> None:
        self.runs = [*open_levels([entry.level for entry in stack], room)][::-1]

    def drive(self, asking: Generator[Any, Any, T]) -> T:
        answer: Any = None
        while True:
            try:
                asked = asking.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answer = self._answer(asked)

    def _answer(self, asked: Request) -> Any:
        if isinstance(asked, DraftRequest):
            return self.runs[asked.level].propose(asked.context, asked.order).tree(_token)
        if isinstance(asked, ScoreRequest):
            return self.runs[asked.level].score(asked.context, asked.tree)[0]
        judged, start = asked.judged, len(asked.context)
        cut = start + len(judged.verdict.path if judged.tree.is_chain else judged.path)
        for run in self.runs:
            if run.cached > cut or (run.cached > start and not in_order(judged.path)):
                run.keep(start, judged.path)
        return None if judged.verdict.token is None else _token(judged.verdict.token, "")


def _token(id_: int, source: str) -> Token:
    return Token(-1, id_, -1, "draft", source)


def target_distribution(
    stack: Sequence[StackEntry],
    prompt: Sequence[int],
    max_new: int,
    sampling: Sampling = SAMPLED,
    ends: frozenset[int] = frozenset(),
) -> Distribution:
    """The target's own distribution, by the chain rule: what every lossless stack must give."""
    level: Any = stack[-1].level
    found: Distribution = {}

    def extend(output: tuple[int, ...], mass: float) -> None:
        if len(output) == max_new or (output and output[-1] in ends):
            found[output] = mass
            return
        row = level.table((*prompt, *output))
        if sampling != SAMPLED:
            row = to_probs(row.log().unsqueeze(0), sampling)[0]
        for token, chance in enumerate(row.tolist()):
            if chance > 0.0:
                extend((*output, token), mass * chance)

    extend((), 1.0)
    return found


def distance(one: Distribution, other: Distribution) -> float:
    """Total variation."""
    return 0.5 * sum(abs(one.get(output, 0.0) - other.get(output, 0.0)) for output in one.keys() | other.keys())
