"""The types by which the scripts are checked are those of the trace."""

from __future__ import annotations

from events_dts import FILE, declarations
from msgspec import Struct

from hsd_core.core.events import EVENTS
from hsd_core.core.notes import known


def test_the_types_of_the_events_are_those_of_the_trace() -> None:
    assert FILE.read_text(encoding="utf-8") == declarations(EVENTS, dict(known())), "run python tests/js/events_dts.py"


class Part(Struct):
    share: float | None


class Event(Struct):
    round: int
    parts: tuple[Part | None, ...]
    about: dict[str, str]


def test_a_field_is_written_with_its_type_and_a_record_once() -> None:
    text = declarations({"some": Event}, {})
    assert 'export interface Event {\n  event: "some";\n  round: number;\n  parts: (Part | null)[];\n' in text
    assert "  about: Record<string, string>;\n" in text
    assert text.count("export interface Part {\n  share: number | null;\n}\n") == 1
