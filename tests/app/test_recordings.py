"""Recordings: listed by their first line, opened whole, refused with a reason."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pagekit import plain_run
from sharedkit import shared_run

from app.kit.figures.depth_map import knowledge
from app.serve.line.known_runs import OPENED, Run, Runs
from app.tabs.explore import reader
from app.tabs.explore.reader import KEPT, MAX_KEPT, Reader, _kept, opened
from app.tabs.explore.recordings import MAX_FILE, MAX_UNPACKED, RecordingError, Recordings, recorded
from hsd_core.trace import file as tracefile
from hsd_core.trace.metrics import measure


def sent(data: bytes, run: str = "a" * 32) -> dict[str, str]:
    return {"run": run, "name": "file", "base64": base64.b64encode(data).decode()}


def shown(data: bytes) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(gzip.decompress(Reader().open(sent(data))))
    return payload


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


def test_after_each_call_stand_the_level_s_figures_and_the_last_of_them_are_the_run_s(recordings: Path) -> None:
    first = Recordings(recordings).first()
    assert first is not None
    records, events = first["ev"], Recordings(recordings).events("00-toy")
    calls = [i for i, record in enumerate(records) if record["event"] in ("draft", "verify")]
    gauges = [records[i + 1] for i in calls]
    assert all(gauge["event"] == "gauge" for gauge in gauges)
    assert [(g["level"], g["t"]) for g in gauges] == [(records[i]["level"], records[i]["t1"]) for i in calls]
    for figures in measure(events)["levels"]:
        last = [gauge for gauge in gauges if gauge["level"] == figures["level"]][-1]
        assert {**figures, "waste": None} == {name: last.get(name) for name in figures}


def test_no_recordings_is_no_error(tmp_path: Path) -> None:
    assert Recordings(tmp_path).first() is None
    assert Recordings(tmp_path).menu() == []
    assert Recordings(tmp_path / "nowhere").menu() == []


@pytest.mark.parametrize("left", [0, 10, 200, -20])
def test_a_first_recording_that_broke_off_is_passed_over_and_the_menu_says_why(
    recordings: Path, tmp_path: Path, left: int
) -> None:
    whole = gzip.compress(tracefile.dumps(plain_run(["a", "b"])).encode())
    folder = shutil.copytree(recordings, tmp_path / "traces")  # the other tests' recordings stay as they are
    (folder / "00-a.jsonl.gz").write_bytes(whole[:left])
    shown = Recordings(folder)
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


def test_a_sent_file_opens_packed_or_plain_and_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    events = plain_run(["a", "b"])
    text = tracefile.dumps(events).encode()
    assert opened(text) == opened(gzip.compress(text)) == events
    expected = {**recorded("a" * 32, events), "status": {**recorded("", events)["status"], "title": "file"}}
    monkeypatch.setattr(tracefile, "read", lambda *_, **__: pytest.fail("read in the server's process"))
    assert shown(gzip.compress(text)) == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    "data", [b"", b"\x1f\x8bbroken", b"{}", b"null\n", b"[]", b'{"event":"header","schema":999}\n', b"\xff\xfe"]
)
def test_what_is_no_trace_is_refused_with_a_message(data: bytes) -> None:
    with pytest.raises(RecordingError) as refusal:
        opened(data)
    assert len(str(refusal.value)) > 10


def test_a_file_that_is_too_large_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(RecordingError, match="8 MB"):
        Reader().open({"name": "big", "base64": "A" * (MAX_FILE * 4 // 3 + 8)})


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused() -> None:
    bomb = gzip.compress(tracefile.dumps(plain_run(["a"])).encode() + b"\n" * (MAX_UNPACKED + 1))
    assert len(bomb) < 100_000
    with pytest.raises(RecordingError, match="40 MB"):
        opened(bomb)


def test_a_trace_that_contradicts_itself_is_refused_with_its_first_fault() -> None:
    events = plain_run(["a", "b"])
    with pytest.raises(RecordingError, match="contradicts itself: footer"):
        opened(tracefile.dumps([events[0], *events[4:]]).encode())


def test_only_the_last_simulated_runs_are_kept() -> None:
    runs = Runs()
    live = runs.announce(Run("live", stage="done"))
    for i in range(OPENED + 3):
        runs.announce(Run(f"file {i}", stage="done", opened=True))
    assert runs.get("live") is live
    assert [runs.get(f"file {i}") is not None for i in range(OPENED + 3)] == [False] * 3 + [True] * OPENED


def test_a_small_file_with_a_huge_object_is_refused_by_the_length_of_its_line() -> None:
    text = tracefile.dumps(plain_run(["a"])).replace('"profile":null', f'"profile":{{"x":[{"0," * 10_000_000}0]}}')
    bomb = gzip.compress(text.encode())
    assert len(bomb) < 60_000
    with pytest.raises(RecordingError, match="line 1: longer than 8 MB"):
        shown(bomb)


def test_a_file_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PATIENCE_S", 1e-5)
    with pytest.raises(RecordingError, match="could not be read within 30 s"):
        shown(tracefile.dumps(plain_run(["word"] * 5000)).encode())  # which takes far longer than a clock to be heard


def test_who_comes_when_many_wait_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_elsewhere", lambda _, question: reader.answer(question))  # no process for it
    busy = Reader()
    with ExitStack() as held:
        for _ in range(reader.WAITING + 1):
            held.enter_context(busy._turns._place(""))
        with pytest.raises(RecordingError, match="others are opening files"):
            busy.open(sent(b""))
    assert busy.open(sent(tracefile.dumps(plain_run(["a"])).encode()))


def test_only_what_the_figures_need_of_the_last_opened_files_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_elsewhere", lambda _, question: reader.answer(question))  # no process for each
    opener, events = Reader(), shared_run()
    data = tracefile.dumps(plain_run(["a", "b"])).encode()
    for i in range(KEPT + 2):
        opener.open(sent(data, f"file-{i}-{'a' * 8}"))
    assert [bool(opener.events(f"file-{i}-{'a' * 8}")) for i in range(KEPT + 2)] == [False] * 2 + [True] * KEPT
    seen = knowledge(events)
    assert seen is not None and knowledge(tracefile.read(_kept(events))) == seen
    long = plain_run(["word"] * 20_000)
    assert len(gzip.decompress(_kept(long))) <= MAX_KEPT < len(tracefile.dumps(long))


@pytest.mark.parametrize("data", [None, {}, {"base64": 7}, {"base64": "%%%"}])
def test_a_request_without_a_file_is_refused(data: object) -> None:
    with pytest.raises(RecordingError):
        Reader().open(data)
