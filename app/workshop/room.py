"""The room: what was sent to all screens, whose answers are counted, and what each browser is told of it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from app.kit.supervised import NOWHERE, Kept
from app.words.room import workshop as says
from app.workshop.members import Members, NotLetIn
from app.workshop.news import News
from app.workshop.sent import checked
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
