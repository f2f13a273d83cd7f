"""Values of a type as JSON and back, limits for untrusted data, and messages for refused data.

Numbers are bounded by `Int`, objects without types by `check_free`; readers bound the length and number of lines.

Types are inspected by one thread at a time: msgspec 0.22 caches a struct's type before it is complete, and a second
thread that uses it crashes the process. So all decoders and conversions of the project are made here
(`tests/unit/test_typed.py`).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import msgspec

TOO_LARGE = "the number is larger than 64 bits can hold"
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_GOT = {"array": "list"}


class Malformed(ValueError):
    """Bytes that are not JSON; `text`: whether they are at least text."""

    def __init__(self, reason: str, *, text: bool = True) -> None:
        super().__init__(reason)
        self.text = text


class Wrong(ValueError):
    """JSON of another type than expected: the reason, and the path to it, such as "levels[0].name"."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what, self.where = what, where


def _wrong(error: msgspec.ValidationError) -> Wrong:
    """An error of msgspec as a message for people."""
    text, _, where = str(error).partition(" - at `")
    where = where.rstrip("`").removeprefix("key` in `").removeprefix("$").removeprefix(".")
    if found := re.fullmatch(r"Expected `([^`]+)`(?:, got `(\w+)`)?", text):
        kinds = [_KINDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
        return Wrong(
            f"expected {' or '.join(kinds)}" + (f", got {_GOT.get(found[2], found[2])}" if found[2] else ""), where
        )
    if "out of range" in text or re.fullmatch(r"Expected `int` [<>]= -?\d{19}", text):
        return Wrong(TOO_LARGE, where)
    if found := re.fullmatch(r"Expected `(\w+)` of length (<=|>=) (\d+)", text):
        return Wrong(f"{'more' if found[2] == '<=' else 'fewer'} than {found[3]} entries", where)
    if found := re.fullmatch(r"Expected `(\w+)` (<=|>=|<|>) (\S+)", text):
        return Wrong(f"expected {_KINDS[found[1]]} {found[2]} {found[3]}", where)
    if found := re.fullmatch(r"Invalid enum value '?(.*?)'?", text, re.DOTALL):
        return Wrong(f"unknown value {found[1][:80]!r}", where)
    if found := re.fullmatch(r"Object (?:missing required|contains unknown) field `(.*)`", text, re.DOTALL):
        return Wrong(f"{'missing' if 'missing' in text[:15] else 'unknown'} field {found[1][:80]!r}", where)
    return Wrong(text.replace("`", ""), where)


def with_keys(error: msgspec.ValidationError, given: Callable[[], Any], kind: Any, strict: bool = True) -> Wrong:
    """As `_wrong`, with the keys of objects, which msgspec writes as [...]: the first key that has the error."""
    found, message = _wrong(error), str(error)
    before, *rest = found.where.split("[...]")
    if not rest:
        return found

    def fails(value: Any) -> bool:
        try:
            msgspec.convert(value, kind, strict=strict)
        except msgspec.ValidationError as other:
            return str(other) == message
        return False

    value, path, where = given(), _steps(before), before
    for part in rest:
        keys = list(_at(value, path))
        while len(keys) > 1:  # bisection: an untrusted object may be large
            half = keys[: len(keys) // 2]
            keys = half if fails(_only(value, path, half)) else keys[len(half) :]
        if not fails(_only(value, path, keys)):
            return found
        value = _only(value, path, keys)
        path += [keys[0], *_steps(part)]
        where += f"[{keys[0][:80]!r}]{part}"
    return Wrong(found.what, where)


def _steps(path: str) -> list[Any]:
    """The steps of a path such as "a.b[3].c"."""
    return [int(place) if place else name for place, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", path)]


def _at(value: Any, path: list[Any]) -> Any:
    return _at(value[path[0]], path[1:]) if path else value


def _only(value: Any, path: list[Any], keys: list[str]) -> Any:
    """A copy of the value with only these keys in the object at the path."""
    if not path:
        return {key: value[key] for key in keys}
    own = value.copy()
    own[path[0]] = _only(value[path[0]], path[1:], keys)
    return own


def malformed(data: bytes | str, error: Exception) -> Malformed:
    """Why it is not JSON, from the standard parser, whose messages have the column."""
    try:
        text = data if isinstance(data, str) else data.decode()
        json.dumps(json.loads(text, parse_constant=_refused), ensure_ascii=False).encode()
    except UnicodeDecodeError as reason:
        return Malformed(f"byte {reason.start} is 0x{reason.object[reason.start]:02X}, not UTF-8", text=False)
    except UnicodeEncodeError as reason:  # it could not be written as UTF-8
        return Malformed(f"the text holds half of a character ({reason.object[reason.start]!r}), which is not text")
    except json.JSONDecodeError as reason:
        return Malformed(f"not JSON ({reason.msg} at column {reason.colno})")
    except RecursionError:
        return Malformed("nested too deeply")
    except ValueError as reason:
        return Malformed(str(reason))
    return Malformed(f"not JSON ({error})")


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number in JSON")


MAX_INT = 2**63 - 1
MAX_ENTRIES = 4096  # of one free object (a level's parameters, a profile, ...), with all that is nested in it
MAX_DEPTH = 8  # of objects and lists in it
Int = Annotated[int, msgspec.Meta(ge=-MAX_INT, le=MAX_INT)]
T = TypeVar("T")


def _plain(value: Any) -> Any:
    """Subclasses such as torch's version and numpy's numbers as plain types."""
    kinds: tuple[Callable[[Any], Any], ...] = (float, int, str, dict)
    for kind in kinds:
        if isinstance(value, kind):  # type: ignore[arg-type]
            return kind(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_anything: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_reading = threading.RLock()  # held while msgspec inspects a type
_read: set[Any] = set()  # types that it has inspected completely


def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """A decoder for `decode`."""
    with _reading:
        return msgspec.json.Decoder(kind)


def message_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """As `json_decoder`, of messages between processes."""
    with _reading:
        return msgspec.msgpack.Decoder(kind)


def decode_message(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """A message between processes as a value of a type.

    Raises:
        msgspec.DecodeError: it does not fit.
    """
    return msgspec.msgpack.decode(data, type=_known(kind))


def _known(kind: type[T]) -> type[T]:
    """The same type, completely inspected by msgspec."""
    if kind not in _read:
        json_decoder(kind)
        _read.add(kind)
    return kind


def encode(value: Any) -> bytes:
    """Compact JSON of structs and plain types, as UTF-8. Infinities and NaN become null."""
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
    """Plain JSON types as a value of a type. strict: the text of a number is not a number.

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
        Malformed: it is not JSON.
    """
    return decode(data, _anything)


def check_free(value: Any, where: str, most: int = MAX_ENTRIES) -> None:
    """Check the limits of an object whose fields have no types: entries, depth and numbers.

    Raises:
        Wrong: it holds more than `most` entries, is nested deeper than `MAX_DEPTH`, or holds a number beyond 64 bits.
    """
    entries, layer, depth = 0, [value], 0
    while layer:
        depth += 1
        entries += sum(map(len, layer))
        if depth > MAX_DEPTH:
            raise Wrong(f"nested deeper than {MAX_DEPTH}", where)
        if entries > most:
            raise Wrong(f"more than {most} entries", where)
        items = [item for part in layer for item in (part.values() if isinstance(part, dict) else part)]
        if any(isinstance(item, int) and not -MAX_INT <= item <= MAX_INT for item in items):
            raise Wrong(TOO_LARGE, where)
        layer = [item for item in items if isinstance(item, dict | list | tuple)]
