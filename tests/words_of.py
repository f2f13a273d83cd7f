"""Small vocabularies with tables over them: two ways to write the same text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toys import table

from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.systems.cross.cross_level import CrossLevel
from hsd_core.systems.cross.declaration import MAP
from hsd_core.systems.table.table_level import TableLevel

LETTERS, PAIRED = (b"a", b"b"), (b"a", b"b", b"ab")


class Words:
    """Pieces by their place, and one end behind them if asked for; the longest piece that fits comes first."""

    def __init__(self, pieces: Sequence[bytes], *, end: bool = False) -> None:
        self.pieces = [*pieces, *([b"<end>"] if end else [])]
        self.vocab_size = len(self.pieces)
        self.end = len(pieces) if end else None
        self.eos_ids = frozenset([len(pieces)] if end else [])
        self.specials = {"<end>": len(pieces)} if end else {}
        self.start: list[int] = []

    def piece(self, id_: int) -> bytes:
        return self.pieces[id_]

    def is_special(self, id_: int) -> bool:
        return id_ == self.end

    def within(self, text: str) -> list[int]:
        data, found = text.encode(), list[int]()
        plain = [i for i in range(self.vocab_size) if not self.is_special(i)]
        while data:
            fits = [i for i in plain if data.startswith(self.pieces[i])]
            if not fits:
                return found
            best = max(fits, key=lambda i: len(self.pieces[i]))
            found.append(best)
            data = data[len(self.pieces[best]) :]
        return found


def crossed(text: str, own: Words, target: Words, seed: int = 0, **options: Any) -> list[StackEntry]:
    """Seats for `cross:3@map=text,table`: tables over the target's vocabulary above a table over the draft's own."""
    first, *above = parse(text)
    inner = TableLevel(table(own.vocab_size, 100 * seed, **options), own.vocab_size, name="cross")
    bottom = CrossLevel(inner, own, target, target.vocab_size, map_=first[MAP])
    entries = [StackEntry(bottom, first, first.block)]
    for i, spec in enumerate(above, 1):
        made = TableLevel(table(target.vocab_size, 100 * seed + i, **options), target.vocab_size, name=spec.name)
        entries.append(StackEntry(made, spec, spec.block))
    return entries
