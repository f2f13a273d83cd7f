"""From one vocabulary's ids to another's, by the bytes that both stand for.

A special token is written as its name between two bytes that UTF-8 never contains, so no text is mistaken for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

_AROUND = b"\xff"


class Vocabulary(Protocol):
    """The part of a tokenizer that is used here.

    vocab_size: all ids are below it. eos_ids: those that end a text; `end` is the usual one. start: ids that it puts
    before every text. specials: token -> id.
    """

    vocab_size: int
    eos_ids: frozenset[int]

    @property
    def end(self) -> int | None: ...

    @property
    def start(self) -> list[int]: ...

    @property
    def specials(self) -> dict[str, int]: ...

    def piece(self, id_: int) -> bytes: ...
    def is_special(self, id_: int) -> bool: ...

    def within(self, text: str) -> list[int]:
        """Ids of plain text within other text."""
        ...


class Piece(NamedTuple):
    """An id, and the byte at which it ends."""

    id: int
    end: int


class Speller:
    """Tokenizes bytes with one vocabulary."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words

    @cached_property
    def _byte_ids(self) -> dict[bytes, int]:
        """The ids that stand for single bytes; text that is not UTF-8 is spelled with them."""
        pieces = ((self._words.piece(i), i) for i in range(self._words.vocab_size) if not self._words.is_special(i))
        return {piece: i for piece, i in pieces if len(piece) == 1}

    def spell(self, data: bytes) -> list[Piece]:
        """The ids of plain text. Bytes without an id count to the next id, or follow the last one."""
        found, at = list[Piece](), 0
        for part, text in _parts(data):
            pieces = self._bytes(part) if text is None else self._text(text)
            found += (Piece(id_, at + end) for id_, end in pieces)
            at += len(part)
        return found

    def _text(self, text: str) -> list[Piece]:
        ids, whole = self._words.within(text), text.encode()
        if b"".join(map(self._words.piece, ids)) == whole:
            return [*_ends(ids, self._words)]
        if len(text) == 1:
            # a character that the tokenizer normalises away, or has no token for
            return self._bytes(whole) or [Piece(id_, len(whole)) for id_ in ids]
        half = len(text) // 2
        left, right = self._text(text[:half]), self._text(text[half:])
        before = len(text[:half].encode())
        return [*left, *(Piece(id_, before + end) for id_, end in right)]

    def _bytes(self, part: bytes) -> list[Piece]:
        each = (self._byte_ids.get(part[at : at + 1]) for at in range(len(part)))
        return [Piece(id_, at + 1) for at, id_ in enumerate(each) if id_ is not None]


class Retokenizer:
    """Converts between a target's ids and a draft's.

    Attributes:
        stops: draft ids behind which nothing is drafted: those that end a text for the draft or for the target.
        shared: target id -> draft id of the same bytes; special tokens are matched by name.
    """

    def __init__(self, own: Vocabulary, target: Vocabulary) -> None:
        self._own, self._target = own, target
        self._spell_own, self._spell_target = Speller(own), Speller(target)
        self._own_special = {id_: own.specials[name] for name, id_ in target.specials.items() if name in own.specials}
        self._target_special = {mine: id_ for id_, mine in self._own_special.items()}
        if own.end is not None:
            self._own_special.update((id_, own.end) for id_ in target.eos_ids if id_ not in self._own_special)
        if target.end is not None:
            self._target_special.update((id_, target.end) for id_ in own.eos_ids if id_ not in self._target_special)
        self.stops = own.eos_ids | {self._own_special[id_] for id_ in target.eos_ids if id_ in self._own_special}

    @cached_property
    def shared(self) -> dict[int, int]:
        mine: dict[bytes, int] = {}
        for id_ in range(self._own.vocab_size):
            if not self._own.is_special(id_) and (piece := self._own.piece(id_)):
                mine.setdefault(piece, id_)
        found, known = dict[int, int](), set[bytes]()
        for id_ in range(self._target.vocab_size):
            piece = self._target.piece(id_)
            if not self._target.is_special(id_) and piece in mine and piece not in known:
                found[id_] = mine[piece]
                known.add(piece)
        return found | {theirs: own for own, theirs in self._target_special.items()}

    def bytes_of(self, id_: int) -> bytes:
        """The bytes of a target id."""
        piece = self._target.piece(id_)
        return _AROUND + piece + _AROUND if self._target.is_special(id_) and piece else piece

    def own_bytes(self, id_: int) -> bytes:
        """The bytes of a draft id; of a special token those of the target's."""
        special = self._target_special.get(id_)
        return self._own.piece(id_) if special is None else self.bytes_of(special)

    def start(self, ids: Sequence[int]) -> list[int]:
        """The ids that the draft puts before a text whose target ids are these."""
        start = self._own.start
        return [] if ids and start and self._own_special.get(ids[0]) == start[0] else start

    def own(self, ids: Sequence[int], ends: Sequence[int], text: bytes, start: int) -> Iterator[Piece]:
        """The draft's ids for a text from byte `start` on.

        Args:
            ids, ends: the target's ids of that part, of which the first may begin before `start`, and the byte at which
                each ends.
        """
        plain = start  # the first byte that is not tokenized yet
        at = start
        for id_, end in zip(ids, ends, strict=True):
            if self._target.is_special(id_) and end > at:
                yield from self._plain(text, plain, at)
                mine = self._own_special.get(id_)
                if mine is None:  # as its name
                    yield from (Piece(one.id, end) for one in self._spell_own.spell(self._target.piece(id_)))
                else:
                    yield Piece(mine, end)
                plain = end
            at = end
        yield from self._plain(text, plain, at)

    def _plain(self, text: bytes, lo: int, hi: int) -> Iterator[Piece]:
        yield from (Piece(id_, lo + end) for id_, end in self._spell_own.spell(text[lo:hi]))

    def drafted(self, ids: Sequence[int]) -> tuple[bytes, int | None, list[int]]:
        """The plain text of drafted ids up to the first special one, the target's id for that one (or None), and the
        number of bytes of each id."""
        text, lengths = bytearray(), list[int]()
        for id_ in ids:
            if id_ in self._target_special or self._own.is_special(id_):
                special = self._target_special.get(id_)
                if special is not None:
                    lengths.append(len(self._target.piece(special)))
                return bytes(text), special, lengths
            text += self._own.piece(id_)
            lengths.append(len(self._own.piece(id_)))
        return bytes(text), None, lengths

    def target(self, before: Sequence[int], text: bytes, room: int) -> list[int]:
        """At most `room` target ids for a text that follows `before`, as far as they stand for its bytes exactly.

        If `before` ends within a character, the bytes of that character are tokenized again with the text, and dropped
        if their ids come out the same.
        """
        cut, at, lead = self._cut(before), len(before), b""
        while len(lead) < cut:
            at -= 1
            lead = self._target.piece(before[at]) + lead
        again = [*before[at:]]
        if cut:
            whole = [piece.id for piece in self._faithful(lead + text)]
            if whole[: len(again)] == again:
                return whole[len(again) :][:room]
        return [piece.id for piece in self._faithful(text)][:room]

    def _cut(self, before: Sequence[int]) -> int:
        """How many bytes of an unfinished character stand at the end of these target ids."""
        tail, at = b"", len(before)
        while at and len(tail) < 4 and not self._target.is_special(before[at - 1]):
            at -= 1
            tail = self._target.piece(before[at]) + tail
        return len(tail) - finished(tail)

    def _faithful(self, text: bytes) -> Iterator[Piece]:
        at = 0
        for piece in self._spell_target.spell(text):
            if text[at : piece.end] != self._target.piece(piece.id):
                return
            yield piece
            at = piece.end


def finished(text: bytes) -> int:
    """The length of these bytes without a character that is cut off at their end."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte >= 0xC0:  # the first byte of two, three or four
            needs = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4 if byte < 0xF8 else 1
            return len(text) - back if back < needs else len(text)
        if byte < 0x80:
            break
    return len(text)


def _ends(ids: Sequence[int], words: Vocabulary) -> Iterator[Piece]:
    at = 0
    for id_ in ids:
        at += len(words.piece(id_))
        yield Piece(id_, at)


def _parts(data: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Bytes as parts: UTF-8 with its text, and other bytes with None."""
    while data:
        try:
            yield data, data.decode()
            return
        except UnicodeDecodeError as error:
            if error.start:
                yield data[: error.start], data[: error.start].decode()
            yield data[error.start : error.end], None
            data = data[error.end :]
