"""The room over HTTP: `GET now` waits for news, `GET answers` is the instructor's, a few small POSTs do the rest.

Who asks is known by a cookie alone.

Answers that are held back instead of a stream: each is whole, so that a browser that slept, or lost its network, asks
again and is where the class is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.kit.supervised import NOWHERE, Kept
from app.serve.door.proxied import Public
from app.tabs.learn.lessons import Lessons
from app.words.room import workshop as says
from app.workshop.lan import page_addresses
from app.workshop.members import NotLetIn
from app.workshop.room import LONGEST, Room
from app.workshop.tallies import questions_of
from hsd_core.typed import Malformed, Wrong, convert, plain
from hsd_core.typed.program_files import ASSETS

ROOM = f"{ROUTE}/room"
COOKIE = "hx-room"
LARGEST = LONGEST + 500  # bytes of a body

Secret = Annotated[str, Meta(max_length=100)]


class Enter(Struct, forbid_unknown_fields=True):
    """By the room's code, or the instructor's key."""

    code: Secret = ""
    key: Secret = ""


class Send(Struct, forbid_unknown_fields=True):
    at: str


class Keep(Struct, forbid_unknown_fields=True):
    on: bool


class Show(Struct, forbid_unknown_fields=True):
    """No lesson: nothing is shown."""

    lesson: Annotated[str, Meta(max_length=80)] = ""
    step: int = 0


class Answer(Struct, forbid_unknown_fields=True):
    lesson: Annotated[str, Meta(max_length=80)]
    step: int
    answer: int | float


class Nothing(Struct, forbid_unknown_fields=True):
    pass


def room_routes(room: Room) -> list[Route]:
    """What browsers of a class ask for, below `ROOM`."""

    async def now(request: Request) -> Response:
        try:
            version = request.query_params.get("seen", "")[:40]
            return _json(await room.news(_token(request), version))
        except NotLetIn as refusal:
            return _refused(refusal)

    async def answers(request: Request) -> Response:
        try:
            _lead(request)
        except NotLetIn as refusal:
            return _refused(refusal)
        return _json({"answers": room.given()})

    async def enter(request: Request, asked: Enter) -> Response:
        leads = bool(asked.key)
        where = request.client.host if request.client else ""
        token = room.members.enter(asked.key or asked.code, where, leads=leads, token=_token(request))
        reply = _json({"leads": leads})
        reply.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https")
        return reply

    async def send(request: Request, asked: Send) -> Response:
        _lead(request)
        room.send(asked.at)
        return _json({"sent": True})

    async def free(request: Request, _: Nothing) -> Response:
        _lead(request)
        room.free()
        return _json({"free": True})

    async def keep(request: Request, asked: Keep) -> Response:
        _lead(request)
        room.keep(asked.on)
        return _json({"keeps": asked.on})

    async def show(request: Request, asked: Show) -> Response:
        _lead(request)
        room.show((asked.lesson, asked.step) if asked.lesson else None)
        return _json({"shown": bool(asked.lesson)})

    async def answer(request: Request, asked: Answer) -> Response:
        counted = room.answer(_token(request), (asked.lesson, asked.step), asked.answer)
        return _json({"counted": counted})

    def _lead(request: Request) -> None:
        if not room.leads(_token(request)):
            raise NotLetIn(403, says.NOT_LEADING)

    posts: list[tuple[str, type[Struct], Callable[..., Any]]] = [
        ("enter", Enter, enter),
        ("send", Send, send),
        ("free", Nothing, free),
        ("keep", Keep, keep),
        ("show", Show, show),
        ("answer", Answer, answer),
    ]
    return [
        Route(f"{ROOM}/now", now, methods=["GET"]),
        Route(f"{ROOM}/answers", answers, methods=["GET"]),
        *(Route(f"{ROOM}/{name}", _post(kind, does, room), methods=["POST"]) for name, kind, does in posts),
    ]


def _post(kind: type[Struct], does: Callable[..., Any], room: Room) -> Callable[[Request], Any]:
    async def posted(request: Request) -> Response:
        body = await request.body()
        if len(body) > LARGEST:
            return _json({"error": says.too_long(LONGEST)}, 413)
        try:
            answer: Response = await does(request, convert(plain(body), kind))
        except NotLetIn as refusal:
            return _refused(refusal)
        except (Malformed, Wrong):
            return _json({"error": says.NO_FIELDS}, 422)
        except ValueError as error:
            return _json({"error": str(error)}, 422)
        room.save_soon()
        return answer

    return posted


def _token(request: Request) -> str:
    return request.cookies.get(COOKIE, "")


def _refused(refusal: NotLetIn) -> Response:
    reply = _json({"error": str(refusal), "retry": refusal.retry}, refusal.status)
    if refusal.retry:
        reply.headers["retry-after"] = str(max(1, round(refusal.retry)))
    return reply


def _json(value: Any, status: int = 200) -> Response:
    return Response(
        dumps(value), status_code=status, media_type="application/json", headers={"cache-control": "no-store"}
    )


# ---- Holding a class: its room before the page starts, and what the terminal says once it listens


LOOP = ("http://127.", "http://localhost", "http://[::1]")
FILES = 4096  # that may be open: a browser holds up to six connections


def new_room(lessons: Path = ASSETS / "lessons", kept: Kept = NOWHERE) -> Room:
    """The room of a class over these lessons; a predecessor's, where one was kept."""
    _more_files()
    return Room(questions_of(Lessons(lessons).found), kept=kept)


def announce(room: Room, host: str, port: int, public: Public = Public()) -> None:  # noqa: B008  # frozen
    """Print the way into the room, the instructor's key this once.

    Args:
        host, port: on which the page listens. public: where a proxy serves it.
    """
    addresses = [f"{public.address}/"] if public.origin else page_addresses(host, port)
    room.address = addresses[0]
    print(says.opened(room.members.code, room.members.key, addresses), flush=True)
    if addresses[0].startswith(LOOP):
        print(says.this_machine_only(addresses[0]), file=sys.stderr, flush=True)


def _more_files() -> None:
    """Systems whose processes may open 256 files by default allow more to those that ask."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        own, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
        if own != resource.RLIM_INFINITY and own < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
