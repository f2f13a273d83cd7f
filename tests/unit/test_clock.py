from __future__ import annotations

import pytest

from hsd_core.core.clock import EngineClock


class Fake:
    """A monotonic clock that a test moves by hand."""

    def __init__(self) -> None:
        self.ns = 1_000_000

    def __call__(self) -> int:
        return self.ns


def test_a_clock_starts_at_0_and_counts_ns() -> None:
    fake = Fake()
    clock = EngineClock(fake)
    assert clock.now() == 0
    fake.ns += 7
    assert clock.now() == 7


def test_a_stopped_clock_stands_still_and_goes_on_without_a_jump() -> None:
    fake = Fake()
    clock = EngineClock(fake)
    fake.ns += 5
    with clock.stopped():
        fake.ns += 1000
        assert clock.now() == 5
    assert clock.now() == 5
    fake.ns += 3
    assert clock.now() == 8


def test_nested_stops_count_once() -> None:
    fake = Fake()
    clock = EngineClock(fake)
    with clock.stopped():
        fake.ns += 10
        with clock.stopped():
            fake.ns += 100
        fake.ns += 1000
        assert clock.now() == 0
    assert clock.now() == 0


def test_a_stop_ends_with_its_block_also_by_an_error() -> None:
    fake = Fake()
    clock = EngineClock(fake)

    def fail() -> None:
        with clock.stopped():
            fake.ns += 10
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    fake.ns += 2
    assert clock.now() == 2
