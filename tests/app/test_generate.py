"""Live runs: deltas that add up to the trace, Stop, errors, and an engine that is closed with its consumer."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from pagekit import plain_run

from app.serve.engine import stream
from app.serve.line.known_runs import KEEP, NameTaken, Run, Runs
from app.serve.loader import Loader
from app.serve.settings import parse
from app.tabs.explore.recordings import Recordings
from app.tabs.explore.view import Play
from hsd_core.core.events import Event, Footer
from hsd_core.pipeline import Pipeline

NAME = "b" * 32


class Bench:
    """A pipeline that replays given events and notes whether it was closed."""

    closed = False

    def __init__(self, events: list[Event], error: Exception | None = None) -> None:
        self._events, self._error = events, error

    def catalogue(self) -> list[dict[str, Any]]:
        return []

    def open(self, preset: str, **options: Any) -> Bench:
        if self._error:
            raise self._error
        return self

    def run(self, *args: Any, **options: Any) -> Iterator[Event]:
        self.stopped = options["stop"]
        try:
            yield from self._events
        finally:
            self.closed = True


def request(**changes: Any) -> Any:
    return parse({"run": NAME, "prompt": "The tower", "stack": "target", "preset": "toy", **changes})


def test_the_payloads_in_order_are_the_whole_trace_and_each_record_is_sent_once() -> None:
    run = Run(NAME)
    held: list[Any] = []
    for payload in stream(Loader(Bench(plain_run(list("abcdefgh")))), request(), run):
        assert payload["from"] in (0, len(held)) and not (held and payload["from"] == 0)
        held += payload["ev"]
    assert payload["final"] and json.loads(json.dumps(held)) == run.records and held[-1]["event"] == "footer"


def test_closing_the_stream_closes_the_engine() -> None:
    pipeline = Bench(plain_run(list("abcdefgh")))
    run = Run(NAME)
    payloads = stream(Loader(pipeline), request(), run)
    next(p for p in payloads if p["ev"])
    payloads.close()
    assert pipeline.closed
    assert pipeline.stopped(), "the engine is told before it is closed"
    assert run.stage == "done"


def test_stop_ends_the_real_engine_early() -> None:
    run = Run(NAME)
    toy = next(p for p in Pipeline.catalogue() if p["name"] == "toy")
    asked = request(stack=toy["default_stack"], max_new_tokens=512)
    for payload in stream(Loader(Pipeline), asked, run):
        if payload["ev"]:
            run.stopped.set()
    footer = next(e for e in run.events if isinstance(e, Footer))
    assert footer.reason == "stopped"
    assert footer.committed < 512


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("the cure is tea"), "the cure is tea"),
        (RuntimeError("CUDA out of memory"), "not enough memory"),
        (OSError(28, "No space left", "/srv/x"), "the server's disk is full"),
        (KeyError("x"), "failed at this (KeyError)"),
    ],
)
def test_an_error_is_the_last_payload_and_says_what_happened(error: Exception, said: str) -> None:
    run = Run(NAME)
    *_, last = stream(Loader(Bench([], error)), request(), run)
    assert last["final"]
    assert last["status"]["mode"] == "error"
    assert said in last["status"]["text"]
    assert run.stage == "done"


def test_a_bad_stack_is_refused_with_the_engine_s_own_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        *_, last = stream(Loader(Pipeline), request(stack="nonsense:9"), Run(NAME))
    assert [(r.levelname, r.exc_info) for r in caplog.records] == [("INFO", None)], "no traceback for what was typed"
    assert last["status"]["mode"] == "error"
    assert "nonsense" in last["status"]["text"]


def test_a_page_that_lost_its_stream_gets_the_rest(recordings: Any) -> None:
    play = Play(Pipeline, Recordings(recordings))
    run = play.runs.announce(Run(NAME))
    whole = {
        "ev": [x for payload in stream(Loader(Bench(plain_run(list("abc")))), request(), run) for x in payload["ev"]]
    }
    last = json.loads(json.dumps(whole))  # what the page has got
    tail = play.tail({"run": NAME, "from": 5})
    assert (tail["from"], tail["final"]) == (5, True)
    assert tail["ev"] == last["ev"][5:]
    assert play.tail({"run": NAME, "from": 0})["ev"] == last["ev"]
    for odd in ({"run": "unknown"}, None, {"run": NAME, "from": "x"}, {"run": NAME, "from": -3}):
        assert play.tail(odd)["ev"] in ([], last["ev"])


def test_a_finished_run_is_kept_compressed_with_all_its_events() -> None:
    run, events = Run(NAME), plain_run(list("abc" * 40))
    for _ in stream(Loader(Bench(events)), request(), run):
        pass
    assert run.events == events
    assert not run.live
    assert len(run.packed) < len(json.dumps(run.records)) / 8


def test_old_runs_are_forgotten_and_a_name_is_given_once() -> None:
    runs = Runs()
    first = runs.announce(Run("first"))
    with pytest.raises(NameTaken):
        runs.announce(Run("first"))
    first.done()
    for i in range(3 * KEEP):
        runs.announce(Run(f"run {i}")).done()
    assert runs.get("first") is None
    assert runs.get(f"run {3 * KEEP - 1}") is not None


def test_of_large_runs_fewer_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.line.known_runs.KEEP_BYTES", 2500)
    runs = Runs()
    for i in range(5):
        runs.announce(Run(f"run {i}", stage="done", packed=b"x" * 1000))
    assert [runs.get(f"run {i}") is not None for i in range(5)] == [False] * 3 + [True] * 2


def test_a_run_that_is_stopped_before_the_server_knows_it_does_not_begin() -> None:
    runs = Runs()
    runs.stop(NAME)
    assert runs.announce(Run(NAME)).over()


def test_a_run_that_a_restarted_server_does_not_know_ends_under_its_own_name(recordings: Any) -> None:
    play = Play(Pipeline, Recordings(recordings))
    tail = play.tail({"run": NAME, "from": 0})
    assert (tail["run"], tail["final"], tail["status"]["mode"]) == (NAME, True, "error")


def test_a_run_that_was_stopped_while_it_waited_never_opens_the_engine() -> None:
    run = Run(NAME)
    run.stopped.set()
    (only,) = stream(Loader(Bench([], RuntimeError("opened"))), request(), run)
    assert only["final"]
    assert only["status"]["mode"] == "idle"
