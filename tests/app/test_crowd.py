"""Crowds before the line: what they are told of their wait comes true, and nobody keeps the others from the engine."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import fmean

from cases import first_always
from crowd import Crowd, Guest, mixed

from app.serve.line.known_runs import Visitor
from app.serve.line.line import PLACES
from app.serve.line.run_lengths import RunKind

RUN = RunKind("run", "smollm2", tokens=96)
RECORDED = Path(__file__).parent / "service-times.json"
WARM_S = 300.0  # what runs take here is known by then


def came_true(guests: list[Guest], *, off: float) -> tuple[float, float]:
    """Of those who waited for seconds, how many waited as long as the middle of what they were told, and as its range,
    so much off."""
    waited = [(g.said, g.began - g.comes) for g in guests if g.began is not None and g.said and g.comes > WARM_S]
    waited = [(said, took) for said, took in waited if took > 5.0]
    assert len(waited) > 100
    middle = fmean(abs(sum(said) / 2 - took) <= off * took for said, took in waited)
    return middle, fmean((1 - off) * said[0] <= took <= (1 + off) * said[1] for said, took in waited)


@first_always("seed", range(3))
def test_what_a_mixed_crowd_is_told_comes_true(seed: int) -> None:
    """One in five stops its run, and one in seven does not wait to its turn."""
    middle, span = came_true(Crowd(mixed(seed, every=12.5)).go().guests, off=0.3)
    assert middle >= 0.8
    assert span >= 0.95


@first_always("seed", range(3))
def test_short_waits_are_told_as_what_is_known_of_them(seed: int) -> None:
    _, span = came_true(Crowd(mixed(seed, every=18.0)).go().guests, off=0.3)
    assert span >= 0.9


def recorded(seed: int, *, load: float, minutes: float = 25.0) -> list[Guest]:
    """A class whose runs take what those of a real server took. load: runs asked for, of those that can be served."""
    runs = json.loads(RECORDED.read_text(encoding="utf-8"))["runs"]
    every, chance = fmean(run["seconds"] for run in runs) / load, random.Random(seed)
    guests, at = list[Guest](), 0.0
    while (at := at + chance.expovariate(1 / every)) < 60 * minutes:
        run, page = chance.choice(runs), chance.randrange(40)
        kind = RunKind("run", "smollm2", beside=("baseline",), tokens=run["tokens"])
        guests.append(Guest(at, Visitor((f"page {page}",), f"10.0.0.{page % 10}"), kind, run["seconds"]))
    return guests


def test_what_classes_are_told_comes_true_with_the_times_of_a_real_server() -> None:
    """`python -m tests.measuring.told_waits --record` wrote them: how long a text gets is not known before."""
    classes = [Crowd(recorded(seed, load=1.05)).go().guests for seed in range(2)]
    middle, span = came_true([guest for guests in classes for guest in guests], off=0.3)
    assert middle >= 0.8
    assert span >= 0.95


@first_always("load", [0.95, 0.85])
def test_with_the_times_of_a_real_server_short_waits_are_told_as_what_is_known_of_them(load: float) -> None:
    _, span = came_true(Crowd(recorded(1, load=load)).go().guests, off=0.3)
    assert span >= 0.85


def busy(pages: int, *, address: str, runs: int = 8, comes: float = 0.0, each: float = 5.0) -> list[Guest]:
    """Pages that ask for a run as soon as the last one would be over."""
    return [
        Guest(comes + 0.01 * page + each * pages * turn, Visitor((f"{address} {page}",), address), RUN, each)
        for turn in range(runs)
        for page in range(pages)
    ]


def before(crowd: Crowd, guest: Guest) -> int:
    """How many runs began while it waited."""
    return sum(g.began is not None and guest.comes <= g.began < (guest.began or 0.0) for g in crowd.order)


def test_thirty_six_pages_of_one_address_lock_out_nobody_behind_it_nor_elsewhere() -> None:
    newcomer = Guest(400.0, Visitor(("new",), "10.0.0.1"), RUN, 5.0)
    elsewhere = Guest(401.0, Visitor(("elsewhere",), "10.0.0.2"), RUN, 5.0)
    crowd = Crowd([*busy(36, address="10.0.0.1"), newcomer, elsewhere]).go()
    assert not any(guest.refused for guest in crowd.guests)
    assert before(crowd, newcomer) <= 36, "no page has a second turn before it"
    assert before(crowd, elsewhere) <= 2


def test_more_pages_than_there_are_places_keep_no_newcomer_out() -> None:
    newcomer = Guest(700.0, Visitor(("new",), "10.0.0.1"), RUN, 5.0)
    elsewhere = Guest(701.0, Visitor(("elsewhere",), "10.0.0.2"), RUN, 5.0)
    greedy = [guest for _ in range(2) for guest in busy(PLACES, address="10.0.0.1", runs=4, each=4.0)]
    crowd = Crowd([*greedy, newcomer, elsewhere]).go()
    assert any(guest.refused for guest in greedy)
    assert newcomer.began is not None and elsewhere.began is not None
    assert before(crowd, elsewhere) <= 2


def test_a_first_run_goes_before_the_tenth_of_a_page_that_has_two_in_line_all_the_time() -> None:
    others = [
        Guest(30.0 * i, Visitor((f"other {i}",), "10.0.0.1"), RUN, 5.0)  # enough that there is a line
        for i in range(40)
    ]
    heavy = [Guest(5.0 * i, Visitor(("heavy",), "10.0.0.1"), RUN, 5.0) for i in range(240)]
    crowd = Crowd([*others, *heavy]).go()
    assert all(before(crowd, guest) <= 2 for guest in others), "the running one, and no more than one of it"
    assert sum(guest.began is not None for guest in heavy) > 150, "who is alone with a free engine has it"


def test_nobody_waits_for_ever() -> None:
    heavy = [Guest(10.0 * i, Visitor(("heavy",), "10.0.0.1"), RUN, 5.0) for i in range(20)]
    fresh = [Guest(200.0 + 5.0 * i, Visitor((f"fresh {i}",), f"10.0.1.{i}"), RUN, 5.0) for i in range(400)]
    last = Guest(201.0, Visitor(("heavy",), "10.0.0.1"), RUN, 5.0)
    Crowd([*heavy, *fresh, last]).go()
    assert last.began is not None
    assert last.began < 201.0 + 2 * 5.0 * 20


def test_pages_and_calls_alternate() -> None:
    calls = [Guest(0.01 * i, Visitor((f"call {i}",), "10.0.0.1", page=False), RUN, 5.0) for i in range(10)]
    pages = [Guest(6.0 + 0.01 * i, Visitor((f"page {i}",), "10.0.0.2"), RUN, 5.0) for i in range(5)]
    kinds = [guest.visitor.page for guest in Crowd([*calls, *pages]).go().order]
    assert kinds == [False, *([False, True] * 5), *([False] * 4)]
