"""Improving MCSD's step (arXiv 2409.10644): the first tokens of a comb are the target's own likeliest, by its last row.

Enumerated on tables. The target has that row before it drafts, so it may as well draw the token: judged exactly, a comb
over W candidates is the chain behind a drawn token (what the engine's rounds are), only with W times the rows and a
pass wasted where the drawn token is none of them. The paper gains by not judging them: the longest chain wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
from toys import table

Row = tuple[float, ...]
Text = tuple[int, ...]
Outcome = tuple[float, Text, Row]  # its probability, the tokens of a pass, what the next token follows
Step = Callable[[Text, Row], Iterator[Outcome]]
VOCAB, WIDE, DEPTH = 3, 2, 2
P, Q = table(VOCAB, 3), table(VOCAB, 8)


@cache
def p(text: Text) -> Row:
    return tuple(P(text).tolist())


@cache
def q(text: Text) -> Row:
    return tuple(Q(text).tolist())


def left(row: Row, taken: Row) -> Row:
    rest = np.maximum(np.array(row) - taken, 0.0)
    return tuple((rest / rest.sum()).tolist())


def chain(text: Text, depth: int = DEPTH) -> Iterator[Outcome]:
    """A chain of the draft behind a text, judged by min(1, p / q): the tokens kept, and the row behind them."""
    target = p(text)
    if not depth:
        yield 1.0, (), target
        return
    both = [min(a, b) for a, b in zip(target, q(text), strict=True)]
    for token, mass in enumerate(both):
        for more, kept, row in chain((*text, token), depth - 1) if mass else ():
            yield mass * more, (token, *kept), row
    if (rejected := 1.0 - sum(both)) > 1e-15:
        yield rejected, (), left(target, q(text))


def drawn_first(text: Text, row: Row) -> Iterator[Outcome]:
    """A round of the engine: the token that follows is drawn, and the draft goes on behind it."""
    for token, mass in enumerate(row):
        yield from ((mass * more, (token, *kept), then) for more, kept, then in chain((*text, token)) if mass)


def named(row: Row) -> list[int]:
    return [x for x in np.argsort(-np.array(row), kind="stable").tolist() if row[x] > 0.0][:WIDE]


def judged(text: Text, row: Row) -> Iterator[Outcome]:
    """The comb, its first tokens judged: that which the target draws goes on; none of them, and a pass is lost."""
    for token in (first := named(row)):
        yield from ((row[token] * more, (token, *kept), then) for more, kept, then in chain((*text, token)))
    if (missed := 1.0 - sum(row[token] for token in first)) > 1e-15:
        yield missed, (), left(row, tuple(float(x in first) for x in range(VOCAB)))


def longest(text: Text, row: Row) -> Iterator[Outcome]:
    """The paper's: every first token counts as right, and the chain that survives longest wins."""
    ways = ([(mass, (x, *kept), then) for mass, kept, then in chain((*text, x))] for x in named(row))
    for chains in product(*ways):
        _, kept, then = max(chains, key=lambda one: len(one[1]))  # the likelier of equally long ones
        yield float(np.prod([mass for mass, _, _ in chains])), kept, then


def law(step: Step, tokens: int = 3) -> tuple[Counter[Text], float]:
    """The distribution of the first tokens, and the mean number of passes until they are known."""
    found: Counter[Text] = Counter()
    passes, ways = 0.0, [(1.0, (), p(()))]
    while ways:
        mass, text, row = ways.pop()
        passes += mass
        for more, kept, then in step(text, row):
            if len(longer := (*text, *kept)) >= tokens:
                found[longer[:tokens]] += mass * more
            else:
                ways.append((mass * more, longer, then))
    return found, passes


def test_judged_exactly_the_targets_candidates_gain_nothing_and_the_longest_chain_is_not_the_targets_law() -> None:
    texts = list(product(range(VOCAB), repeat=3))
    own = {text: p(())[text[0]] * p(text[:1])[text[1]] * p(text[:2])[text[2]] for text in texts}

    def apart(step: Step) -> float:
        return sum(abs(law(step)[0][text] - own[text]) for text in texts) / 2

    assert apart(drawn_first) < 1e-12 and apart(judged) < 1e-12
    assert apart(longest) > 0.1
    assert law(longest)[1] < law(drawn_first)[1] < law(judged)[1]
