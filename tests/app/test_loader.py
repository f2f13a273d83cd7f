"""What is loaded is loaded for somebody: others' downloads hold nobody up, and end when nobody waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.serve.engine import stream
from app.serve.line.known_runs import Run
from app.serve.loader import Loader, LoadingLeft
from app.serve.settings import parse

SOON_S = 60.0


class Hub:
    """A pipeline whose presets are fetched: `slow` ones tell how far they are for ever, `stuck` ones nothing at all."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.over = threading.Event()
        self.go_on = threading.Event()
        self.told = threading.Semaphore(0)

    def catalogue(self) -> list[dict[str, Any]]:
        return []

    def open(self, preset: str, *, progress: Callable[[str, float, float], None], **_: Any) -> Hub:
        self.began.append(preset)
        try:
            while preset.startswith("slow") and not self.go_on.wait(0.01):
                progress("download", 1.0, 100.0)
                self.told.release()
            if preset.startswith("stuck"):
                self.go_on.wait()
        finally:
            self.ended.append(preset)
            self.over.set()
        self.progress = progress
        return self

    def run(self, stack: str, *_: Any, **__: Any) -> Iterator[Any]:
        if stack == "slow":
            while not self.go_on.wait(0.01):
                self.progress("download", 1.0, 100.0)
                self.told.release()
        return iter(())


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    yield made
    made.go_on.set()


def request(preset: str, stack: str = "target") -> Any:
    return parse({"run": "r" * 32, "prompt": "x", "stack": stack, "preset": preset})


def told(hub: Hub, times: int = 3) -> None:
    for _ in range(times):
        assert hub.told.acquire(timeout=SOON_S)


def test_downloads_that_are_stuck_or_slow_keep_no_other_preset_from_loading(hub: Hub) -> None:
    loader = Loader(hub)
    for preset in ("stuck a", "slow a", "stuck b", "slow b", "stuck c", "stuck d"):
        with loader.awaited(preset, None):
            pass
    with loader.awaited("small", None) as opening:
        assert opening.done.result(SOON_S) is hub


def test_a_download_ends_when_nobody_waits_for_it_and_begins_anew_with_who_comes_later(hub: Hub) -> None:
    loader = Loader(hub)
    with loader.awaited("slow", None) as first:
        told(hub)
        assert not first.left
    assert isinstance(first.done.exception(SOON_S), LoadingLeft)
    assert hub.ended == ["slow"]
    with loader.awaited("slow", None) as again:
        told(hub)
        hub.go_on.set()
        assert again.done.result(SOON_S) is hub
    assert hub.began == ["slow", "slow"]


def test_who_comes_while_another_leaves_finds_the_download_going_on(hub: Hub) -> None:
    loader = Loader(hub)
    with loader.awaited("slow", None) as first, loader.awaited("slow", "cpu") as second:
        assert first is second
    with loader.awaited("stuck", None) as first:
        pass
    with loader.awaited("stuck", None) as second:
        assert first is second, "it has heard of nobody who left"
        hub.go_on.set()
        assert second.done.result(SOON_S) is hub


def test_a_run_that_is_stopped_while_its_preset_is_fetched_leaves_the_download_to_its_end(hub: Hub) -> None:
    run = Run("stopped")
    for payload in stream(Loader(hub), request("slow"), run):
        if payload["status"]["mode"] == "loading":
            run.stopped.set()
    assert payload["status"]["mode"] == "idle" and payload["final"]
    assert hub.over.wait(SOON_S)
    assert hub.ended == ["slow"]


def test_a_level_that_is_fetched_for_a_run_that_left_holds_up_no_other_run_of_the_preset(hub: Hub) -> None:
    loader, left = Loader(hub), threading.Event()
    with loader.awaited("small", None) as opening:
        fetching = loader.starting(request("small", "slow"), opening, left.is_set)
        told(hub)
        left.set()
        after = loader.starting(request("small"), opening, lambda: False)
        assert list(after.result(SOON_S)) == []
        assert isinstance(fetching.exception(SOON_S), LoadingLeft)


def test_who_waits_for_the_levels_of_another_run_may_leave(hub: Hub) -> None:
    loader, left = Loader(hub), threading.Event()
    with loader.awaited("small", None) as opening, opening.alone:
        behind = loader.starting(request("small"), opening, left.is_set)
        left.set()
        assert isinstance(behind.exception(SOON_S), LoadingLeft)
