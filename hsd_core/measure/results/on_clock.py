"""A stack whose levels work at the same time, with the clock of its times: "int8:6,target@with=pearl (reckoned)".

A stack without a clock ran one level after another. Results of earlier versions also have "real": two processes.
"""

from __future__ import annotations

from typing import NamedTuple

RECKONED = "reckoned"


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
