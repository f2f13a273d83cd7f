"""Dynamic time warping of a draft's tokens with the target's tokens for the same text (TokenTiming, arXiv 2510.15545).

The paper carries the draft's probabilities over along this alignment and judges by min(1, p/q) with them. That is exact
only where the two spellings are one: the chance that the text spelled again has the token t is the sum over all drafts
that are spelled so, not the chance of the tokens that were drafted. Draft letters a and b, target tokens a, b and ab:
the target's token a needs an a that no b follows, but the carried chance is that of a alone. A token offered by name
needs no chance, and is exact over any draft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod

from torch import Tensor

Joins = Callable[[Sequence[float]], float]  # the chances of the aligned draft tokens -> the target token's


def overlapping(own: Sequence[bytes], target: Sequence[bytes]) -> list[list[int]]:
    """For each of the target's tokens the draft's tokens that share a byte with it: the alignment itself, as both spell
    one text."""
    starts, ends = [0, *accumulate(map(len, own))], [*accumulate(map(len, target))]
    return [
        [i for i in range(len(own)) if starts[i] < end and starts[i + 1] > end - len(piece)]
        for piece, end in zip(target, ends, strict=True)
    ]


def warped(own: Sequence[bytes], target: Sequence[bytes]) -> list[list[int]]:
    """For each of the target's tokens the draft's tokens that the cheapest warping path sets beside it, at least one.

    The path goes from the first pair to the last, a step on in one line or in both; a pair costs the edit distance of
    its pieces without blanks, as a share of the longer. Of equal paths the one with steps in both.
    """
    rows, columns = len(own), len(target)
    if not rows or not columns:
        return [[] for _ in target]
    pieces, others = [piece.strip() for piece in own], [piece.strip() for piece in target]
    best: dict[tuple[int, int], tuple[float, int, int]] = {(-1, -1): (0.0, -1, -1)}
    for i in range(rows):
        for j in range(columns):
            cost = edits(pieces[i], others[j]) / max(1, len(pieces[i]), len(others[j]))
            came = min(
                (
                    (best[at][0], order, at)
                    for order, at in enumerate(((i - 1, j - 1), (i - 1, j), (i, j - 1)))
                    if at in best
                )
            )
            best[i, j] = (came[0] + cost, *came[2])
    beside: list[list[int]] = [[] for _ in target]
    i, j = rows - 1, columns - 1
    while i >= 0:
        beside[j].insert(0, i)
        _, i, j = best[i, j]
    return beside


def edits(one: bytes, other: bytes) -> int:
    """The edit distance of two pieces (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def carried(
    beside: Sequence[Sequence[int]], chances: Sequence[float], moved: Tensor, ids: Sequence[int], *, joins: Joins = prod
) -> Tensor:
    """(n, V) rows for the target's tokens `ids`, as if they had been drawn with what the draft's tokens carry over.

    Args:
        beside: `warped`. chances: of the draft's tokens. moved: (m, V) the draft's rows over the target's vocabulary,
            as far as both share tokens. joins: one chance of several.
    """
    rows = moved[[at[0] for at in beside]].clone()
    for row, at, id_ in zip(rows, beside, ids, strict=True):
        chance = joins([chances[i] for i in at])
        row[id_] = 0.0
        rest = float(row.sum())
        row *= (1.0 - chance) / rest if rest else 0.0
        row[id_] = chance if rest else 1.0
    return rows
