"""Layers whose attentions run at once on the same input (EasySpec, arXiv 2502.02493).

In a group x is the input of all its attentions; then x += a_1, MLP_1, x += a_2, MLP_2, ... So each attention misses
what the others of its group would have added, and keys and values behind the first group are *fuzzy*: close to those of
the layers in their order. The first and the last layer stand alone.
"""

from __future__ import annotations


def groups(lo: int, hi: int, layers: int, together: int) -> list[range]:
    """Layers lo to hi - 1 of so many, in groups of at most `together`; of one layer each where that is 1."""
    inner = range(max(lo, 1), min(hi, layers - 1))
    first, last = range(lo, min(hi, 1)), range(max(lo, layers - 1), hi)
    inside = [inner[i : i + together] for i in range(0, len(inner), together)]
    return [group for group in (first, *inside, last if layers > 1 else range(0)) if len(group)]
