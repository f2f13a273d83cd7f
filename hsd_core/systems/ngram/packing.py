"""Keys of a few token ids packed into 64-bit integers, so that sorted arrays of them can be searched by bisection.

Packing is positional in base V + 1: numeric order is the lexicographic order of keys, and keys with a common prefix are
neighbours. Id V (one past the vocabulary) stands for "no token": the end of a text.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def widest(vocab_size: int) -> int:
    """The number of ids of a vocabulary that fit into a signed 64-bit integer (4 for 49,152 ids, 3 for 151,936)."""
    width, base = 0, vocab_size + 1
    while base ** (width + 1) <= 2**63:
        width += 1
    return width


def pack(ids: Iterable[int], base: int) -> int:
    """The key of some ids, first id most significant."""
    key = 0
    for token in ids:
        key = key * base + token
    return key


def pack_windows(tokens: Ints, width: int, base: int) -> Ints:
    """(n,) ids -> (n - width + 1,) keys of every window of `width` ids."""
    count = max(0, len(tokens) - width + 1)
    keys = np.zeros(count, np.int64)
    for offset in range(width):
        keys = keys * base + tokens[offset : offset + count]
    return keys
