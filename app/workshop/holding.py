"""Holding a class: its room before the page starts, and what the terminal says once it listens."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from app.kit.static import ASSETS
from app.kit.supervised import NOWHERE, Kept
from app.serve.door.proxied import Public
from app.tabs.learn.lessons import Lessons
from app.words.room import workshop as says
from app.workshop.lan import page_addresses
from app.workshop.room import Room
from app.workshop.tallies import questions_of

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
