"""Bodies of bytes over a pipe, each behind its length."""

from __future__ import annotations

import struct
from typing import IO

_LENGTH = struct.Struct("!Q")
_PIPE = 2**16  # bytes that are read at once
LONGEST = 2**30  # bytes of a body: more is no length but something else


class NotAFrame(ValueError):
    """The other side wrote what is no frame, such as a library's words."""


def send(sink: IO[bytes] | None, body: bytes) -> None:
    """Write one body.

    Raises:
        BrokenPipeError: nobody reads any more.
    """
    assert sink is not None
    # Each call of the system lets go of Python's lock, for which the page waits: so there is one.
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[sink.write(rest) :]


class Frames:
    """What the other side sends, one body after another. One thread reads."""

    def __init__(self, source: IO[bytes] | None) -> None:
        assert source is not None
        self._source, self._got = source, bytearray()

    def next(self) -> bytes | None:
        """The next body; None where the other side has ended.

        Raises:
            NotAFrame: what comes is none.
        """
        got, head = self._got, _LENGTH.size
        while True:
            if len(got) >= head:
                length = _LENGTH.unpack_from(got)[0]
                if length > LONGEST:
                    raise NotAFrame(length)
                if len(got) >= head + length:
                    body = bytes(memoryview(got)[head : head + length])
                    del got[: head + length]
                    return body
            try:
                piece = self._source.read(_PIPE)
            except (OSError, ValueError):  # it was closed here
                return None
            if not piece:
                return None
            got += piece
