"""Whether something fits the memory that is free, said with both figures where it does not."""

from __future__ import annotations


class TooLarge(ValueError):
    """A run or a model that the memory cannot hold; the message says how much it needs and what helps."""


def refuse(needed: int, free: int | None, what: str, cure: str) -> None:
    """
    Raises:
        TooLarge: `what` needs more bytes than are free; None: nobody knows how many are.
    """
    if free is not None and needed > free:
        raise TooLarge(f"{what} takes {size(needed)} of memory and {size(free)} are free; {cure}")


def size(n: int) -> str:
    """Bytes in words, "1.2 GB" or "35 MB"."""
    return f"{n / 1e9:.1f} GB" if n >= 1e9 else f"{n / 1e6:.0f} MB"
