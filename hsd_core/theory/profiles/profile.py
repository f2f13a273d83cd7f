"""A profile: the costs of the levels of a stack on a machine, and how often each level accepts another's tokens.

It is the only input of the theory. It is measured (`calibrate`), edited on the page, or written by hand. Costs depend
on the machine, acceptances on the weights and the texts: so a profile may take the acceptances of another one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from hsd_core.grammar.keys import MAX_BLOCK, MAX_NODES
from hsd_core.theory.profiles.costs import MOST_ROWS, Array, Costs, Form, ProfileError
from hsd_core.typed import Int

MOST_TEXTS = 4096


class TextLengths(Form, frozen=True):
    """`texts` texts of at most `limit` tokens; `ended`: the tokens of those that ended with an end token."""

    limit: Int
    texts: Int
    ended: tuple[Int, ...] = ()

    def __post_init__(self) -> None:
        if not (self.limit >= 1 and 1 <= self.texts <= MOST_TEXTS):
            raise ProfileError(f"lengths has {self.texts} texts of {self.limit} tokens; use 1 to {MOST_TEXTS}, and 1")
        if len(self.ended) > self.texts or any(not 1 <= n <= self.limit for n in self.ended):
            raise ProfileError(
                f"lengths: texts that ended after {list(self.ended)} tokens; use 1 to {self.limit}, one for each of "
                f"{self.texts} texts at most"
            )

    def under(self, limit: int) -> tuple[int, ...]:
        """The tokens of each text under another limit; texts that reached the recorded limit are assumed to go on."""
        ended = [min(n, limit) for n in self.ended]
        return (*sorted(ended), *[limit] * (self.texts - len(ended)))


VERSION = 1
MOST_LEVELS = 64
ENGINE = "engine_ms"  # in `about`: the engine's time per verification, if the costs are known to include it
LENGTH = "length"  # in `about`: the tokens of text before the passes, if a length was chosen
LONG_TEXTS = "assets/prompts/long/texts.jsonl"  # the source of texts of such lengths
CATEGORIES = "categories"  # in `about`: acceptances by kind of text, as `measure.bench.by_category` counts them
COUNTED_ON = "categories_from"  # in `about`: the texts that they were counted on
TOKENWISE = "tokenwise"  # the rule of `Profile.acceptance`

Pair = tuple[int, int]
Interval = tuple[float, float]
Matrix = tuple[tuple[float, ...], ...]
SureShare = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ProfileLevel:
    """A candidate level.

    `name`: shown on the page, unique in its profile. `spec`: the level in the stack grammar without T ("ngram",
    "exit@at=8"); empty for a level without weights. `cost(n)`: ms of one verification of n rows (forward, sampling
    transform and rule, the engine's time). `draft_ms`: ms of a drafted token if measured separately, else cost(1).

    A lookup has a `hit_rate`: it is called once per block (cost(n) ms for n tokens; mostly the same for all n) and
    finds something with that probability; its acceptances hold given a hit. `reach[m - 1]`: P(at least m tokens | hit);
    the last value is repeated, empty means as many as requested. Any drafter that ends its drafts itself also has these
    (climbing exits, a model with another tokenizer).

    A level that offers several candidates at once ("ngram@guess=7") has `beside`: `beside[m - 1]` is the mean number of
    tokens at depth m of its offer, given that the offer is that deep; the last value is repeated, empty means one each.
    Its tokens are counted by depth: the m-th is accepted if one of those at depth m is. Probes that are verified with
    an offer are in the `edge_cost` of the level above.

    A lookup, and a level with `beside`, can only be the bottom level.

    `joint[B](n)`: ms of a joint pass of n rows of each of B texts, if measured (`calibrate --load`).
    """

    name: str
    cost: Costs
    spec: str = ""
    hit_rate: float | None = None
    reach: tuple[float, ...] = ()
    draft_ms: float | None = None
    beside: tuple[float, ...] = ()
    joint: Mapping[int, Costs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name:
            raise ProfileError("a level has no name; give each one its own")
        if "->" in self.name:
            raise ProfileError(f"level {self.name!r}: a name may not hold '->', which joins the names of a pair")
        if self.hit_rate is not None and not 0.0 <= self.hit_rate <= 1.0:
            raise ProfileError(f"level {self.name!r}: hit_rate is {self.hit_rate}; use a number from 0 to 1")
        if self.draft_ms is not None and not (math.isfinite(self.draft_ms) and self.draft_ms > 0):
            raise ProfileError(f"level {self.name!r}: draft_ms is {self.draft_ms}; a cost is a positive number of ms")
        falling = all(a >= b for a, b in zip((1.0, *self.reach), self.reach, strict=False))
        if not falling or any(not 0.0 <= p <= 1.0 for p in self.reach):
            raise ProfileError(f"level {self.name!r}: reach must be probabilities that never rise, such as [1, 0.9]")
        if self.reach and self.hit_rate is None:
            raise ProfileError(f"level {self.name!r}: reach belongs to a lookup; give its hit_rate too")
        if any(not 1.0 <= tokens <= MAX_NODES for tokens in self.beside):
            raise ProfileError(
                f"level {self.name!r}: beside is {list(self.beside)}; give the mean tokens at each depth, 1 to "
                f"{MAX_NODES}"
            )
        if self.joint and not min(self.joint) == 1 <= max(self.joint) <= MOST_ROWS:
            raise ProfileError(
                f"level {self.name!r}: joint_ms is of {sorted(self.joint)} texts; give 1, and others up to {MOST_ROWS}"
            )

    @property
    def is_lookup(self) -> bool:
        return self.hit_rate is not None

    @property
    def drafts_only(self) -> bool:
        """Whether it cannot verify, and so can only be the bottom level."""
        return self.is_lookup or bool(self.beside)

    def offered(self, block: int) -> Array:
        """Mean tokens in the first 0, 1, ..., `block` depths of its offer: (block + 1,)."""
        each = np.ones(block)
        if self.beside:
            each[: len(self.beside)] = self.beside[:block]
            each[len(self.beside) :] = self.beside[-1]
        return np.concatenate(([0.0], np.cumsum(each)))

    def block_ms(self, block: int) -> float:
        """ms of one block of `block` tokens with this level at the bottom."""
        if self.is_lookup:
            return self.cost(block)
        return block * (self.cost(1) if self.draft_ms is None else self.draft_ms)

    def tree_ms(self, widths: Sequence[int]) -> float:
        """ms of a tree with this level at the bottom: one forward per depth, over the tokens of the depth before."""
        forks = accumulate((1, *widths[:-1]), mul)
        return self.block_ms(len(widths)) + sum(self.cost(n) - self.cost(1) for n in forks)


@dataclass(frozen=True, slots=True)
class Profile:
    """Levels cheapest first, the target last.

    `acceptance[i][j]`, i < j: probability that level j accepts a token of level i, under rule tokenwise; other entries
    are ignored. `interval`: (low, high) of each, None if not known. `edge_cost[(j, i)]`: cost of a verification by i of
    tokens drafted by j (shared layers), instead of the cost of level i. `round_ms`: the engine's ms per target round
    outside the levels. `by_rule`: acceptances under other verification rules. `by_width[(j, i)][k - 1]`: probability
    that i accepts one of k candidate tokens of j at one position. `max_block`: the longest block length of a plan.
    `lengths`: of the texts that it was measured on, if recorded. `sure[(j, i)]`: by stop policy, for each threshold
    (the threshold, the share of j's tokens whose rows are that sure, the probability that i accepts one of these).
    """

    levels: tuple[ProfileLevel, ...]
    acceptance: Matrix
    max_block: int = 16
    edge_cost: Mapping[Pair, Costs] = field(default_factory=dict)
    interval: tuple[tuple[Interval | None, ...], ...] | None = None
    temperature: float = 0.0
    round_ms: float = 0.0
    by_width: Mapping[Pair, tuple[float, ...]] = field(default_factory=dict)
    by_rule: Mapping[str, Matrix] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    lengths: TextLengths | None = None
    sure: Mapping[Pair, Mapping[str, tuple[SureShare, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_levels(self.levels)
        names = self.names
        check_matrix(self.acceptance, names, "acceptance")
        for rule, matrix in self.by_rule.items():
            check_matrix(matrix, names, f"by_rule {rule!r}")
        if self.interval is not None and [len(row) for row in self.interval] != [len(names)] * len(names):
            raise ProfileError(f"interval must be {len(names)} x {len(names)}, as acceptance is")
        if not 1 <= self.max_block <= MAX_BLOCK:
            raise ProfileError(f"max_block is {self.max_block}; use a whole number from 1 to {MAX_BLOCK}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ProfileError(f"temperature is {self.temperature}; use 0 or more")
        if not (math.isfinite(self.round_ms) and self.round_ms >= 0):
            raise ProfileError(f"round_ms is {self.round_ms}; use 0 or more ms")
        arrows = (("edge_cost_ms", self.edge_cost), ("by_width", self.by_width), ("sure", self.sure))
        for what, pairs in arrows:
            if bad := [pair for pair in pairs if not 0 <= pair[0] < pair[1] < len(names)]:
                raise ProfileError(f"{what} has the pair {bad[0]}; the drafter must stand below its verifier")
        for (below, level), policies in self.sure.items():
            if any(not 0.0 <= share <= 1.0 for known in policies.values() for one in known for share in one):
                raise ProfileError(f"sure of {names[below]} by {names[level]}: thresholds and shares are 0 to 1")
        for (below, level), shares in self.by_width.items():
            if wrong := [share for share in shares if not 0.0 <= share <= 1.0]:
                raise ProfileError(f"by_width of {names[below]} by {names[level]} is {wrong[0]}; use 0 to 1")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(level.name for level in self.levels)

    @property
    def target(self) -> int:
        """Index of the target."""
        return len(self.levels) - 1

    @property
    def plain_ms(self) -> float:
        """ms per token of plain decoding: one forward of one row, and the engine's time."""
        return self.levels[-1].cost(1) + self.round_ms

    def index(self, name: str) -> int:
        """The index of the level with a name.

        Raises:
            ProfileError: there is none.
        """
        if name not in self.names:
            raise ProfileError(f"unknown level {name!r}; levels are {', '.join(self.names)}")
        return self.names.index(name)

    def verify_cost(self, below: int, level: int) -> Costs:
        """The cost of a verification by `level` of tokens of level `below`."""
        return self.edge_cost.get((below, level), self.levels[level].cost)

    def accepts(self, below: int, level: int, rule: str = TOKENWISE) -> float:
        """Probability that `level` accepts a token of level `below`; see `matrix`."""
        return self.matrix(rule)[below][level]

    def matrix(self, rule: str = TOKENWISE) -> Matrix:
        """The acceptances under a rule.

        Raises:
            ProfileError: the profile has no acceptances for the rule.
        """
        if rule in self.by_rule:
            return self.by_rule[rule]
        if rule != TOKENWISE:
            raise ProfileError(f"no acceptances for the rule {rule!r}; there are {', '.join(self.rules)}")
        return self.acceptance

    def widest(self, below: int, level: int) -> int:
        """The most candidates of `below` at one position whose acceptance is known; 0 if none is."""
        return len(self.by_width.get((below, level), ()))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules with acceptances, `tokenwise` first."""
        return (TOKENWISE, *(rule for rule in self.by_rule if rule != TOKENWISE))

    def with_acceptance(self, pairs: Mapping[Pair, float]) -> Profile:
        """The same profile with other acceptances of some pairs."""
        rows = [list(row) for row in self.acceptance]
        for (below, level), value in pairs.items():
            rows[below][level] = value
        return replace(self, acceptance=tuple(tuple(row) for row in rows))

    def only(self, levels: tuple[int, ...]) -> Profile:
        """The profile of some of its levels, in the given order; the last one is the target."""
        place = {level: at for at, level in enumerate(levels)}

        def cut(matrix: Any) -> Any:
            return tuple(tuple(matrix[i][j] for j in levels) for i in levels)

        def kept(pairs: Mapping[Pair, Any]) -> dict[Pair, Any]:
            return {(place[j], place[i]): v for (j, i), v in pairs.items() if j in place and i in place}

        return replace(
            self,
            levels=tuple(self.levels[i] for i in levels),
            acceptance=cut(self.acceptance),
            interval=None if self.interval is None else cut(self.interval),
            edge_cost=kept(self.edge_cost),
            by_width=kept(self.by_width),
            sure=kept(self.sure),
            by_rule={rule: cut(matrix) for rule, matrix in self.by_rule.items()},
        )

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; see `profile_json`."""
        from hsd_core.theory.profiles.profile_json import to_dict

        return to_dict(self)


def check_levels(levels: tuple[ProfileLevel, ...]) -> None:
    """Checks that there is at least a target, that names are unique, and that the top level can verify.

    Raises:
        ProfileError: one of these fails.
    """
    if not 1 <= len(levels) <= MOST_LEVELS:
        raise ProfileError(f"levels has {len(levels)} entries; give 1 to {MOST_LEVELS}, the target last")
    names = [level.name for level in levels]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ProfileError(f"level name {twice[0]!r} is given twice; names tell levels apart")
    if levels[-1].is_lookup:
        raise ProfileError(f"the target {names[-1]!r} is a lookup; the last level must have a distribution")
    if levels[-1].beside:
        raise ProfileError(f"the target {names[-1]!r} has beside; only a drafter offers sequences side by side")


def check_matrix(matrix: Matrix, names: tuple[str, ...], what: str) -> None:
    """Checks that a matrix is square, with probabilities above the diagonal.

    Raises:
        ProfileError: its shape or an entry is wrong.
    """
    size = len(names)
    if len(matrix) != size or any(len(row) != size for row in matrix):
        shape = f"{len(matrix)} x {len(matrix[0]) if matrix else 0}"
        raise ProfileError(f"{what} is {shape}; give {size} x {size}, a row and a column per level")
    for i in range(size):
        for j in range(i + 1, size):
            if not 0.0 <= matrix[i][j] <= 1.0:
                raise ProfileError(f"{what} of {names[i]} by {names[j]} is {matrix[i][j]}; use a number from 0 to 1")


def with_scaled_cost(profile: Profile, index: int, factor: float) -> Profile:
    """The profile with all passes of a level, drafting and verifying, scaled in time by a factor."""

    def times(level: ProfileLevel) -> ProfileLevel:
        draft = None if level.draft_ms is None else level.draft_ms * factor
        return replace(level, cost=level.cost.scaled(factor), draft_ms=draft)

    levels = tuple(times(level) if i == index else level for i, level in enumerate(profile.levels))
    edges = {pair: costs.scaled(factor) if pair[1] == index else costs for pair, costs in profile.edge_cost.items()}
    return replace(profile, levels=levels, edge_cost=edges)


def with_pair_accepted(profile: Profile, below: int, level: int, share: float) -> Profile:
    """The profile with another acceptance (0 to 1) of a pair under every rule; its acceptances by width and by how
    sure a token is are removed."""

    def moved(rows: Matrix) -> Matrix:
        return tuple(
            tuple(share if (i, j) == (below, level) else a for j, a in enumerate(row)) for i, row in enumerate(rows)
        )

    return replace(
        profile,
        acceptance=moved(profile.acceptance),
        by_rule={rule: moved(rows) for rule, rows in profile.by_rule.items()},
        by_width={pair: shares for pair, shares in profile.by_width.items() if pair != (below, level)},
        sure={pair: known for pair, known in profile.sure.items() if pair != (below, level)},
    )


ACCEPTANCES_FROM = "agreement"  # in `about`: the origin of acceptances that are taken from another profile


def with_acceptances_of(profile: Profile, other: Profile) -> Profile | None:
    """A profile with the acceptances, hit rates and lengths of another one's levels of the same names; None if the
    other lacks a level, was measured at another temperature, or has a level of another type."""
    if profile.temperature != other.temperature or not set(profile.names) <= set(other.names):
        return None
    part = other.only(tuple(other.index(name) for name in profile.names))
    if [level.drafts_only for level in part.levels] != [level.drafts_only for level in profile.levels]:
        return None
    about = {key: part.about[key] for key in ("machine", "recorded") if key in part.about}
    return replace(
        profile,
        levels=tuple(map(_with_rates_of, profile.levels, part.levels)),
        acceptance=part.acceptance,
        interval=part.interval,
        by_width=part.by_width,
        sure=part.sure,
        by_rule=part.by_rule,
        lengths=part.lengths,
        about={**profile.about, ACCEPTANCES_FROM: about},
    )


def _with_rates_of(level: ProfileLevel, other: ProfileLevel) -> ProfileLevel:
    return replace(level, hit_rate=other.hit_rate, reach=other.reach, beside=other.beside)
