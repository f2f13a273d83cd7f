"""The figures of runs: each is drawn once, one at a time, and never for nobody."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from pagekit import launched, plain_run

from app.kit.figures import drawings
from app.kit.figures.drawings import Drawings
from app.serve.door import checked
from hsd_core.pipeline import Pipeline


def test_a_run_is_drawn_once_for_each_theme_and_length(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(drawings, "draw", lambda events, dark: drawn.append((len(events), dark)) or [len(drawn)])
    some, events = Drawings(), plain_run(["a", "b"])
    for _ in range(2):
        assert [some.of("run", lambda: events, size=n, dark=d) for n, d in ((3, True), (3, False), (4, True))] == [
            [1],
            [2],
            [3],
        ]
    for n in range(drawings.KEPT):
        some.of(f"run {n}", lambda: events, size=3, dark=True)
    assert some.of("run", lambda: events, size=3, dark=True) == [len(drawn)], "the oldest made room"


class Drawn:
    """Stands in for what draws: counts how many do at a time, and waits until it may go on."""

    def __init__(self) -> None:
        self.now = self.peak = self.all = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, events: Any, **look: bool) -> list[Any]:
        self.now += 1
        self.all += 1
        self.peak = max(self.peak, self.now)
        self.begun.set()
        assert self.go_on.wait(30)
        self.now -= 1
        return [None] * 3


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    found = Drawn()
    monkeypatch.setattr(drawings, "draw", found)
    return found


def asks_for_figures(client: httpx.Client, run: str, **headers: str) -> httpx.Response:
    return figures_of(client, client.get("/config").json(), run, headers=headers)


def figures_of(client: httpx.Client, config: Any, run: str, **options: Any) -> httpx.Response:
    index = next(x["id"] for x in config["dependencies"] if x["api_name"] == "figures")
    body = {"data": [], "event_data": {"asked": {"run": run}}, "fn_index": index, "session_hash": run}
    return client.post("/gradio_api/run/predict", json=body, **options)


def test_figures_are_drawn_one_at_a_time_and_all_else_is_answered_meanwhile(
    recordings: Path, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "OWN", 5)
    monkeypatch.setattr(checked, "PATIENCE_S", 600.0)
    with (
        launched(Pipeline, traces=recordings, trusted=["127.0.0.1"]) as url,
        ThreadPoolExecutor(16) as pool,
        httpx.Client(base_url=url, timeout=60, limits=httpx.Limits(max_connections=32)) as client,
    ):
        asked = [pool.submit(asks_for_figures, client, "run-0")]
        assert drawn.begun.wait(30)
        asked += [pool.submit(asks_for_figures, client, f"run-{n}") for n in range(1, 12)]
        too_many = [one.result() for one in islice(as_completed(asked), 6)]  # one is drawn, five wait
        for one in too_many:
            shown = one.json()["data"]
            note = json.loads(shown[0])
            assert (
                len(shown) == 3
                and "5 others at your address are already waiting" in note["text"]
                and note["run"].startswith("run-")
            )
        elsewhere = pool.submit(asks_for_figures, client, "run-99", **{"x-forwarded-for": "192.0.2.7"})
        assert client.get("/hx/recordings/00-toy").status_code == 200
        assert client.get("/config").status_code == 200
        assert not elsewhere.done() and drawn.all == 1
        drawn.go_on.set()
        assert [one.result().status_code for one in asked].count(200) == 12 and elsewhere.result().status_code == 200
    assert drawn.peak == 1 and drawn.all == 7


def test_figures_that_nobody_waits_for_any_more_are_not_drawn(shipped: str, drawn: Drawn) -> None:
    with ThreadPoolExecutor(2) as pool, httpx.Client(base_url=shipped, timeout=60) as client:
        first = pool.submit(asks_for_figures, client, "run-0")
        assert drawn.begun.wait(30)
        with httpx.Client(base_url=shipped) as gone:
            config = gone.get("/config", timeout=60).json()
            with pytest.raises(httpx.ReadTimeout):
                figures_of(gone, config, "run-1", timeout=0.5)
        last = pool.submit(asks_for_figures, client, "run-2")
        drawn.go_on.set()
        assert first.result().status_code == last.result().status_code == 200
    assert drawn.all == 2
