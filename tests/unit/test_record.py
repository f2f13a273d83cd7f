"""`record`: of several runs the one of middle speed-up is kept, and runs that are not of one sitting are named."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from hsd_core.cli import main
from hsd_core.cli.record import uneven
from hsd_core.core import events as trace
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics

TRACES = Path(__file__).parents[2] / "assets" / "traces"
SHIPPED = sorted(TRACES.glob("*.jsonl.gz"))
STACK = "table:2@id=order1,table@id=order6"


@cache
def toy() -> list[trace.Event]:
    return list(Pipeline.open("toy").run(STACK, "The ", max_new_tokens=8, baseline=True))


def run(title: str, *, slower: float = 1.0, machine: str = "one") -> list[trace.Event]:
    """A toy run whose plain decoding took one millisecond a token, or so many times that."""
    header = replace(metrics.header_of(toy()), title=title, machine=machine)
    return [header, *(_timed(e, slower) if isinstance(e, trace.Baseline) else e for e in toy()[1:])]


def _timed(plain: trace.Baseline, slower: float) -> trace.Baseline:
    return replace(plain, token_ns=tuple(round(slower * 1e6 * n) for n in range(1, len(plain.token_ns) + 1)))


def test_plain_decoding_s_time_a_token_is_the_other_side_of_the_speed_up() -> None:
    events = run("A", slower=3.0)
    assert metrics.plain_ms(events) == pytest.approx(3.0)
    assert metrics.speed_up(events) == pytest.approx(metrics.measure(events)["tokens_per_s"] * 3.0 / 1000)


def test_a_run_of_another_hour_is_named_with_what_to_do() -> None:
    alike = [run("A"), run("B", slower=1.1), run("C", slower=0.95)]
    assert uneven(alike) == []
    (said,) = uneven([*alike, run("D", slower=2.4)])
    assert said.startswith("D: plain decoding") and "2.4 ms" in said and "record it again" in said


def test_runs_of_two_machines_need_not_be_alike() -> None:
    assert uneven([run("A"), run("B", slower=4.0, machine="another")]) == []


def test_a_target_with_a_store_is_another_target() -> None:
    header, *events = run("B", slower=4.0)
    *below, target = header.levels
    stored = replace(header, levels=(*below, replace(target, params={**target.params, "places": 9})))
    assert uneven([run("A"), [stored, *events]]) == [] != uneven([run("A"), run("C"), [header, *events]])


def test_the_shipped_recordings_of_a_day_are_of_one_sitting() -> None:
    by_day: dict[str, list[list[trace.Event]]] = {}
    for path in SHIPPED:
        events = tracefile.read(path)
        by_day.setdefault(metrics.header_of(events).recorded, []).append(events)
    assert [line for runs in by_day.values() for line in uneven(runs)] == []


def test_recordings_that_the_menu_groups_are_of_one_day() -> None:
    headers = {path.name.split(".")[0]: metrics.header_of(tracefile.read(path)) for path in SHIPPED}
    for group in json.loads((TRACES / "menu.json").read_text(encoding="utf-8"))["groups"]:
        known = [headers[name] for name in group["recordings"] if not headers[name].simulated]
        assert len({one.recorded for one in known}) <= 1, group["title"]


def test_of_several_runs_the_one_of_middle_speed_up_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run("A", slower=slower) for slower in (5.0, 1.0, 2.0)]
    monkeypatch.setattr("hsd_core.cli.record._real", lambda entry, pipeline: runs.pop(0))
    listed = tmp_path / "list.jsonl"
    entry = {"name": "a", "title": "A", "preset": "toy", "prompt": "The ", "stack": STACK}
    listed.write_text(json.dumps(entry), encoding="utf-8")
    assert main(["record", "--list", str(listed), "--out", str(tmp_path), "--repeats", "3"]) == 0
    assert metrics.plain_ms(tracefile.read(tmp_path / "a.jsonl.gz")) == pytest.approx(2.0) and runs == []
    assert main(["record", "--list", str(listed), "--out", str(tmp_path / "b"), "--repeats", "0"]) == 2
