"""A stack without weights: character tables counted from one paragraph, for classes, tests and a first look.

Level `order-k` predicts the next character from the last k, by interpolated counts, so a larger k is a better
and (here) no larger model. The engine that decodes with them is the real one; the text is nobody's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.systems.table.table_level import TableLevel

END = 256
VOCAB_SIZE = 257
ORDERS = {"order1": 1, "order3": 3, "order6": 6}
_SMOOTHING = 0.15
_PARAGRAPH = (
    "The small level writes the draft, and the large level reads it in one pass. What the large level would have "
    "written stays; the first word it would not have written falls, and the large level puts its own word there. "
    "Then the small level writes again. A tower of levels does the same on every floor: the floor below proposes, "
    "the floor above decides, and only what the roof lets through becomes the text. Nothing that the roof would "
    "not have said is ever said, and yet the roof speaks less often than before. When the small level is often "
    "right, the tower is fast. When the small level is often wrong, the tower is slow, and it is better to let the "
    "roof speak alone. The tower never lies: the text is the text of the roof, and only the time is another. "
)


class ToyTokenizer:
    """One id a byte, and one that ends the text."""

    vocab_size = VOCAB_SIZE
    eos_ids = frozenset({END})

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def chat(self, *said: str) -> list[int]:
        """The toy has no roles: a prompt is its own text."""
        return self.encode("\n\n".join(said))

    def turn(self, start: str, system: str | None = None) -> tuple[list[int], list[int]]:
        """A turn ends with the text."""
        return self.encode((system or "") + start), [END]

    def piece(self, id_: int) -> bytes:
        return b"" if id_ == END else bytes([id_])

    def is_special(self, id_: int) -> bool:
        return id_ == END

    def decode(self, ids: list[int]) -> str:
        return b"".join(self.piece(i) for i in ids).decode(errors="replace")


def toy_level(order: str) -> TableLevel:
    """The table that looks back over `order` ("order1", "order3", "order6") characters."""
    from hsd_core.systems.table.table_level import TableLevel

    return TableLevel(_interpolated(ORDERS[order]), VOCAB_SIZE, name="table", label=f"character table, {order}")


def _interpolated(order: int):  # type: ignore[no-untyped-def]
    import torch

    text = _PARAGRAPH.encode() * 2
    counts: list[dict[bytes, Counter[int]]] = [defaultdict(Counter) for _ in range(order + 1)]
    for at, byte in enumerate(text):
        for k in range(min(order, at) + 1):
            counts[k][text[at - k : at]][byte] += 1

    def table(prefix: tuple[int, ...]) -> Tensor:
        row = torch.full((VOCAB_SIZE,), 1.0 / VOCAB_SIZE)
        recent = bytes(i for i in prefix[-order:] if i < 256)
        for k in range(min(order, len(recent)) + 1):
            seen = counts[k].get(recent[len(recent) - k :])
            if seen is None:
                break
            total = sum(seen.values())
            row = row * _SMOOTHING
            for byte, n in seen.items():
                row[byte] += (1 - _SMOOTHING) * n / total
        return row

    return table
