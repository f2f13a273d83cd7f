"""Recordings: listed by their first line, opened whole, refused with a reason."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest
from pagekit import plain_run

from app.recordings import MAX_FILE, MAX_UNPACKED, RecordingError, Recordings, opened, recorded
from app.runs import OPENED, Run, Runs
from hsd_core import tracefile


def sent(data: bytes) -> dict[str, str]:
    return {"name": "file", "base64": base64.b64encode(data).decode()}


def test_the_menu_has_title_stack_machine_and_date_in_name_order(recordings: Path) -> None:
    menu = Recordings(recordings).menu()
    assert [entry["name"] for entry in menu] == ["00-toy", "01-hostile"]
    assert menu[1]["recorded"] == "2026-01-02"
    assert menu[1]["machine"] == "<b>machine</b>"
    assert menu[1]["stack"] == "target"


def test_the_page_opens_with_the_first_recording_and_a_snapshot_after_each_commit(recordings: Path) -> None:
    first = Recordings(recordings).first()
    assert first is not None
    assert first["final"]
    assert first["from"] == 0
    names = [record["event"] for record in first["ev"]]
    assert names[0] == "header"
    assert names.count("snapshot") == names.count("commit") > 0
    assert all(names[i + 1] == "snapshot" for i, name in enumerate(names) if name == "commit")


def test_no_recordings_is_no_error(tmp_path: Path) -> None:
    assert Recordings(tmp_path).first() is None
    assert Recordings(tmp_path).menu() == []
    assert Recordings(tmp_path / "nowhere").menu() == []


@pytest.mark.parametrize("left", [0, 10, 200, -20])
def test_a_first_recording_that_broke_off_is_passed_over_and_the_menu_says_why(recordings: Path, left: int) -> None:
    whole = gzip.compress(tracefile.dumps(plain_run(["a", "b"])).encode())
    (recordings / "00-a.jsonl.gz").write_bytes(whole[:left])
    shown = Recordings(recordings)
    broken, *others = shown.menu()
    assert broken["name"] == "00-a" and broken["reason"]
    assert [entry["reason"] for entry in others] == ["", ""]
    first = shown.first()
    assert first is not None and first["run"] == "recorded-00-toy"
    with pytest.raises(RecordingError):
        shown.payload("00-a")


@pytest.mark.parametrize("name", ["nothing", "../00-toy", "/etc/passwd", ""])
def test_only_listed_names_are_opened(recordings: Path, name: str) -> None:
    with pytest.raises(RecordingError, match="no recording"):
        Recordings(recordings).events(name)


def test_a_sent_file_opens_packed_or_plain() -> None:
    events = plain_run(["a", "b"])
    text = tracefile.dumps(events).encode()
    assert opened(sent(text)) == opened(sent(gzip.compress(text))) == events


@pytest.mark.parametrize(
    "data", [b"", b"\x1f\x8bbroken", b"{}", b"null\n", b"[]", b'{"event":"header","schema":999}\n', b"\xff\xfe"]
)
def test_what_is_no_trace_is_refused_with_a_message(data: bytes) -> None:
    with pytest.raises(RecordingError) as refusal:
        recorded("run", opened(sent(data)))
    assert len(str(refusal.value)) > 10


def test_a_file_that_is_too_large_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(RecordingError, match="20 MB"):
        opened({"name": "big", "base64": "A" * (MAX_FILE * 4 // 3 + 8)})


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused() -> None:
    bomb = gzip.compress(tracefile.dumps(plain_run(["a"])).encode() + b"\n" * (MAX_UNPACKED + 1))
    assert len(bomb) < 100_000
    with pytest.raises(RecordingError, match="30 MB"):
        opened(sent(bomb))


def test_a_trace_that_contradicts_itself_is_refused_with_its_first_fault() -> None:
    events = plain_run(["a", "b"])
    with pytest.raises(RecordingError, match="contradicts itself: footer"):
        opened(sent(tracefile.dumps([events[0], *events[4:]]).encode()))


def test_only_the_last_opened_files_are_kept() -> None:
    runs = Runs()
    live = runs.announce(Run("live", stage="done"))
    for i in range(OPENED + 3):
        runs.announce(Run(f"file {i}", stage="done", opened=True))
    assert runs.get("live") is live
    assert [runs.get(f"file {i}") is not None for i in range(OPENED + 3)] == [False] * 3 + [True] * OPENED


@pytest.mark.parametrize("data", [None, {}, {"base64": 7}, {"base64": "%%%"}])
def test_a_request_without_a_file_is_refused(data: object) -> None:
    with pytest.raises(RecordingError):
        opened(data)
