"""The map of where overlapping pays: what a drafted token costs against how often it is accepted.

Of one drafter and constant costs (`lock_step.best_blocks`), so it is the same for every machine; a profile's drafters
are points on it.
"""

from __future__ import annotations

from functools import lru_cache

from hsd_core.theory.overlap.lock_step import best_blocks

SHARES = tuple(round(0.02 * n, 2) for n in range(1, 51))  # of a pass of the target, that a drafted token costs
AGREEMENTS = tuple(round(0.3 + 0.025 * n, 3) for n in range(28))  # shares of the tokens that the target accepts
SAME = 0.005  # closer than half a percent, two are called equal
_FINER = tuple(round(0.005 * n, 3) for n in range(1, 201))


@lru_cache(maxsize=1)
def gains() -> tuple[tuple[float, ...], ...]:
    """How many times as fast as the better of plain decoding and one level after another: a row for each of
    `AGREEMENTS`, in it one for each of `SHARES`."""
    return tuple(tuple(round(best_blocks(share, a).gain, 4) for share in SHARES) for a in AGREEMENTS)


def pays_between(a: float) -> tuple[float, float] | None:
    """The least and the largest share at which overlapping pays at an agreement, to half a percent; None: at none."""
    paying = [share for share in _FINER if best_blocks(share, a).gain > 1.0 + SAME]
    return (paying[0], paying[-1]) if paying else None
