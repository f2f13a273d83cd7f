"""What is slowed down: wrong guesses of each address and of all together, and how fast an address enters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
