"""Values of a type as JSON and back, and what a stranger's file may hold of them.

A number is bounded by `Int`, a free object by `check_free`; lines and their number by whoever reads them.

Types are read one at a time: msgspec 0.22 keeps what it reads of a struct before it has read all of it, and a second
thread that meets the half of it ends the process. So nothing else of ours makes decoders or converts
(`tests/unit/test_typed.py` holds that).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import msgspec

from hsd_core.typed.refusals import TOO_LARGE, Malformed, Wrong, malformed, with_keys

MAX_INT = 2**63 - 1
MAX_ENTRIES = 4096  # of one free object (a level's parameters, a profile, ...), with all that is nested in it
MAX_DEPTH = 8  # of objects and lists in it
Int = Annotated[int, msgspec.Meta(ge=-MAX_INT, le=MAX_INT)]
T = TypeVar("T")


def _plain(value: Any) -> Any:
    """What torch's version, numpy's numbers and the like are, as plain types."""
    kinds: tuple[Callable[[Any], Any], ...] = (float, int, str, dict)
    for kind in kinds:
        if isinstance(value, kind):  # type: ignore[arg-type]
            return kind(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_anything: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_reading = threading.RLock()  # held while msgspec reads a type
_read: set[Any] = set()  # types that it has read whole


def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """What `decode` wants."""
    with _reading:
        return msgspec.json.Decoder(kind)


def message_decoder(kind: type[T], dec_hook: Callable[[type, Any], Any] | None = None) -> msgspec.msgpack.Decoder[T]:
    """As `json_decoder`, of messages between processes."""
    with _reading:
        return msgspec.msgpack.Decoder(kind, dec_hook=dec_hook)


def decode_message(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """A message between processes as a value of a type.

    Raises:
        msgspec.DecodeError: it is another.
    """
    return msgspec.msgpack.decode(data, type=_known(kind))


def _known(kind: type[T]) -> type[T]:
    """The same type, which msgspec has read whole."""
    if kind not in _read:
        json_decoder(kind)
        _read.add(kind)
    return kind


def encode(value: Any) -> bytes:
    """Compact JSON of structs and plain types, as UTF-8. What is not a finite number becomes null."""
    return _encoder.encode(value)


def pretty(value: Any, indent: int = 1) -> str:
    """JSON for people to read, one entry a line."""
    return msgspec.json.format(encode(value), indent=indent).decode()


def builtins(value: Any) -> Any:
    """Structs as plain Python types."""
    return msgspec.to_builtins(value, enc_hook=_plain)


def encode_lines(values: Iterable[Any]) -> bytes:
    """JSON lines, one a value."""
    return b"".join(part for value in values for part in (_encoder.encode(value), b"\n"))


def decode(data: bytes | str, decoder: msgspec.json.Decoder[T]) -> T:
    """A value of the decoder's type.

    Raises:
        Malformed: the data is not JSON. Wrong: it is of another type.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise with_keys(error, lambda: _anything.decode(data), decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise malformed(data, error) from None
    except RecursionError:
        raise Malformed("nested too deeply") from None


def convert(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """Plain JSON types as a value of a type. strict: a text is not a number, even where it spells one.

    Raises:
        Wrong: it is of another type.
    """
    try:
        return msgspec.convert(value, _known(kind), strict=strict)
    except msgspec.ValidationError as error:
        raise with_keys(error, lambda: value, kind, strict) from None


def plain(data: bytes | str) -> Any:
    """JSON as plain Python types.

    Raises:
        Malformed: it is none.
    """
    return decode(data, _anything)


def check_free(value: Any, where: str) -> None:
    """Bounds of an object whose fields have no types: entries, depth and numbers.

    Raises:
        Wrong: it holds more than `MAX_ENTRIES`, is nested deeper than `MAX_DEPTH`, or holds a number beyond 64 bits.
    """
    entries, layer, depth = 0, [value], 0
    while layer:
        depth += 1
        entries += sum(map(len, layer))
        if depth > MAX_DEPTH:
            raise Wrong(f"nested deeper than {MAX_DEPTH}", where)
        if entries > MAX_ENTRIES:
            raise Wrong(f"more than {MAX_ENTRIES} entries", where)
        items = [item for part in layer for item in (part.values() if isinstance(part, dict) else part)]
        if any(isinstance(item, int) and not -MAX_INT <= item <= MAX_INT for item in items):
            raise Wrong(TOO_LARGE, where)
        layer = [item for item in items if isinstance(item, dict | list | tuple)]
