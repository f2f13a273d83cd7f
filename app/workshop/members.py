"""Who is in the room: browsers, each known by a random token of its own, and nothing else of them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.words.room import workshop as says

LETTERS = "ABCDEFGHJKMNPQRTUVWXY34679"  # none that is easily taken for another
CODE_LENGTH = 5  # 12 million codes: at the speed that wrong guesses are slowed down to, months of them
MOST_MEMBERS = 500  # learners' browsers
OF_AN_ADDRESS = 200  # of them: several classes behind one address, and never the whole room
MOST_LEADING = 20  # browsers with the key
AWAY_S = 60.0  # a page that was not heard of for so long has gone: its seat falls free, its votes do not count
HERE_S = 35.0  # so long it counts as here: it asks for news every 25 s


class NotLetIn(Exception):
    """Who asks does not come in, or may not do this. status: of the answer; retry: seconds to wait, 0 for none."""

    def __init__(self, status: int, message: str, retry: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.retry = status, retry


@dataclass(slots=True)
class Member:
    """A browser and its seat.

    leads: it came with the instructor's key; address: it came from; seen: when it was last heard of (s); listened: when
    a page of it last asked for news (s); answered: it has answered a question.
    """

    leads: bool
    address: str
    seen: float
    listened: float = field(default=float("-inf"))
    answered: bool = False


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
        self._pace = EntryPace(clock)

    def saved(self) -> dict[str, Any]:
        """What makes them the same members in another process: the secrets, and who holds which seat."""
        seats = {token: (one.leads, one.address, one.answered) for token, one in self._members.items()}
        return {"code": self.code, "key": self.key, "seats": seats}

    def restore(self, code: str, key: str, seats: Mapping[str, tuple[bool, str, bool]]) -> None:
        """Take up what was `saved`; everybody was heard of now."""
        self.code, self.key, now = code, key, self._clock()
        for token, (leads, address, answered) in seats.items():
            self._members[token] = Member(leads, address, now, answered=answered)

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

    def listens(self, token: str) -> Member | None:
        """As `of`, for a page that asks for news."""
        member = self.of(token)
        if member is not None:
            member.listened = member.seen
        return member

    def has_page(self, token: str) -> bool:
        """Whether a page of this browser has asked for news lately."""
        member = self._members.get(token)
        return member is not None and self._clock() - member.listened < AWAY_S

    def enter(self, guess: str, address: str, *, leads: bool, token: str = "") -> str:
        """The token of a browser that comes in by the code, or by the key.

        The right key lets in at any time: it cannot be guessed, and no learner can use up the instructor's seats.

        Args:
            address: that it came from. token: that it has already, "" for none; it keeps its seat.
        Raises:
            NotLetIn: it guessed wrong, or has to wait before the next guess, or there is no seat.
        """
        slowed = self._slowed[leads]
        right = hmac.compare_digest(*(one.encode() for one in self._compared(guess, leads)))
        if not (leads and right) and (wait := slowed.wait(address)):
            raise NotLetIn(429, says.slow_down(wait), wait)
        if not right:
            slowed.was_wrong(address)
            raise NotLetIn(403, says.WRONG_KEY if leads else says.WRONG_CODE)
        if (member := self.of(token)) is not None and member.leads >= leads:
            return token
        if leads:
            self._free_a_leading_seat()
        else:
            self._find_seat(address)
        token = secrets.token_urlsafe(18)
        self._members[token] = Member(leads, address, self._clock())
        return token

    def _compared(self, guess: str, leads: bool) -> tuple[str, str]:
        return (guess, self.key) if leads else (guess.strip().upper(), self.code)

    def _find_seat(self, address: str) -> None:
        """Raises NotLetIn where a learner's browser finds no seat, or comes too soon after others of its address."""
        if wait := self._pace.wait(address):
            raise NotLetIn(429, says.too_many_enter(wait), wait)
        seats = [(name, one) for name, one in self._members.items() if not one.leads]
        near = [(name, one) for name, one in seats if one.address == address]
        if len(near) >= OF_AN_ADDRESS:
            self._free_a_seat(near)
        elif len(seats) >= MOST_MEMBERS:
            self._free_a_seat(seats)
        self._pace.entered(address)

    def _free_a_seat(self, seats: list[tuple[str, Member]]) -> None:
        name, oldest = min(seats, key=lambda one: one[1].seen)
        if self._clock() - oldest.seen < AWAY_S:
            raise NotLetIn(503, says.FULL, AWAY_S)
        del self._members[name]

    def _free_a_leading_seat(self) -> None:
        leading = [(name, one) for name, one in self._members.items() if one.leads]
        if len(leading) >= MOST_LEADING:
            del self._members[min(leading, key=lambda one: one[1].seen)[0]]


# ---- What is slowed down: wrong guesses of each address and of all together, and how fast an address enters


FREE = 8  # wrong guesses of one address before it has to wait: a class behind one address mistypes too
FREE_OF_ALL = 60
LONGEST_WAIT_S = 30.0
HALF_LIFE_S = 600.0  # after which a wrong guess counts half
ADDRESSES = 2000  # that are remembered
EVERYBODY = ""
AT_ONCE = 80  # browsers of one address that enter without a wait: a class behind one address comes together
A_MINUTE = 30  # of one address after those


@dataclass(slots=True)
class _Guessed:
    """Wrong guesses, as they counted at a time (s), and until when none is heard."""

    wrong: float = 0.0
    when: float = 0.0
    until: float = 0.0


class SlowedGuesses:
    """Wrong guesses of one secret. After `FREE` of them an address waits 2, 4, 8, ... s before each next one; after
    `FREE_OF_ALL`, so does everybody.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[str, _Guessed] = {EVERYBODY: _Guessed()}

    def wait(self, address: str) -> float:
        """Seconds until a guess from there is heard; 0 if it is now. Until then not even a right one is."""
        now = self._clock()
        return max(0.0, *(self._known[one].until - now for one in (EVERYBODY, address) if one in self._known))

    def was_wrong(self, address: str) -> None:
        """A guess that was heard was wrong."""
        now = self._clock()
        if address not in self._known and len(self._known) >= ADDRESSES:
            oldest = min((one for one in self._known if one), key=lambda one: self._known[one].when)
            del self._known[oldest]
        for one, free in ((EVERYBODY, FREE_OF_ALL), (address, FREE)):
            known = self._known.setdefault(one, _Guessed(when=now))
            known.wrong = known.wrong * 0.5 ** ((now - known.when) / HALF_LIFE_S) + 1
            known.when = now
            if (beyond := known.wrong - free) > 0:
                known.until = now + min(LONGEST_WAIT_S, 2.0 ** min(beyond, 10.0))


class EntryPace:
    """A token bucket for each address: `AT_ONCE` entries, refilled by `A_MINUTE`.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}  # entries, and when they were counted (s)

    def wait(self, address: str) -> float:
        """Seconds until a browser from there may enter; 0 if it may now."""
        return max(0.0, 1.0 - self._of(address)) * 60 / A_MINUTE

    def entered(self, address: str) -> None:
        """A browser from there has entered."""
        left = self._of(address) - 1.0
        self._left.pop(address, None)
        if len(self._left) >= ADDRESSES:
            del self._left[next(iter(self._left))]  # the one that has entered least lately
        self._left[address] = (left, self._clock())

    def _of(self, address: str) -> float:
        left, when = self._left.get(address, (float(AT_ONCE), self._clock()))
        return min(float(AT_ONCE), left + (self._clock() - when) * A_MINUTE / 60)
