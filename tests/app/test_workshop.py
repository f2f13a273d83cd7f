"""A class: an instructor and learners in browsers, the room over HTTP; a page without a class has nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pagekit import drawn, launched, slowed

from app.serve.door.guard import MAX_BODY
from app.serve.line.class_caps import ClassCaps
from app.workshop.members import FREE
from app.workshop.room import Room
from app.workshop.room_routes import LARGEST, ROOM, new_room
from hsd_core.pipeline import Pipeline

JSON = {"content-type": "application/json"}
STEP = "?tab=learn&lesson=1&step=2"


@pytest.fixture(scope="module")
def room() -> Room:
    return new_room()


@pytest.fixture(scope="module")
def held(recordings: Path, room: Room) -> Iterator[str]:
    """The address of a page with a class, at which learners may have one run each."""
    with launched(
        slowed(Pipeline), traces=recordings, room=room, caps=ClassCaps(each=1, all=1), trusted=["127.0.0.1"]
    ) as address:
        yield address


@contextmanager
def entered(held: str, address: str = "10.0.0.1", **secret: str) -> Iterator[httpx.Client]:
    """A browser in the room, as a proxy on this machine names it."""
    with httpx.Client(base_url=held, timeout=60, headers={"x-forwarded-for": address}) as client:
        assert client.post(f"{ROOM}/enter", json=secret).status_code == 200
        yield client


# ---- in browsers


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """Opens a page in a browser of its own, which has not been here before."""
    contexts, faults = [], []

    def opened(url: str, width: int = 1440, height: int = 900) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults


def line(page: Any, text: str) -> Any:
    return page.locator(".hx-room-line", has_text=text).wait_for()


@pytest.mark.everything
def test_learners_follow_the_instructor_answer_and_are_freed(held: str, room: Room, open_page: Any) -> None:
    instructor = open_page(f"{held}/#workshop={room.members.key}")
    instructor.get_by_role("dialog", name="Join the class").wait_for()
    assert room.members.key not in instructor.url and room.members.key not in instructor.content()
    assert instructor.locator(".hx-room-word").inner_text() == room.members.code
    instructor.keyboard.press("Escape")

    # One comes by the QR code, one types it, both on their phones.
    scanned = open_page(f"{held}/?room={room.members.code}", 390, 844)
    line(scanned, "You are in the class")
    assert "room=" not in scanned.url and scanned.locator(".hx-story").count() == 0
    typed = open_page(held, 390, 844)
    typed.get_by_label("Room code").fill(room.members.code.lower())
    typed.keyboard.press("Enter")
    line(typed, "You are in the class")

    # A lesson's step, in place.
    scanned.evaluate("window.stays = true")
    instructor.goto(f"{held}/{STEP}")
    instructor.get_by_role("button", name="Send this to all").click()
    for page in (scanned, typed):
        line(page, "The instructor leads: lesson 1, step 2")
        page.get_by_role("heading", name="Several rows in one pass").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    asked, foot = (scanned.locator(part).bounding_box() for part in (".hx-question legend", ".hx-lesson-foot"))
    assert asked["y"] + asked["height"] < foot["y"], "the question is in sight below the picture"

    # Answers are counted, and shown when the instructor says so.
    for page, choice in ((scanned, 0), (typed, 1)):
        page.locator(".hx-choice input").nth(choice).check()
        page.locator(".hx-commit").click()
    instructor.locator(".hx-room-card summary", has_text="2 answers").wait_for()
    assert scanned.locator(".hx-room-card").is_hidden()
    instructor.get_by_role("button", name="Show the answers to all").click()
    scanned.locator(".hx-room-rows b", has_text="1 (50%)").first.wait_for()
    drawn(scanned)
    answers, foot = (scanned.locator(part).bounding_box() for part in (".hx-room-card", ".hx-lesson-foot"))
    assert foot["y"] + foot["height"] <= answers["y"] + 1, "they cover nothing of the lesson"

    with instructor.expect_download() as table:
        instructor.get_by_role("button", name="Answers as CSV").click()
    rows = Path(table.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert rows[0].startswith("lesson,title,step,question") and len(rows) >= 3
    assert [row.rpartition(",")[2] for row in rows[1:3]] == ["1", "1"]

    # A moment of a recording; a browser that comes late lands there; another tab is opened anew.
    instructor.goto(f"{held}/?recording=00-toy&at=2.1")
    instructor.locator("#hx-first").wait_for(state="detached")
    instructor.get_by_role("button", name="Send this to all").click()
    line(scanned, "round 2")
    scanned.wait_for_url("**at=2.1*")
    assert scanned.locator(".hx-room-card").is_hidden() and scanned.evaluate("window.stays")
    late = open_page(f"{held}/?room={room.members.code}")
    late.wait_for_url("**at=2.1*")
    instructor.goto(f"{held}/?tab=results")
    instructor.get_by_role("button", name="Send this to all").click()
    scanned.wait_for_url("**tab=results*")
    line(scanned, "The instructor leads: the tab Results")

    # Freed: the screens stay, and the way back is there.
    instructor.get_by_role("button", name="Free the screens").click()
    line(scanned, "Look around on your own")
    scanned.get_by_role("tab", name="Explore").click()
    scanned.get_by_role("button", name="Go there").click()
    scanned.wait_for_url("**tab=results*")


@pytest.mark.everything
def test_what_the_instructor_opens_next_goes_to_all_when_it_is_to(held: str, room: Room, open_page: Any) -> None:
    room.free()
    instructor = open_page(f"{held}/{STEP}#workshop={room.members.key}")
    instructor.get_by_role("dialog", name="Join the class").wait_for()
    instructor.keyboard.press("Escape")
    learner = open_page(f"{held}/?room={room.members.code}")
    instructor.get_by_label("and what I open next").check()
    line(learner, "The instructor leads: lesson 1, step 2")
    instructor.locator(".hx-step-title").focus()
    instructor.keyboard.press("PageDown")
    line(learner, "The instructor leads: lesson 1, step 3")
    room.free()


@pytest.mark.everything
def test_the_notes_of_a_class_lead_all_screens_too(held: str, room: Room, open_page: Any) -> None:
    room.free()
    notes = open_page(f"{held}/?tab=learn&class=15&notes=1#workshop={room.members.key}", 390, 844)
    notes.get_by_role("dialog", name="Join the class").wait_for()
    notes.keyboard.press("Escape")
    learner = open_page(f"{held}/?room={room.members.code}")
    notes.get_by_role("button", name="Send to all").click()
    line(learner, "The instructor leads: lesson 1, step 2")
    notes.keyboard.press("PageDown")
    line(notes, "All screens still show: lesson 1, step 2")
    notes.get_by_label("and next").check()
    line(learner, "The instructor leads: lesson 2, step 1")
    notes.keyboard.press("PageDown")
    line(learner, "The instructor leads: lesson 2, step 2")
    line(notes, "All screens: lesson 2, step 2")
    for button in notes.locator(".hx-room-do > *:visible").all():
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    notes.reload()
    notes.locator(".hx-notes-now", has_text="lesson 2, step 2").wait_for()
    room.free()


@pytest.mark.everything
def test_the_box_stays_as_it_was_set_while_the_room_is_told(held: str, room: Room, open_page: Any) -> None:
    room.free()
    notes = open_page(f"{held}/?tab=learn&class=15&notes=1#workshop={room.members.key}", 390, 844)
    notes.get_by_role("dialog", name="Join the class").wait_for()
    notes.keyboard.press("Escape")
    notes.locator(".hx-notes-now", has_text="lesson 1, step 2").wait_for()
    late: list[Any] = []
    notes.route(f"**{ROOM}/keep", lambda route: late.append(route))
    box = notes.get_by_label("and next")
    box.check()
    notes.keyboard.press("PageDown")
    notes.locator(".hx-notes-now", has_text="lesson 2, step 1").wait_for()
    notes.wait_for_timeout(700)  # the bar is drawn anew where what is open has changed
    assert box.is_checked() and len(late) == 1
    late[0].continue_()
    line(notes, "All screens: lesson 2, step 1")
    assert box.is_checked()
    late.clear()
    box.uncheck()
    late[0].abort()
    notes.wait_for_function("() => document.querySelector('.hx-room-keeps input').checked")
    notes.unroute(f"**{ROOM}/keep")
    room.free()


@pytest.mark.everything
def test_a_page_without_a_class_has_nothing_of_it(page: Any, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/?explore=1")
    assert page.locator(".hx-room").count() == 0
    assert not [url for url in asked if "workshop" in url or ROOM in url]
    assert httpx.get(f"{site}{ROOM}/now").status_code == 404


# ---- over HTTP


def test_who_is_not_in_the_room_hears_and_sends_nothing(held: str, room: Room) -> None:
    with httpx.Client(base_url=held, timeout=60) as stranger, entered(held, code=room.members.code) as learner:
        assert stranger.get(f"{ROOM}/now").status_code == 403
        assert [one.get(f"{ROOM}/answers").status_code for one in (stranger, learner)] == [403, 403]
        answer = {"lesson": "01-why-slow", "step": 2, "answer": 0}
        assert stranger.post(f"{ROOM}/answer", json=answer).status_code == 403
        for client in (stranger, learner):
            for name, body in (("send", {"at": STEP}), ("free", {}), ("keep", {"on": True}), ("show", {})):
                reply = client.post(f"{ROOM}/{name}", json=body)
                assert (reply.status_code, "only the instructor" in reply.json()["error"]) == (403, True), name
        told = learner.get(f"{ROOM}/now")
        assert not told.json()["leads"] and room.members.key not in told.text and "code" not in told.json()
        assert told.headers["cache-control"] == "no-store"


def test_the_instructor_takes_the_answers_along_and_nobody_s_stand_together(held: str, room: Room) -> None:
    question = {"lesson": "01-why-slow", "step": 2}
    for given in (2, 0):
        with entered(held, code=room.members.code) as learner:
            learner.get(f"{ROOM}/now", timeout=60)
            assert learner.post(f"{ROOM}/answer", json={**question, "answer": given}).json()["counted"]
    with entered(held, key=room.members.key) as instructor:
        reply = instructor.get(f"{ROOM}/answers")
    mine = next(one for one in reply.json()["answers"] if {**one, "answers": 0} == {**question, "answers": 0})
    assert mine["answers"] == sorted(mine["answers"]) and {0, 2} <= set(mine["answers"])
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("secret", ["key", "code"])
def test_wrong_guesses_are_slowed_down_and_the_answer_says_for_how_long(held: str, room: Room, secret: str) -> None:
    right = getattr(room.members, secret)
    with httpx.Client(base_url=held, timeout=60, headers={"x-forwarded-for": f"10.9.9.{len(secret)}"}) as client:
        replies = [client.post(f"{ROOM}/enter", json={secret: f"GUESS{i}"}) for i in range(FREE + 2)]
        assert [one.status_code for one in replies] == [403] * (FREE + 1) + [429]
        assert int(replies[-1].headers["retry-after"]) >= 1 and "try again in" in replies[-1].json()["error"]
        # The key is too long to be guessed, so the right one is always heard: nobody keeps the instructor out.
        assert client.post(f"{ROOM}/enter", json={secret: right}).status_code == (429 if secret == "code" else 200)


def test_the_cookie_is_for_this_server_alone_and_no_script_reads_it(held: str, room: Room) -> None:
    reply = httpx.post(f"{held}{ROOM}/enter", json={"code": room.members.code})
    said = reply.headers["set-cookie"].lower()
    assert "httponly" in said and "samesite=strict" in said and room.members.key.lower() not in said


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("send", {"at": "?" + "x" * 10 * 2**20}, 413),
        ("send", {"at": "?" + "x" * LARGEST}, 413),
        ("send", {"at": "https://elsewhere.example/"}, 422),
        ("send", {"at": "?notes=1"}, 422),
        ("send", {"at": 3}, 422),
        ("send", {"to": "?tab=race"}, 422),
        ("send", [], 422),
        ("keep", {"on": "yes"}, 422),
        ("show", {"lesson": "99-none", "step": 1}, 422),
        ("enter", {"code": ["A"]}, 422),
    ],
)
def test_what_is_too_large_or_no_push_is_refused_with_a_sentence(
    held: str, room: Room, name: str, body: Any, status: int
) -> None:
    before = room.told(leads=False)
    with entered(held, key=room.members.key) as instructor:
        reply = instructor.post(f"{ROOM}/{name}", content=json.dumps(body), headers=JSON)
        assert reply.status_code == status and len(reply.text) > 20
    assert room.told(leads=False) == before
    assert LARGEST < MAX_BODY


def test_runs_belong_to_the_class(held: str, room: Room) -> None:
    """Over the API that programs use: by the cookie alone."""
    asked = {"prompt": "The tower", "stack": "table@id=order6", "preset": "toy", "max_new_tokens": 8}

    def said(client: httpx.Client) -> str:
        call = client.post("/gradio_api/call/v2/run_stack", json=asked).json()["event_id"]
        return client.get(f"/gradio_api/call/run_stack/{call}").text

    with httpx.Client(base_url=held, timeout=60) as stranger:
        assert "enter the code of the room first" in said(stranger)
    with entered(held, code=room.members.code) as learner:
        assert "event: complete" in said(learner)
    with entered(held, key=room.members.key) as instructor:
        assert "event: complete" in said(instructor)
