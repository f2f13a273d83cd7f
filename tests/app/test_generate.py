"""Live runs: deltas that add up to the trace, Stop, errors, and an engine that is closed with its consumer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pagekit import plain_run, toy_run

from app.figures import draw
from app.generate import Loader, stream
from app.play import Play
from app.recordings import Recordings
from app.runs import KEEP, Run, Runs
from app.settings import parse
from app.study import study
from hsd_core.trace import Event, Footer
from hsd_core.workbench import Workbench

NAME = "b" * 32


class Bench:
    """A workbench that replays given events and notes whether it was closed."""

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


def test_the_deltas_in_order_are_the_whole_trace_and_the_last_payload_is_too() -> None:
    payloads = list(stream(Loader(Bench(plain_run(list("abcdefgh")))), request(), Run(NAME)))
    *deltas, last = [p for p in payloads if p["ev"]]
    held: list[Any] = []
    for delta in deltas:
        assert delta["from"] == len(held)
        assert not delta["final"]
        held += delta["ev"]
    assert last["final"]
    assert last["from"] == 0
    assert last["ev"][: len(held)] == held
    assert last["ev"][-1]["event"] == "footer"


def test_closing_the_stream_closes_the_engine() -> None:
    bench = Bench(plain_run(list("abcdefgh")))
    run = Run(NAME)
    payloads = stream(Loader(bench), request(), run)
    next(p for p in payloads if p["ev"])
    payloads.close()
    assert bench.closed
    assert bench.stopped(), "the engine is told before it is closed"
    assert run.stage == "done"


def test_stop_ends_the_real_engine_early() -> None:
    run = Run(NAME)
    toy = next(p for p in Workbench.catalogue() if p["name"] == "toy")
    asked = request(stack=toy["default_stack"], max_new_tokens=512)
    for payload in stream(Loader(Workbench), asked, run):
        if payload["ev"]:
            run.stopped.set()
    footer = next(e for e in run.events if isinstance(e, Footer))
    assert footer.reason == "stopped"
    assert footer.committed < 512


@pytest.mark.parametrize("error", [ValueError("the cure is tea"), RuntimeError("no memory"), OSError("disk full")])
def test_an_error_is_the_last_payload_and_says_what_happened(error: Exception) -> None:
    run = Run(NAME)
    *_, last = stream(Loader(Bench([], error)), request(), run)
    assert last["final"]
    assert last["status"]["mode"] == "error"
    assert str(error) in last["status"]["text"]
    assert run.stage == "done"


def test_a_bad_stack_is_refused_with_the_engine_s_own_words() -> None:
    *_, last = stream(Loader(Workbench), request(stack="nonsense:9"), Run(NAME))
    assert last["status"]["mode"] == "error"
    assert "nonsense" in last["status"]["text"]


def test_a_page_that_lost_its_stream_gets_the_rest(recordings: Any) -> None:
    play = Play(Workbench, Recordings(recordings))
    run = play.runs.announce(NAME)
    *_, last = stream(Loader(Bench(plain_run(list("abc")))), request(), run)
    tail = play.tail({"run": NAME, "from": 5})
    assert tail["from"] == 5
    assert tail["ev"] == last["ev"][5:]
    assert play.tail({"run": NAME, "from": 0}) == last
    for odd in ({"run": "unknown"}, None, {"run": NAME, "from": "x"}, {"run": NAME, "from": -3}):
        assert play.tail(odd)["ev"] in ([], last["ev"])


def test_the_queue_counts_who_came_before_and_forgets_old_runs() -> None:
    runs = Runs()
    for name in ("first", "second", "third"):
        runs.announce(name)
    assert [runs.ahead(name) for name in ("first", "second", "third")] == [0, 1, 2]
    runs.announce("first").stage = "done"
    assert runs.ahead("third") == 1
    for i in range(3 * KEEP):
        runs.announce(f"run {i}").stage = "done"
    assert runs.get("first") is None


def test_a_waiting_run_says_so_and_one_that_the_server_lost_ends_with_an_error(
    recordings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Play(Workbench, Recordings(recordings))
    play.runs.announce("a" * 32).stage = "running"
    assert play.place({"run": NAME, "first": True}) == 1
    waiting = play.tail({"run": NAME, "from": 0})
    assert waiting["run"] == NAME
    assert not waiting["final"]
    assert waiting["status"]["mode"] == "waiting"
    assert "1 run is before yours" in waiting["status"]["text"]
    play.runs.announce("a" * 32).stage = "done"
    assert "next" in play.tail({"run": NAME})["status"]["text"]
    monkeypatch.setattr("app.runs.LOST_S", -1.0)  # it is first and was not begun: the queue never had it
    assert play.tail({"run": NAME})["status"]["mode"] == "error"
    assert play.tail({"run": NAME})["final"]


def test_a_run_that_a_restarted_server_does_not_know_ends_under_its_own_name(recordings: Any) -> None:
    play = Play(Workbench, Recordings(recordings))
    assert play.place({"run": NAME}) == 0
    assert play.runs.get(NAME) is None, "only the first call makes a run known"
    tail = play.tail({"run": NAME, "from": 0})
    assert (tail["run"], tail["final"], tail["status"]["mode"]) == (NAME, True, "error")


def test_waiting_runs_of_closed_pages_and_stopped_ones_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    for name in ("closed", "stopped", "mine"):
        runs.announce(name)
    assert runs.ahead("mine") == 2
    runs.stop("stopped")
    assert runs.ahead("mine") == 1
    runs.announce("closed").polled -= 16
    assert runs.ahead("mine") == 0


def test_a_run_that_was_stopped_while_it_waited_never_opens_the_engine() -> None:
    run = Run(NAME)
    run.stopped.set()
    (only,) = stream(Loader(Bench([], RuntimeError("opened"))), request(), run)
    assert only["final"]
    assert only["status"]["mode"] == "idle"


def test_the_study_of_a_run_adds_up() -> None:
    events = toy_run(Workbench)
    seen = study(events)
    footer = next(e for e in events if isinstance(e, Footer))
    assert seen.curve[-1][1] == footer.committed
    spent = sum(s.drafting + s.verifying + s.lost for s in seen.spent) + seen.elsewhere
    assert spent == pytest.approx(footer.decode_ns / 1e6, rel=1e-6)
    assert all(0 <= p.accepted <= p.judged for p in seen.positions)
    assert len(seen.plain) > 0


@pytest.mark.parametrize("dark", [False, True])
def test_figures_are_drawn_for_every_trace_even_an_interrupted_one(dark: bool) -> None:
    whole = toy_run(Workbench)
    for events in (whole, whole[: len(whole) // 2], plain_run(["<b>x</b>"], label="<b>"), []):
        assert len(draw(events, dark=dark)) == 12
