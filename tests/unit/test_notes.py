"""Notes: what a system says of an event, without a field in the core."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from hsd_core.core import notes
from hsd_core.core.notes import Dropped, Note, Stale, known, noted, read_notes
from hsd_core.levels.notes import Copied, Copies, Lookups, Moved
from hsd_core.systems.store.notes import Asked
from hsd_core.typed import Wrong, encode, plain


class Event(NamedTuple):
    notes: dict[str, Any]


def test_every_system_s_notes_are_known_by_name() -> None:
    assert {"lookups", "copies", "asked", "stale", "moved"} <= set(known())
    assert all(issubclass(kind, Note) and kind.note == name for name, kind in known().items())


def test_a_note_is_written_under_its_name_and_read_as_what_it_was() -> None:
    given = noted(Lookups((2, 3), silent=1), None, Copies((Copied(-4, 2, 1.0), None)), Stale())
    written = plain(encode(given))
    assert list(written) == ["lookups", "copies", "stale"] and written["stale"] == {}
    assert read_notes(written, tokens=2) == given
    assert Lookups.of(Event(given)) == Lookups((2, 3), 1) and Asked.of(Event(given)) is None


def test_a_note_of_a_system_that_is_missing_is_kept_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = {"horoscope": {"sign": "crab", "odds": [1, 2.5, None]}, "dropped": {"serials": [4]}}
    found = read_notes(raw)
    assert found["dropped"] == Dropped((4,)) and plain(encode(found)) == raw
    monkeypatch.setattr(notes, "known", lambda: {})
    assert plain(encode(read_notes(raw))) == raw and Dropped.of(Event(read_notes(raw))) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lookups": {"keys": [1]}}, r"notes\.lookups\.keys: not one entry for each of 2 tokens"),
        ({"lookups": {"keys": ["a", 1]}}, r"notes\.lookups\.keys\[0\]: expected a whole number, got str"),
        ({"asked": {"rows": 1}}, r"notes\.asked: missing field 'ns'"),
        ({"stale": True}, r"notes\.stale: expected an object"),
        ({"new": {"a": [[[[[[[[[1]]]]]]]]]}}, r"notes\.new: nested deeper"),
    ],
)
def test_notes_of_a_stranger_s_file_are_as_strict_as_its_fields(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Wrong, match=said):
        read_notes(wrong, tokens=2)


def test_figures_are_what_a_note_adds_to_those_of_a_run() -> None:
    assert Moved(8, 2_000_000).figures() == {"moved_bytes": 8, "moved_ms": 2.0} and Stale().figures() == {}


def test_notes_are_read_without_torch() -> None:
    code = "import sys; from hsd_core.core.notes import known; known(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
