"""What was measured of a stack whose levels work at the same time, by the clock that it was measured on:
"int8:6,target@with=pearl (real)". A stack of which no clock is said ran one level after another."""

from __future__ import annotations

from typing import NamedTuple


class OnClock(NamedTuple):
    """A stack, and the clock that a table names beside it; "" for none."""

    stack: str
    clock: str = ""

    def __str__(self) -> str:
        return f"{self.stack} ({self.clock})" if self.clock else self.stack

    @classmethod
    def read(cls, text: str) -> OnClock:
        """The inverse of `str`."""
        stack, _, clock = text.partition(" (")
        return cls(stack, clock.removesuffix(")"))
