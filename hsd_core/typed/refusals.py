"""Why data was refused, in our words: no JSON, or JSON of another shape, with the path to what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

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
    """Bytes that are not JSON; `text` is false where they are not text either."""

    def __init__(self, reason: str, *, text: bool = True) -> None:
        super().__init__(reason)
        self.text = text


class Wrong(ValueError):
    """JSON of another shape than expected: what is wrong, and the path to it, such as "levels[0].name"."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what, self.where = what, where


def _wrong(error: msgspec.ValidationError) -> Wrong:
    """What msgspec says of a wrong value, in our words."""
    said, _, where = str(error).partition(" - at `")
    where = where.rstrip("`").removeprefix("key` in `").removeprefix("$").removeprefix(".")
    if found := re.fullmatch(r"Expected `([^`]+)`(?:, got `(\w+)`)?", said):
        kinds = [_KINDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
        return Wrong(
            f"expected {' or '.join(kinds)}" + (f", got {_GOT.get(found[2], found[2])}" if found[2] else ""), where
        )
    if "out of range" in said or re.fullmatch(r"Expected `int` [<>]= -?\d{19}", said):
        return Wrong(TOO_LARGE, where)
    if found := re.fullmatch(r"Expected `(\w+)` of length (<=|>=) (\d+)", said):
        return Wrong(f"{'more' if found[2] == '<=' else 'fewer'} than {found[3]} entries", where)
    if found := re.fullmatch(r"Expected `(\w+)` (<=|>=|<|>) (\S+)", said):
        return Wrong(f"expected {_KINDS[found[1]]} {found[2]} {found[3]}", where)
    if found := re.fullmatch(r"Invalid enum value '?(.*?)'?", said, re.DOTALL):
        return Wrong(f"unknown value {found[1][:80]!r}", where)
    if found := re.fullmatch(r"Object (?:missing required|contains unknown) field `(.*)`", said, re.DOTALL):
        return Wrong(f"{'missing' if 'missing' in said[:15] else 'unknown'} field {found[1][:80]!r}", where)
    return Wrong(said.replace("`", ""), where)


def with_keys(error: msgspec.ValidationError, given: Callable[[], Any], kind: Any, strict: bool = True) -> Wrong:
    """As `_wrong`, with the keys of objects, which msgspec writes [...]: of each the first one that has the error."""
    found, said = _wrong(error), str(error)
    before, *behind = found.where.split("[...]")
    if not behind:
        return found

    def fails(value: Any) -> bool:
        try:
            msgspec.convert(value, kind, strict=strict)
        except msgspec.ValidationError as other:
            return str(other) == said
        return False

    value, path, where = given(), _steps(before), before
    for part in behind:
        keys = list(_at(value, path))
        while len(keys) > 1:  # by halves: a stranger's object may be large
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
    """The value with these keys alone in the object at the path; what it was made from stays as it is."""
    if not path:
        return {key: value[key] for key in keys}
    own = value.copy()
    own[path[0]] = _only(value[path[0]], path[1:], keys)
    return own


def malformed(data: bytes | str, error: Exception) -> Malformed:
    """Why it is not JSON: the plain parser says it in a person's terms, with the place."""
    try:
        text = data if isinstance(data, str) else data.decode()
        json.dumps(json.loads(text, parse_constant=_refused), ensure_ascii=False).encode()
    except UnicodeDecodeError as reason:
        return Malformed(f"byte {reason.start} is 0x{reason.object[reason.start]:02X}, not UTF-8", text=False)
    except UnicodeEncodeError as reason:  # it could not be written or sent on
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
