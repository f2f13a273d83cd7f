"""What is in flight: drafted tokens that are not judged yet.

They wait behind the text, each with the row that it was drawn from; a token is dropped only together with all behind
it, after a rejection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor

from hsd_core.core.tree import Token, Tree
from hsd_core.models.sampling import one_hot


class UndecidedTokens:
    """A queue of tokens with their rows: (V,) on the drafter's device, None for a named or greedily drawn token."""

    def __init__(self) -> None:
        self._line: deque[tuple[Token, Tensor | None]] = deque()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def ids(self) -> list[int]:
        return [token.id for token, _ in self._line]

    @property
    def oldest(self) -> int | None:
        """The number of the first token, if there is one."""
        return self._line[0][0].serial if self._line else None

    @property
    def last(self) -> int | None:
        """The number of the last token, if there is one."""
        return self._line[-1][0].serial if self._line else None

    def ends(self, ends: frozenset[int]) -> bool:
        """Whether the last token is an end of the text."""
        return bool(self._line) and self._line[-1][0].id in ends

    def append(self, chain: Tree) -> None:
        """Queue a chain."""
        assert chain.is_chain, "a tree cannot wait behind undecided tokens"
        for offer in chain.offers:
            drawn = chain.rows is not None and offer.row is not None
            self._line.append((chain.tokens[offer.node], chain.rows[offer.row] if drawn else None))  # type: ignore[index]

    def first(self, count: int) -> Tree:
        """The first `count` tokens as a chain; a named token gets the one-hot row by which it is judged."""
        found = list(islice(self._line, count))
        tokens = [token for token, _ in found]
        like = next((row for _, row in found if row is not None), None)
        if like is None:
            return Tree(tokens)
        sure = one_hot(torch.tensor([token.id for token in tokens], device=like.device), like[None])
        return Tree(tokens, torch.stack([sure[t] if row is None else row for t, (_, row) in enumerate(found)]))

    def numbers(self, behind: int) -> Iterator[int]:
        """The numbers of the tokens behind the first `behind` ones."""
        return (token.serial for token, _ in islice(self._line, behind, None))

    def judged(self, count: int) -> None:
        """Remove the first `count`: they were kept."""
        for _ in range(count):
            self._line.popleft()

    def clear(self) -> None:
        """Drop all: a token before them was rejected."""
        self._line.clear()
