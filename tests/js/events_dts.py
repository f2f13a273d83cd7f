"""Writes assets/js/shared/run/events.d.ts, a trace's events as types for the scripts: python tests/js/events_dts.py"""

from __future__ import annotations

import json
import sys
import types
import typing
from pathlib import Path
from typing import Any, ClassVar

from msgspec import UnsetType
from msgspec.structs import fields

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "assets" / "js" / "shared" / "run" / "events.d.ts"
_PLAIN = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null", Any: "any"}


def declarations(events: dict[str, type], notes: dict[str, type]) -> str:
    """The interfaces of these events, of the records in them and of notes, as `codec.to_dict` writes them."""
    written: dict[str, str] = {}
    for name, cls in events.items():
        _declare(cls, written, event=name)
    kinds = [f"  {name}?: {_declare(cls, written)};" for name, cls in notes.items()]
    written["Notes"] = "\n".join(["/** What systems say of an event. */", "export interface Notes {", *kinds, "}\n"])
    union = "".join(f"  | {cls.__name__}\n" for cls in events.values()).rstrip()
    head = "// Written by tests/js/events_dts.py from the classes in hsd_core/core/events; run it when they change.\n"
    return "\n".join([head, *written.values(), f"export type TraceEvent =\n{union};\n"])


def _declare(cls: type, written: dict[str, str], event: str = "") -> str:
    if cls.__name__ not in written:
        written[cls.__name__] = ""  # keeps its place before what it holds
        hints = typing.get_type_hints(cls).items()
        lines = [f'  event: "{event}";'] if event else []
        config = cls.__struct_config__
        left_out = {f.name for f in fields(cls) if config.omit_defaults and not f.required}
        lines += [
            _line(key, hint, written, key in left_out) for key, hint in hints if typing.get_origin(hint) is not ClassVar
        ]
        whole = "\n".join([f"export interface {cls.__name__} {{", *lines, "}\n"])
        written[cls.__name__] = whole if lines else f"export type {cls.__name__} = Record<string, never>;\n"
    return cls.__name__


def _line(key: str, hint: Any, written: dict[str, str], left_out: bool) -> str:
    """A field; one that may be left out has a question mark."""
    if key == "notes":
        return "  notes?: Notes;"
    if left_out:
        kinds = [part for part in typing.get_args(hint) if part is not type(None)]
        optional = typing.get_origin(hint) in (types.UnionType, typing.Union)
        return f"  {key}?: {' | '.join(_type(one, written) for one in kinds) if optional else _type(hint, written)};"
    given = [part for part in typing.get_args(hint) if part is not UnsetType]
    if len(given) == len(typing.get_args(hint)):
        return f"  {key}: {_type(hint, written)};"
    return f"  {key}?: {_type(given[0], written)};"


def _type(hint: Any, written: dict[str, str]) -> str:
    parts = typing.get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(json.dumps, parts))
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return " | ".join(_type(part, written) for part in parts)
    if typing.get_origin(hint) is tuple:
        inner = _type(parts[0], written)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if typing.get_origin(hint) is dict:
        return f"Record<string, {_type(parts[1], written)}>"
    return _declare(hint, written)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from hsd_core.core.events import EVENTS
    from hsd_core.core.notes import known

    FILE.write_text(declarations(EVENTS, dict(known())), encoding="utf-8")
