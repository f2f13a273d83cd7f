"""Who is in the room: browsers, each known by a random token of its own, and nothing else of them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from app.words.room import workshop as says
from app.workshop.slowed import SlowedGuesses

LETTERS = "ABCDEFGHJKMNPQRTUVWXY34679"  # none that is easily taken for another
CODE_LENGTH = 5  # 12 million codes: at the speed that wrong guesses are slowed down to, months of them
MOST_MEMBERS = 500
AWAY_S = 60.0  # after which a browser that was not heard of gives up its place to another
HERE_S = 35.0  # so long it counts as here: it asks for news every 25 s


class NotLetIn(Exception):
    """Who asks does not come in, or may not do this. status: of the answer; retry: seconds to wait, 0 for none."""

    def __init__(self, status: int, message: str, retry: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.retry = status, retry


@dataclass(slots=True)
class Member:
    """A browser. leads: it came with the instructor's key; seen: when it was last heard of (s)."""

    leads: bool
    seen: float


class Members:
    """The room's secrets, and the tokens of those that knew one.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
        self.key = secrets.token_urlsafe(18)
        self._clock = clock
        self._members: dict[str, Member] = {}
        # Apart, so that learners who mistype the code do not keep the instructor out.
        self._slowed = {False: SlowedGuesses(clock), True: SlowedGuesses(clock)}

    @property
    def here(self) -> int:
        """How many learners' browsers are here."""
        now = self._clock()
        return sum(not one.leads and now - one.seen < HERE_S for one in self._members.values())

    def of(self, token: str) -> Member | None:
        """The browser that has this token; it was heard of now."""
        member = self._members.get(token)
        if member is not None:
            member.seen = self._clock()
        return member

    def enter(self, guess: str, address: str, *, leads: bool) -> str:
        """The token of a browser that comes in by the code, or by the key.

        Args:
            address: that it came from.
        Raises:
            NotLetIn: it guessed wrong, or has to wait before the next guess, or the room is full.
        """
        slowed = self._slowed[leads]
        if wait := slowed.wait(address):
            raise NotLetIn(429, says.slow_down(wait), wait)
        right = self.key if leads else self.code
        given = guess if leads else guess.strip().upper()
        if not hmac.compare_digest(given.encode(), right.encode()):
            slowed.was_wrong(address)
            raise NotLetIn(403, says.WRONG_KEY if leads else says.WRONG_CODE)
        self._make_room()
        token = secrets.token_urlsafe(18)
        self._members[token] = Member(leads, self._clock())
        return token

    def _make_room(self) -> None:
        if len(self._members) < MOST_MEMBERS:
            return
        name, oldest = min(self._members.items(), key=lambda one: (one[1].leads, one[1].seen))
        if oldest.leads or self._clock() - oldest.seen < AWAY_S:
            raise NotLetIn(503, says.FULL, AWAY_S)
        del self._members[name]
