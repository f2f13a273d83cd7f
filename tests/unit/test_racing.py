"""A race: lanes in turn that write what they would write alone, each on its own clock, and the file that keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace as changed

from hsd_core.core.events import Bonus, Commit, Event, Header, Verify
from hsd_core.measure import race
from hsd_core.measure.race.racing import raced
from hsd_core.models import machine
from hsd_core.models.machine import TooLarge
from hsd_core.pipeline import Pipeline
from hsd_core.trace.comparison import compare
from hsd_core.trace.file import TraceError
from hsd_core.trace.metrics import committed_ids

TOWER, TABLE = "table:3@id=order1,table:5@id=order3,table@id=order6", "table@id=order6"
SHIPPED = Path(__file__).parents[2] / "assets" / "races"
Opened = Callable[[str, int], Generator[Event, None, None]]


@pytest.fixture(scope="module")
def toy() -> Pipeline:
    return Pipeline.open("toy")


def opener(toy: Pipeline, **options: object) -> Opened:
    return lambda stack, tokens: toy.run(stack, "The tower", max_new_tokens=tokens, **options)  # type: ignore[arg-type]


def heats(opened: Opened, *stacks: str, tokens: int = 30, repeats: int = 2) -> list[race.Heat]:
    return [one for one in race.race(opened, stacks, tokens=tokens, repeats=repeats) if isinstance(one, race.Heat)]


@pytest.fixture(scope="module")
def ran(toy: Pipeline) -> race.Raced:
    stacks = (TABLE, TOWER)
    return raced(heats(opener(toy), *stacks), stacks, device="cpu", dtype="float32", prompt="The tower", title="Toys")


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_each_lane_writes_what_it_writes_alone(toy: Pipeline, temperature: float) -> None:
    opened = opener(toy, temperature=temperature, seed=3)
    (heat,) = heats(opened, TOWER, TABLE, TOWER, repeats=1)
    for lane, stack in zip(heat.lanes, (TOWER, TABLE, TOWER), strict=True):
        assert committed_ids(lane) == committed_ids(opened(stack, 30))


def test_a_lane_pays_for_no_round_of_another_one(toy: Pipeline) -> None:
    slept = 0.0

    def opened(stack: str, tokens: int) -> Generator[Event, None, None]:
        def slowly() -> Iterator[Event]:
            nonlocal slept
            for event in toy.run(stack, "The tower", max_new_tokens=tokens):
                if stack == TOWER:
                    time.sleep(0.02)
                    slept += 0.02
                yield event

        yield from slowly()

    (heat,) = heats(opened, TABLE, TOWER, repeats=1, tokens=12)
    decoded = [race.took(lane).decode_ns / 1e9 for lane in heat.lanes]
    assert slept > 1.0 and max(decoded) < slept / 2


def test_who_begins_rotates_from_turn_to_turn_and_from_repeat_to_repeat(toy: Pipeline) -> None:
    turns = list(race.race(opener(toy), (TABLE, TOWER, TABLE), tokens=8, repeats=2))
    order = [one.lane for one in turns if isinstance(one, race.Turn) and one.repeat == 1]
    assert order[:9] == [1, 2, 0, 2, 0, 1, 0, 1, 2]
    assert [one.lane for one in turns if isinstance(one, race.Turn) and one.repeat == 2][:3] == [2, 0, 1]
    commits = [
        sum(isinstance(e, Commit) for e in lane) for one in turns if isinstance(one, race.Heat) for lane in one.lanes
    ]
    assert len(commits) == 6 and commits[0] == commits[2] == 8  # the warming up is not a repeat


def test_the_speed_up_is_paired_by_repeat_and_has_an_interval(ran: race.Raced) -> None:
    took = tuple(
        (race.LaneTime(100, 2 * 10**9, 5), race.LaneTime(100, nanoseconds, 5))
        for nanoseconds in (10**9, 5 * 10**8, 8 * 10**8)
    )
    lanes = race.rows(race.Raced(changed(ran.race, repeats=took, shown=0), ran.lanes))
    first, second = lanes
    assert (first["speed_up"], first["interval"], first["same"]) == (1.0, None, None)
    assert second["speed_up"] == pytest.approx(6.0 / 2.3)
    low, high = second["interval"]
    assert 2.0 <= low < second["speed_up"] < high <= 4.0
    alone = race.rows(race.Raced(changed(ran.race, repeats=took[:1], shown=0), ran.lanes))
    assert alone[1]["interval"] is None


def test_the_place_is_that_of_all_repeats_as_speed_and_speed_up_are(ran: race.Raced) -> None:
    took = tuple(
        (race.LaneTime(100, first, 5), race.LaneTime(100, second, 5))
        for first, second in ((4 * 10**9, 3 * 10**9), (10**9, 5 * 10**9))
    )
    found = race.rows(race.Raced(changed(ran.race, repeats=took, shown=0), ran.lanes))
    assert [row["place"] for row in found] == [1, 2], "the second lane won the repeat that is shown, and no more"
    assert [row["tokens_per_s"] for row in found] == [pytest.approx(40.0), pytest.approx(25.0)]
    assert [row["speed_up"] for row in found] == [1.0, pytest.approx(0.625)]
    body = [line.split(" | ")[:2] for line in race.table(found).splitlines()[2:]]
    assert [place for place, _ in body] == ["| 1", "| 2"]


PEARL = "table:3@id=order3,table@id=order6@with=pearl"


def test_a_lane_on_a_reckoned_clock_has_no_place_and_every_ratio_with_it_says_so(toy: Pipeline) -> None:
    stacks = (TABLE, PEARL, TOWER)
    found = race.rows(raced(heats(opener(toy), *stacks, tokens=20), stacks, device="cpu"))
    assert [row["clock"] for row in found] == ["", "reckoned", ""]
    assert found[1]["place"] is None and sorted(row["place"] for row in (found[0], found[2])) == [1, 2]
    assert found[1]["same"]["equal"] == 20 and not found[1]["same"]["diverges"]
    head, _, plain, pearl, tower = race.table(found).splitlines()
    assert pearl.startswith("| - ") and pearl.count("reckoned") == 2
    assert "reckoned" not in plain + tower + head
    turned = race.table(race.rows(raced(heats(opener(toy), PEARL, TABLE, tokens=20), (PEARL, TABLE), device="cpu")))
    assert turned.splitlines()[3].count("reckoned") == 1, "measured times over reckoned ones are no measurement either"


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.jsonl.gz")), ids=lambda path: path.name)
def test_a_quicker_lane_is_placed_before_a_slower_one_in_every_race_that_is_shipped(path: Path) -> None:
    found = sorted((row for row in race.rows(race.read(path)) if row["place"]), key=lambda row: row["place"])
    for better, worse in pairwise(found):
        assert better["tokens_per_s"] >= worse["tokens_per_s"] and better["speed_up"] >= worse["speed_up"]


def test_texts_are_compared_with_the_first_lanes(toy: Pipeline, ran: race.Raced) -> None:
    _, second = race.rows(ran)
    assert second["same"] == {"equal": 30, "diverges": False, "margin": None, "tie": False, "target": True}
    other = [
        changed(e, tokens=(changed(e.tokens[0], id=1), *e.tokens[1:])) if isinstance(e, Commit) else e
        for e in ran.lanes[1]
    ]
    plain, stack = ran.lanes
    found = compare(other, plain)
    # The margin is that of the target's own row, whether it drew the token or judged one from below.
    beside = compare(other, stack)
    assert found.diverges and found.equal == beside.equal == 0
    assert beside.margin == pytest.approx(found.margin)
    rows = [e.p_row for e in plain if isinstance(e, Bonus)]
    assert rows and any(isinstance(e, Verify) and e.checks for e in stack)
    chosen = heats(opener(toy, temperature=0.9, top_k=1), TABLE, TOWER, repeats=1)
    again = raced(chosen, (TABLE, TOWER), device="cpu", dtype="float32", prompt="The tower")
    assert race.rows(again)[1]["same"]["equal"] == 30, "where one token alone is kept, nothing is drawn"
    sampled = heats(opener(toy, temperature=0.9), TABLE, TOWER, repeats=1)
    again = raced(sampled, (TABLE, TOWER), device="cpu", dtype="float32", prompt="The tower")
    assert race.rows(again)[1]["same"] is None


def test_a_table_names_the_first_token_that_differs(ran: race.Raced) -> None:
    first, second = race.rows(ran)
    assert "identical to token 30" in race.table([first, second])
    apart = {**second, "same": {"equal": 7, "diverges": True, "margin": 0.25}}
    assert "differs at token 8, margin 0.25" in race.table([first, apart])


def test_a_file_holds_the_race_and_the_lanes_of_its_middle_repeat(ran: race.Raced, tmp_path: Path) -> None:
    race.write(tmp_path / "a.jsonl.gz", ran)
    assert race.read(tmp_path / "a.jsonl.gz") == ran
    assert ran.race.repeats[ran.race.shown] == tuple(race.took(lane) for lane in ran.lanes)
    assert (tmp_path / "a.jsonl.gz").read_bytes()[:2] == b"\x1f\x8b"


def lines(found: race.Raced) -> list[bytes]:
    return race.dumps(found).splitlines(keepends=True)


def test_what_is_no_race_or_contradicts_itself_is_refused_with_the_reason(ran: race.Raced) -> None:
    whole = lines(ran)
    second = next(i for i, line in enumerate(whole[2:], 2) if line.startswith(b'{"event":"header"'))
    spoilt = {
        b"": "the file is empty",
        b"no race\n": "this is not a race",
        b"".join(whole[1:]): "this is not a race",
        b"".join(whole[:second]): "1 traces of 2 lanes",
        b"".join([*whole, *whole[1:]]): "more traces than the 2 lanes",
        b"".join(whole).replace(b'"schema":1,', b'"schema":9,', 1): "race schema 9 is unknown",
        b"".join(whole).replace(b'"shown":', b'"shown":7', 1): "there is no repeat",
        b"".join(whole).replace(b'"tokens":30', b'"tokens":31'): "took another time",
        b"".join(whole).replace(b'"stacks":["table@id=order6"', b'"stacks":["table@id=order5"', 1): "another stack",
        b"".join([whole[0], *whole[second:], *whole[1:second]]): "lane 1 is of another stack",
        b"".join(whole).replace(b'"stacks":[', b'"extra":[', 1): "race.",
        b"".join(whole[:-1]): "no whole text",
    }
    for data, reason in spoilt.items():
        with pytest.raises(TraceError, match=reason):
            race.read(data)
    with pytest.raises(TraceError, match="larger than"):
        race.read(b"".join(whole), max_bytes=100)
    header = next(e for e in ran.lanes[1] if isinstance(e, Header))
    other = replace(ran, lanes=(ran.lanes[0], [changed(header, seed=5), *ran.lanes[1][1:]]))
    with pytest.raises(TraceError, match="another prompt, seed, length or preset"):
        race.read(race.dumps(other))


def test_a_race_has_two_to_four_lanes_and_fits_in_memory(toy: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    for stacks in [(TABLE,), (TABLE,) * 5]:
        with pytest.raises(ValueError, match="2 to 4 stacks"):
            heats(opener(toy), *stacks)
    monkeypatch.setattr(machine, "free_bytes", lambda _: 250)
    one = SimpleNamespace(kept=100, at_work=40)
    race.refuse_too_large([one, one], 30, "cpu")  # type: ignore[list-item]
    with pytest.raises(TooLarge, match="race fewer stacks"):
        race.refuse_too_large([one, one, one], 30, "cpu")  # type: ignore[list-item]


def test_the_shipped_races_can_be_read_and_the_first_is_plain_two_levels_and_the_default() -> None:
    paths = sorted(SHIPPED.glob("*.jsonl.gz"))
    found = {path.name: race.read(path) for path in paths}
    assert len(found) >= 4
    for name, one in found.items():
        assert one.race.title and one.race.about and one.race.machine and len(one.race.repeats) >= 5, name
        rows = race.rows(one)
        assert all(row["same"] is None or not row["same"]["diverges"] for row in rows), name
    first = found[paths[0].name].race
    default = next(p for p in Pipeline.catalogue() if p["name"] == "smollm2")["default_stack"]
    assert first.stacks[0] == "target" and first.stacks[1].count(",") == 1 and first.stacks[2] == default
    assert any(race.rows(one)[-1]["speed_up"] < 1 for one in found.values())  # one that loses
    assert any(stack.count(",") == 3 for one in found.values() for stack in one.race.stacks)
    assert any(lane[0].sampling["temperature"] > 0 for one in found.values() for lane in one.lanes[:1])  # type: ignore[union-attr]
