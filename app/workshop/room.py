"""The room: what was sent to all screens, whose answers are counted, and what each browser is told of it."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from app.kit.supervised import NOWHERE, Kept
from app.words.room import workshop as says
from app.workshop.members import Members, NotLetIn
from app.workshop.tallies import Question, Tallies
from hsd_core.typed import decode, encode, json_decoder

PATIENCE_S = 25.0  # an answer is held back for so long where there is no news: proxies wait 30 s and more
SAVE_S = 1.0  # changes of the room are kept together
_FILE = "room"
MOST_HELD = 6  # answers held back for one browser, whose pages share its token


class SavedRoom(Struct):
    """A room, for the process that follows where this one dies."""

    code: str
    key: str
    seats: dict[str, tuple[bool, str, bool]]
    answers: list[tuple[str, int, dict[str, float]]]
    sent: dict[str, Any] | None
    led: bool
    keeps: bool
    shown: Question | None


_SAVED = json_decoder(SavedRoom)


class Room:
    """One per server; its methods belong to the server's event loop.

    Args:
        questions: of the lessons, as `tallies.questions_of` gives them.
        clock: in seconds. kept: where the room outlives this process, and that of a predecessor is found.
    """

    def __init__(
        self,
        questions: Mapping[Question, int | None],
        *,
        clock: Callable[[], float] = time.monotonic,
        kept: Kept = NOWHERE,
    ) -> None:
        self.members = Members(clock)
        self.address = ""  # of the page in this machine's network, which learners are told
        self._tallies = Tallies(questions)
        self._news = {leads: News() for leads in (False, True)}
        self._held: Counter[str] = Counter()
        self._sent: dict[str, Any] | None = None  # its address, and how many were sent before it
        self._led = self._keeps = False
        self._shown: Question | None = None
        self._kept, self._saving = kept, False
        if data := kept.get(_FILE):
            with suppress(ValueError):  # a damaged one ends no class a second time
                self._restore(decode(data, _SAVED))

    def save_soon(self) -> None:
        """Something changed that is to outlive this process: kept in a moment, with what else changes until then."""
        if not self._saving:
            self._saving = True
            asyncio.get_running_loop().call_later(SAVE_S, self._save)

    def _save(self) -> None:
        self._saving = False
        own = {"sent": self._sent, "led": self._led, "keeps": self._keeps, "shown": self._shown}
        self._kept.put(_FILE, encode({**self.members.saved(), "answers": self._tallies.saved(), **own}))

    def _restore(self, saved: SavedRoom) -> None:
        self.members.restore(saved.code, saved.key, saved.seats)
        self._tallies.restore(saved.answers)
        self._sent, self._led, self._keeps = saved.sent, saved.led, saved.keeps
        self._shown = saved.shown if saved.shown and self._tallies.knows(saved.shown) else None

    def person(self, token: str) -> str:
        """Whose a browser's runs and questions are: its token, "" for none of the room."""
        return token if self.members.of(token) else ""

    def leads(self, token: str) -> bool:
        """Whether a browser is the instructor's."""
        member = self.members.of(token)
        return member is not None and member.leads

    def answered(self, token: str) -> bool:
        """Whether a browser has answered a question."""
        member = self.members.of(token)
        return member is not None and member.answered

    async def news(self, token: str, version: str) -> dict[str, Any]:
        """What a browser is told, once that is more than it knows by its `version`, or after a while.

        Raises:
            NotLetIn: it is not in the room, or waits already as often as it may.
        """
        member = self.members.listens(token)
        if member is None:
            raise NotLetIn(403, says.NOT_IN)
        if self._held[token] >= MOST_HELD:
            raise NotLetIn(429, says.TOO_MANY_HELD, 5.0)
        if not self._held[token]:
            self._news[True].soon()  # how many are here may have changed
        self._held[token] += 1
        try:
            await self._news[member.leads].after(version, PATIENCE_S)
        finally:
            self._held[token] -= 1
            self._held += Counter()  # forgets who has none
        self.members.listens(token)
        return self.told(leads=member.leads)

    def told(self, *, leads: bool) -> dict[str, Any]:
        """What learners are told: the address that was `sent` with its number, whether they are `led` there, and the
        `bars` that are shown to them. The instructor: also the code, this machine's address, how many are here, all
        tallies, which is shown, and whether screens are kept with what is opened next."""
        said: dict[str, Any] = {
            "version": self._news[leads].version,
            "leads": leads,
            "sent": self._sent,
            "led": self._led,
            "bars": self._tallies.counted(self._shown) if self._shown else None,
        }
        if not leads:
            return said
        own = {"code": self.members.code, "address": self.address, "here": self.members.here}
        return {**said, **own, "keeps": self._keeps, "tallies": self._tallies.all()}

    def given(self) -> list[dict[str, Any]]:
        """All answers, question by question, for the instructor."""
        return self._tallies.given()

    def send(self, address: str) -> None:
        """Lead all screens to an address of the page.

        Raises:
            NotSent: it cannot be sent.
        """
        number = self._sent["number"] + 1 if self._sent else 1
        self._sent = {"at": checked(address), "number": number}
        self._led, self._shown = True, None
        self._tell()

    def free(self) -> None:
        """Screens stay where they are, and may be used at will; what was sent last is remembered."""
        self._led = self._keeps = False
        self._tell()

    def keep(self, on: bool) -> None:
        """Whether what the instructor opens next is sent by itself."""
        self._keeps = on
        self._news[True].now()

    def show(self, question: Question | None) -> None:
        """Show the bars of a question to everybody, or none.

        Raises:
            ValueError: there is no such question.
        """
        if question is not None and not self._tallies.knows(question):
            raise ValueError(says.NO_QUESTION)
        self._shown = question
        self._tell()

    def answer(self, token: str, question: Question, answer: float) -> bool:
        """Count a learner's answer; whether it was counted: the first of each browser is, and none of the instructor's.

        Raises:
            ValueError: there is no such question, or this is no answer to it.
            NotLetIn: the browser is not in the room, or no page of it is open, as where a script has many cookies.
        """
        member = self.members.of(token)
        if member is None:
            raise NotLetIn(403, says.NOT_IN)
        if member.leads:
            return False
        if not self.members.has_page(token):
            raise NotLetIn(403, says.NO_PAGE)
        if not self._tallies.take(token, question, answer):
            return False
        member.answered = True
        self._news[True].soon()
        if question == self._shown:
            self._news[False].soon()
        return True

    def _tell(self) -> None:
        for news in self._news.values():
            news.now()


# ---- News that browsers wait for: a version, and who is woken when it changes. Belongs to one event loop


SOON_S = 0.5  # so long small news are gathered: sixty answers in a few seconds wake everybody a few times, not sixty


class News:
    """Versions are compared for equality alone: after a restart of the server none of before is of now."""

    def __init__(self) -> None:
        self._room, self._number = secrets.token_hex(4), 0
        self._changed = asyncio.Event()
        self._gathering: asyncio.TimerHandle | None = None

    @property
    def version(self) -> str:
        return f"{self._room}.{self._number}"

    def now(self) -> None:
        """Something changed that everybody is to know at once."""
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        self._number += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def soon(self) -> None:
        """Something changed that may wait for more of its kind."""
        if self._gathering is None:
            self._gathering = asyncio.get_running_loop().call_later(SOON_S, self.now)

    async def after(self, version: str, patience: float) -> None:
        """Returns once there is another version than this one, or after so many seconds."""
        if version != self.version:
            return
        try:
            await asyncio.wait_for(self._changed.wait(), patience)
        except asyncio.TimeoutError:
            return


# ---- What may be sent to all screens: an address of the page, as its links have it, and nothing else


LONGEST = 32_500  # characters; a link that holds a whole run has 32,000
OWN_SCREEN = frozenset(("room", "workshop", "notes", "present", "embed", "story", "scene"))  # parameters of one screen
_ADDRESS = re.compile(r"\?[A-Za-z0-9*._+&=%-]*(#run=[A-Za-z0-9._-]+)?")  # as browsers write parameters


class NotSent(ValueError):
    """What was to be sent is no address of the page; the message names the cure."""


def checked(address: str) -> str:
    """The address, if it can be sent.

    Raises:
        NotSent: it is too long, leads elsewhere, or sets what belongs to one screen.
    """
    if len(address) > LONGEST:
        raise NotSent(says.too_long(LONGEST))
    if not _ADDRESS.fullmatch(address):
        raise NotSent(says.NO_ADDRESS)
    for name, _ in parse_qsl(address[1:].partition("#")[0], keep_blank_values=True):
        if name in OWN_SCREEN or name.startswith("__"):
            raise NotSent(says.not_sent(name[:40]))
    return address
