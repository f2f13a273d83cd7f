"""A JSON Schema of the lines of a trace, generated from the classes of its events.

`python -m hsd_core.trace.schema` writes it to schema.json in this folder. Readers also check what it cannot express:
the first line is the header, levels are in its stack, parallel lists have one length.
"""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from hsd_core.core.events import Event
from hsd_core.core.notes import known
from hsd_core.typed import pretty

FILE = Path(__file__).with_suffix(".json")
_ABOUT = (
    "A file is JSON lines, packed with gzip if its name ends in .gz: the header, then the events in order, then the "
    "footer (missing if the run was interrupted) and what was measured after the run. "
    "This is the schema of each line; `event` is its kind."
)


def schema() -> dict[str, Any]:
    """JSON Schema of a line."""
    notes = known()
    (line, *refs), parts = msgspec.json.schema_components([Event, *notes.values()], ref_template="#/$defs/{name}")
    for kind in ("Draft", "Verify", "Report"):  # notes of unknown systems are any objects
        parts[kind]["properties"]["notes"] |= {
            "properties": dict(zip(notes, refs, strict=True)),
            "additionalProperties": {"type": "object"},
        }
    for part in parts.values():
        if "description" in part:
            part["description"] = cleandoc(part["description"])
    _settle(parts)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of a trace of HSD Explorer"}
    return {**head, "description": _ABOUT, **line, "$defs": parts}


def _settle(node: Any) -> None:
    """Put the `null` of `X | None` last, whatever the version of msgspec."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _settle(part)
    if isinstance(node, dict):
        node.get("anyOf", []).sort(key=lambda one: one.get("type") == "null")


if __name__ == "__main__":
    FILE.write_text(pretty(schema()) + "\n", encoding="utf-8")
