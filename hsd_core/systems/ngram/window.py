"""Lookahead decoding's window and pool (Fu et al. 2024, arXiv 2402.02057): a model guesses its next tokens in parallel.

The window follows the end of the text. Its first row is a line of tokens, the *spine*; behind the text's last token and
behind each token of the spine is a *column* of n - 2 tokens. One pass of the model over all of it (as probes, which are
not judged) predicts a token behind the foot of every column; the likeliest is taken, also if the run samples:

    text .. x   s1   s2          one step: the predicted tokens are the new last row, every other row moves up,
            |    |    |          and the window moves one token on (Jacobi iteration, spread over the passes)
            a0   a1   a2
            b0   b1   b2         n = 4, three columns: x a0 b0 c0, s1 a1 b1 c1 and s2 a2 b2 c2 are n-grams now,
            c0   c1   c2         c the new row

It starts with a spine of tokens from the prompt and gets one more row in each of its first n - 2 passes. Its contents
depend only on the past, so its tokens are judged as any named tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import cycle

LEAST_N = 3  # the shortest n-gram that has a column


class Window:
    """
    Args:
        columns: at least one (the paper's W). n: the tokens of an n-gram (the paper's N), at least `LEAST_N`.
        prompt: tokens for the first spine, spread over it.
        ends: ids that end the text; they are never in the window, as nothing follows them.
    """

    def __init__(self, columns: int, n: int, prompt: Sequence[int], ends: Collection[int] = ()) -> None:
        assert columns >= 1 and n >= LEAST_N, f"a window of {columns} columns and n-grams of {n}"
        self.columns, self.n, self._ends = columns, n, ends
        usable = [token for token in prompt if token not in ends] or list(prompt)
        self._filler = cycle(usable)
        spine = columns + n - 3
        self.rows = [[usable[i * len(usable) // spine] for i in range(spine)]]

    def probes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The tokens of the spine, then those of each column; the index of each one's parent (-1: the text); the
        indices of the columns' feet, whose predictions `step` needs."""
        spine, *below = self.rows
        ids, parents = list(spine), list(range(-1, len(spine) - 1))
        for column in range(len(spine) + 1):
            parent = column - 1
            for row in below:
                parents.append(parent)
                parent = len(ids)
                ids.append(row[column])
        return tuple(ids), tuple(parents), tuple(self._feet())

    def _feet(self) -> range:
        """The indices of each column's last token; of the spine before there are columns."""
        spine, *below = self.rows
        columns, depth = len(spine) + 1, len(below)
        return range(len(spine) + depth - 1, len(spine) + depth * columns, depth) if depth else range(len(spine))

    @property
    def deepest(self) -> int:
        """The number of positions behind the text that it spans."""
        return len(self.rows[0]) + len(self.rows) - 1

    def step(self, last: int, probed: Sequence[int]) -> list[tuple[int, ...]]:
        """One step: the complete n-grams, column by column; none while the window fills.

        Args:
            last: the text's last token before the probes. probed: the prediction behind each probe.
        """
        spine, *below = self.rows
        depth = len(below)
        # In the first step the prediction behind the text's last token is the text's next one, which is not needed.
        predicted = [probed[foot] for foot in self._feet()]
        heads = [last, *spine]
        whole = []
        if depth == self.n - 2:
            whole = list(zip(heads, *below, predicted, strict=True))
            spine, *below = below
            self.rows = [spine[1:], *below]
        else:
            self.rows = [row[1:] for row in self.rows]
            predicted = predicted[1:] if depth else predicted
        self.rows.append([next(self._filler) if token in self._ends else token for token in predicted])
        return whole

    @staticmethod
    def most(columns: int, n: int) -> int:
        """The largest number of probes in a pass."""
        return max((columns + n - 3 - depth) * (depth + 1) + depth for depth in range(n - 1))


class NgramPool:
    """The newest n-grams by first token; the least recently used are dropped. kept: n-grams per first token."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self._behind: dict[int, dict[tuple[int, ...], None]] = {}  # oldest first

    def insert(self, ngram: Sequence[int]) -> None:
        """Add an n-gram; a known one becomes the newest."""
        first, *rest = ngram
        behind, tail = self._behind.setdefault(first, {}), tuple(rest)
        if tail in behind:
            del behind[tail]
        elif len(behind) >= self.kept:
            del behind[next(iter(behind))]
        behind[tail] = None

    def behind(self, token: int) -> Iterator[tuple[int, ...]]:
        """What followed a token, newest first."""
        return reversed(list(self._behind.get(token, ())))
