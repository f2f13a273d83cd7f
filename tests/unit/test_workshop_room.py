"""The room of a class: who comes in, what is sent to all screens, whose answers are counted, whose runs wait."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.kit.supervised import Kept
from app.serve.line.class_caps import ClassCaps
from app.serve.line.known_runs import Run, Visitor
from app.serve.line.line import PLACES, Line, Refused
from app.workshop import lan
from app.workshop import room as room_module
from app.workshop.members import (
    A_MINUTE,
    AT_ONCE,
    AWAY_S,
    FREE,
    FREE_OF_ALL,
    LETTERS,
    LONGEST_WAIT_S,
    MOST_LEADING,
    MOST_MEMBERS,
    OF_AN_ADDRESS,
    Members,
    NotLetIn,
    SlowedGuesses,
)
from app.workshop.room import LONGEST, MOST_HELD, NotSent, Room, checked
from app.workshop.room_routes import COOKIE, ROOM, room_routes
from app.workshop.tallies import BINS, LARGEST, Tallies, histogram, questions_of

CHOICE, FIGURE = ("01-a", 2), ("02-b", 1)
QUESTIONS = {CHOICE: 3, FIGURE: None}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(clock: Clock) -> Room:
    return Room(QUESTIONS, clock=clock)


def awaited(work: Coroutine[Any, Any, None]) -> None:
    """In a thread: a driven browser leaves a loop in that of the tests."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result(60)


def joined(room: Room, *, leads: bool = False) -> str:
    """The token of a browser that came in and whose page asks for news."""
    token = room.members.enter(room.members.key if leads else room.members.code, "10.0.0.9", leads=leads)
    room.members.listens(token)
    return token


# ---- the process that follows where one dies


def test_a_class_goes_on_in_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_module, "SAVE_S", 0.0)
    first = Room(QUESTIONS, clock=Clock(), kept=Kept(tmp_path))
    instructor, learner = joined(first, leads=True), joined(first)
    client = TestClient(Starlette(routes=room_routes(first)))
    with client:
        for token, name, body in (
            (instructor, "send", {"at": "?tab=learn&lesson=1"}),
            (learner, "answer", {"lesson": CHOICE[0], "step": CHOICE[1], "answer": 2}),
            (instructor, "show", {"lesson": CHOICE[0], "step": CHOICE[1]}),
        ):
            client.cookies.set(COOKIE, token)
            assert client.post(f"{ROOM}/{name}", json=body).status_code == 200
        while not (tmp_path / "room").exists() or b"01-a" not in (tmp_path / "room").read_bytes().split(b"shown")[1]:
            client.get("/none")  # the loop goes on
    second = Room(QUESTIONS, clock=Clock(), kept=Kept(tmp_path))
    before, after = (one.told(leads=True) for one in (first, second))
    assert {**after, "version": before["version"]} == before
    assert (second.members.key, second.leads(instructor), second.leads(learner)) == (first.members.key, True, False)
    assert second.answered(learner) and second.members.of(learner)
    second.members.listens(learner)
    with ThreadPoolExecutor(1) as apart:  # a driven browser leaves a loop in the thread of the tests
        assert apart.submit(asyncio.run, _answers(second, learner)).result() is False, "the first answer counts"
    (tmp_path / "room").write_bytes(b"{}")
    assert Room(QUESTIONS, clock=Clock(), kept=Kept(tmp_path)).members.code != first.members.code


async def _answers(room: Room, token: str) -> bool:
    return room.answer(token, CHOICE, 1)


# ---- who comes in


def test_the_code_is_short_readable_and_taken_in_any_case(room: Room) -> None:
    assert len(room.members.code) == 5 and set(room.members.code) <= set(LETTERS)
    assert not set(LETTERS) & set("0O1IL5S2Z8"), "none that is easily taken for another"
    assert room.person(room.members.enter(f" {room.members.code.lower()} ", "a", leads=False))


def test_a_wrong_code_or_key_lets_nobody_in_and_the_key_is_no_code(room: Room) -> None:
    key, code = room.members.key, room.members.code
    for guess, leads in (("WRONG", False), ("", False), (key, False), (code, True), ("ü", True)):
        with pytest.raises(NotLetIn) as refused:
            room.members.enter(guess, f"of {guess}", leads=leads)
        assert refused.value.status == 403
    assert room.person("") == "" and not room.leads("made up")


def test_codes_guessed_in_turn_are_slowed_down_and_meanwhile_not_even_the_right_one_is_heard(
    room: Room, clock: Clock
) -> None:
    waits = []
    for i in range(FREE + 10):
        clock.now += waits[-1] if waits else 0.0
        with pytest.raises(NotLetIn) as refused:
            room.members.enter(f"GUESS{i}", "10.0.0.66", leads=False)
        assert refused.value.status == 403
        waits.append(room.members._slowed[False].wait("10.0.0.66"))
    assert waits[: FREE - 1] == [0.0] * (FREE - 1) and waits[-1] == LONGEST_WAIT_S
    assert waits == sorted(waits)
    with pytest.raises(NotLetIn, match="try again in 30 s") as refused:
        room.members.enter(room.members.code, "10.0.0.66", leads=False)
    assert refused.value.status == 429 and refused.value.retry == pytest.approx(LONGEST_WAIT_S)
    assert joined(room), "others come in"
    assert room.members.enter(room.members.key, "10.0.0.66", leads=True), "wrong codes do not keep the instructor out"
    clock.now += LONGEST_WAIT_S
    assert room.members.enter(room.members.code, "10.0.0.66", leads=False)


def test_guesses_from_many_addresses_slow_everybody_down(clock: Clock) -> None:
    slowed = SlowedGuesses(clock)
    for i in range(FREE_OF_ALL + 3):
        slowed.was_wrong(f"10.0.{i}.1")
    assert slowed.wait("192.168.0.7") > 0
    clock.now += LONGEST_WAIT_S
    assert slowed.wait("192.168.0.7") == 0


def test_what_is_remembered_of_addresses_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.workshop.members.ADDRESSES", 10)
    slowed = SlowedGuesses(clock)
    for i in range(40):
        clock.now += 1
        slowed.was_wrong(str(i))
    assert len(slowed._known) == 10


def filled(members: Members, seats: int, address: Callable[[int], str]) -> list[str]:
    return [members.enter(members.code, address(i), leads=False) for i in range(seats)]


def test_a_full_room_gives_the_seat_of_a_browser_that_left_to_another_and_keeps_the_instructors(clock: Clock) -> None:
    members = Members(clock)
    instructor = members.enter(members.key, "a", leads=True)
    first, *_ = filled(members, MOST_MEMBERS, lambda i: f"10.0.{i // 50}.1")
    with pytest.raises(NotLetIn, match="full"):
        members.enter(members.code, "a", leads=False)
    assert members.enter(members.key, "b", leads=True), "the instructor's second screen finds a seat"
    clock.now += AWAY_S + 1
    assert members.enter(members.code, "a", leads=False)
    assert members.of(first) is None and members.of(instructor) is not None
    assert members.here == 1


def test_one_address_enters_as_a_class_does_and_then_slowly_and_never_fills_the_room(clock: Clock) -> None:
    members = Members(clock)
    filled(members, AT_ONCE, lambda _: "a")
    with pytest.raises(NotLetIn, match="many browsers have just joined from your address") as refused:
        members.enter(members.code, "a", leads=False)
    assert refused.value.status == 429 and refused.value.retry == pytest.approx(60 / A_MINUTE)
    assert members.enter(members.code, "b", leads=False), "others come in"
    kept = []
    for _ in range(2 * OF_AN_ADDRESS):  # as fast as it may, and every one keeps its page open
        clock.now += 60 / A_MINUTE
        with contextlib.suppress(NotLetIn):
            kept.append(members.enter(members.code, "a", leads=False))
        for token in kept:
            members.listens(token)
    near = [one for one in members._members.values() if one.address == "a"]
    assert len(near) == OF_AN_ADDRESS < MOST_MEMBERS
    assert members.enter(members.code, "b", leads=False)


def test_a_browser_that_enters_again_keeps_its_seat_and_the_key_makes_it_the_instructors(clock: Clock) -> None:
    members = Members(clock)
    token = members.enter(members.code, "a", leads=False)
    assert members.enter(members.code, "a", leads=False, token=token) == token and len(members._members) == 1
    leading = members.enter(members.key, "a", leads=True, token=token)
    assert leading != token and members.enter(members.code, "a", leads=False, token=leading) == leading


def test_wrong_keys_of_others_never_keep_the_instructor_out(room: Room) -> None:
    for i in range(3 * FREE_OF_ALL):
        with pytest.raises(NotLetIn):
            room.members.enter(f"guess {i}", f"10.0.0.{i % 200}", leads=True)
    assert joined(room, leads=True)


def test_the_instructors_seats_are_bounded_too(clock: Clock) -> None:
    members = Members(clock)
    tokens = []
    for _ in range(MOST_LEADING + 1):
        clock.now += 1
        tokens.append(members.enter(members.key, "a", leads=True))
    assert members.of(tokens[0]) is None and all(members.of(token) for token in tokens[1:])


# ---- what is sent


@pytest.mark.parametrize(
    "address",
    [
        "?tab=learn&lesson=3&step=2",
        "?recording=01-code&at=6.4&token=20",
        "?tab=race&race=01-levels",
        "?stack=ngram%3A4%2Ctarget&prompt=Say+it",
        "?explore=1#run=1.H4sIAAAA-_z",
    ],
)
def test_what_has_a_link_can_be_sent(room: Room, address: str) -> None:
    room.send(address)
    assert room.told(leads=False)["sent"] == {"at": address, "number": 1}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://elsewhere.example/", "an address of this page"),
        ("//elsewhere.example/?a=1", "an address of this page"),
        ("javascript:alert(1)", "an address of this page"),
        ("?a=<script>", "an address of this page"),
        ("?a=1#workshop=key", "an address of this page"),
        ("?a=1\n", "an address of this page"),
        ("", "an address of this page"),
        ("?room=ABCDE", "room belongs to one screen"),
        ("?tab=learn&%6Eotes=1", "notes belongs to one screen"),
        ("?__theme=dark", "__theme belongs to one screen"),
        ("?a=" + "x" * LONGEST, f"at most {LONGEST:,} characters"),
    ],
)
def test_what_is_no_address_of_the_page_is_refused(room: Room, address: str, said: str) -> None:
    with pytest.raises(NotSent, match=said):
        room.send(address)
    assert room.told(leads=False)["sent"] is None
    with pytest.raises(NotSent):
        checked(address)


def test_whoever_comes_late_is_told_where_the_class_is_until_it_is_freed(room: Room) -> None:
    room.send("?tab=race")
    room.send("?tab=learn&lesson=1")
    late = room.told(leads=False)
    assert late["led"] and late["sent"] == {"at": "?tab=learn&lesson=1", "number": 2}
    assert not {"code", "address", "tallies", "here"} & set(late), "that is the instructor's"
    room.keep(True)
    room.free()
    assert not room.told(leads=False)["led"] and not room.told(leads=True)["keeps"]
    assert room.told(leads=False)["sent"] is not None, "the way back is remembered"


def test_news_wake_those_who_wait_at_once_and_say_nothing_new_for_a_while_otherwise(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.workshop.room.PATIENCE_S", 0.02)

    async def check() -> None:
        token = joined(room)
        first = await room.news(token, "")
        assert first["sent"] is None
        assert (await room.news(token, first["version"]))["version"] == first["version"]
        monkeypatch.setattr("app.workshop.room.PATIENCE_S", 60.0)
        waiting = [asyncio.create_task(room.news(token, first["version"])) for _ in range(MOST_HELD)]
        await asyncio.sleep(0)
        with pytest.raises(NotLetIn, match="already waits"):
            await room.news(token, first["version"])
        room.send("?tab=race")
        told = await asyncio.gather(*waiting)
        assert all(one["sent"]["at"] == "?tab=race" for one in told)
        assert not room._held
        with pytest.raises(NotLetIn, match="code"):
            await room.news("nobody", "")

    awaited(check())


def test_a_restarted_server_has_no_version_of_before(clock: Clock) -> None:
    rooms = [Room(QUESTIONS, clock=clock) for _ in range(2)]
    assert rooms[0].told(leads=False)["version"] != rooms[1].told(leads=False)["version"]


# ---- whose answers are counted


def test_the_first_answer_of_each_browser_counts_and_none_of_the_instructors(room: Room) -> None:
    async def check() -> None:
        one, other, instructor = joined(room), joined(room), joined(room, leads=True)
        assert room.answer(one, CHOICE, 2) and room.answer(other, CHOICE, 0)
        assert not room.answer(one, CHOICE, 1) and not room.answer(instructor, CHOICE, 1)
        assert room.told(leads=True)["tallies"] == [{"lesson": "01-a", "step": 2, "total": 2, "counts": [1, 0, 1]}]
        assert room.told(leads=False)["bars"] is None, "learners see none until the instructor says so"
        room.show(CHOICE)
        assert room.told(leads=False)["bars"]["counts"] == [1, 0, 1]
        assert one not in str(room.told(leads=True)), "bars have no names"
        room.send("?tab=race")
        assert room.told(leads=False)["bars"] is None, "they go with the step"

    awaited(check())


def test_a_cookie_without_a_page_has_no_vote(room: Room, clock: Clock) -> None:
    async def check() -> None:
        tokens = [room.members.enter(room.members.code, "10.0.0.9", leads=False) for _ in range(AT_ONCE)]
        for token in tokens:
            with pytest.raises(NotLetIn, match="while the page of the class is open"):
                room.answer(token, CHOICE, 1)
        assert room.told(leads=True)["tallies"] == []
        room.members.listens(tokens[0])
        assert room.answer(tokens[0], CHOICE, 1)
        clock.now += AWAY_S
        room.members.listens(tokens[1])
        assert room.answer(tokens[1], CHOICE, 1) and not room.members.has_page(tokens[0])
        with pytest.raises(NotLetIn, match="enter the code"):
            room.answer("made up", CHOICE, 1)

    awaited(check())


def test_sixty_answers_wake_the_instructor_a_few_times(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.workshop.room.SOON_S", 0.01)

    async def check() -> None:
        tokens = [joined(room) for _ in range(60)]
        await asyncio.sleep(0.03)
        before = int(room.told(leads=True)["version"].split(".")[1])
        for token in tokens:
            room.answer(token, CHOICE, 1)
        await asyncio.sleep(0.03)
        assert int(room.told(leads=True)["version"].split(".")[1]) == before + 1
        assert room.told(leads=True)["tallies"][0]["counts"] == [0, 60, 0]

    awaited(check())


@pytest.mark.parametrize(
    ("question", "answer"),
    [(CHOICE, 3), (CHOICE, -1), (CHOICE, 1.5), (FIGURE, -1.0), (FIGURE, 1e300), (FIGURE, 10**400)]
    + [(FIGURE, float("nan")), (("x", 1), 0)],
)
def test_what_is_no_answer_is_refused(question: Any, answer: float) -> None:
    with pytest.raises(ValueError, match="question"):
        Tallies(QUESTIONS).take("a", question, answer)


def test_figures_make_a_small_histogram_that_one_who_types_a_million_does_not_stretch() -> None:
    values = [2.0, 2.5, 3.0, 3.0, 3.1, 3.4, 4.0, 4.2, 4.9, 5.0, 6.0, 1e6]
    bins = histogram(values)
    assert sum(one["count"] for one in bins) == len(values) and len(bins) <= BINS
    assert (bins[-1]["to"] is None and bins[0]["from"] == 2.5 - 0.5) or bins[0]["from"] is None
    assert histogram([]) == [] and histogram([4.5, 4.5]) == [{"from": 4.0, "to": 5.0, "count": 2}]
    for count in range(1, 40):
        spread = histogram([i**2 / 7 for i in range(count)])
        assert sum(one["count"] for one in spread) == count and len(spread) <= BINS


def test_no_answers_make_a_histogram_that_cannot_be_counted() -> None:
    draws = random.Random(1)
    corners = [0, 3e-323, 5e-324, 2.2e-308, 1e-4, 4.9e-5, 1, 0.1 + 0.2, 10, LARGEST, LARGEST - 1e-4, 999_999_999.9999]
    for _ in range(3000):
        tallies = Tallies(QUESTIONS)
        for i in range(draws.randint(1, 12)):
            figure = draws.choice([draws.choice(corners), 10 ** draws.uniform(-330, 9), draws.randint(0, 40)])
            tallies.take(str(i), FIGURE, figure)
        said = tallies.counted(FIGURE)
        assert sum(one["count"] for one in said["bins"]) == said["total"] == i + 1
        assert len(said["bins"]) <= BINS
        edges = [edge for one in said["bins"] for edge in (one["from"], one["to"]) if edge is not None]
        assert edges == sorted(edges)


def test_whole_numbers_are_counted_as_such() -> None:
    assert [(one["from"], one["to"], one["count"]) for one in histogram([2, 3, 3.0])] == [(2, 2, 1), (3, 3, 2)]
    assert histogram([4, 4]) == [{"from": 4, "to": 4, "count": 2}]
    wide = histogram(list(range(40)))
    assert all(one["from"] is None or one["to"] is None or one["to"] - one["from"] == 9 for one in wide)
    assert [one["from"] for one in wide[1:]] == [one["to"] + 1 for one in wide[:-1]]


def test_the_questions_are_those_of_the_lessons() -> None:
    lesson = {
        "id": "01-a",
        "steps": [{"title": "told"}, {"question": {"choices": [{}, {}]}}, {"question": {"number": {"unit": "ms"}}}],
    }
    assert questions_of([lesson]) == {("01-a", 2): 2, ("01-a", 3): None}


# ---- whose runs wait


def visitor(
    name: str, *, person: str | None = None, leads: bool = False, at: str = "10.0.0.1", answered: bool = False
) -> Run:
    return Run(name, Visitor((name,), at, True, name if person is None else person, leads, answered))


def class_line(caps: ClassCaps) -> Line:
    line = Line()
    line.class_caps = caps
    return line


def test_learners_runs_are_capped_each_and_in_all_and_the_instructors_are_not() -> None:
    line = class_line(ClassCaps(each=1, all=2))
    line.admit(visitor("page 1", person="ann"))
    with pytest.raises(Refused, match="you already have a run"):
        line.admit(visitor("page 2", person="ann"))
    line.admit(visitor("page 3", person="bob"))
    with pytest.raises(Refused, match="all 2 places for runs of the class are taken"):
        line.admit(visitor("page 4", person="cid"))
    with pytest.raises(Refused, match="enter the code"):
        line.admit(visitor("page 5", person=""))
    line.admit(visitor("desk", person="host", leads=True))
    line.admit(visitor("projector", person="host", leads=True))


def test_one_browser_with_many_seats_does_not_keep_the_others_from_running() -> None:
    line = class_line(ClassCaps(each=1, all=4))
    seats = [line.admit(visitor(f"seat {i}", at="10.0.0.66")) for i in range(4)]
    assert line.begins(seats[0])
    line.withdraw(seats[0])
    line.admit(visitor("ann", at="10.0.0.2"))
    assert seats[3].given_up, "of the address that has most, the last one"
    line.admit(visitor("bob", at="10.0.0.66", answered=True))
    assert seats[2].given_up and not seats[1].given_up, "at one address, the last one that has answered nothing"
    with pytest.raises(Refused, match="all 4 places"):
        line.admit(visitor("seat 9", at="10.0.0.66"))


@pytest.mark.parametrize("caps", [ClassCaps(0, 12), ClassCaps(1, 0)])
def test_a_class_may_be_without_runs_of_learners(caps: ClassCaps) -> None:
    line = class_line(caps)
    with pytest.raises(Refused, match="only the instructor starts runs"):
        line.admit(visitor("page"))
    line.admit(visitor("desk", leads=True))


def test_the_instructors_run_goes_first_also_into_a_full_line() -> None:
    line = class_line(ClassCaps(each=1, all=PLACES))
    learners = [line.admit(visitor(f"page {i}")) for i in range(PLACES)]
    assert line.begins(learners[0])
    line.withdraw(learners[0])
    own = visitor("desk", leads=True)
    place = line.admit(own)
    assert line.place(own)[0] == 1 and line.place(learners[1].run)[0] == 2
    line.leave(learners[0].run)
    assert not line.begins(learners[1]) and line.begins(place)


# ---- where it is


def test_the_address_is_one_that_other_machines_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lan, "lan_addresses", lambda: ["192.168.1.5", "10.0.0.2"])
    assert lan.page_addresses("0.0.0.0", 7860) == ["http://192.168.1.5:7860/", "http://10.0.0.2:7860/"]
    assert lan.page_addresses("fd00::1", 80) == ["http://[fd00::1]:80/"]
    monkeypatch.setattr(lan, "lan_addresses", list)
    assert lan.page_addresses("0.0.0.0", 7860) == ["http://127.0.0.1:7860/"]


def test_addresses_of_this_machine_are_never_its_own_loop() -> None:
    assert not [one for one in lan.lan_addresses() if one.startswith("127.")]


def test_a_place_is_given_up_only_where_the_other_address_has_at_least_two_more() -> None:
    def waits(address: str) -> Run:
        return Run(f"of-{address}", Visitor(("s",), address, person="p"))

    one, two, other = waits("a"), waits("a"), waits("b")
    caps, own = ClassCaps(), Visitor(("t",), "b", person="q")
    assert caps.gives_way(own, [one, two]) is two
    assert caps.gives_way(own, [one, two, other]) is None, "they would push each other out for ever"
    assert caps.gives_way(own, []) is None
