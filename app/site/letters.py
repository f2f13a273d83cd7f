"""Bytes as printable letters that may stand in a JavaScript string: 13 bits in two of them, where base64 has 12."""

from __future__ import annotations

import numpy as np

# Without the quote and the backslash, which would end or change a string, and without what opens an HTML element.
LETTERS = bytes(code for code in range(33, 127) if chr(code) not in '"\\<')
BITS = 13


def written(data: bytes) -> bytes:
    """The letters of some bytes, as `assets/js/site/loader.js` reads them; the last bits are filled up with zeros."""
    flat = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
    filled = np.concatenate((flat, np.zeros(-len(flat) % BITS, dtype=np.uint8)))
    numbers = filled.reshape(-1, BITS) @ (1 << np.arange(BITS - 1, -1, -1))
    pairs = np.stack(np.divmod(numbers, len(LETTERS)), axis=1)
    return bytes(np.frombuffer(LETTERS, dtype=np.uint8)[pairs])
