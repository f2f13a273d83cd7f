"""D_c, the context-dependent database: n-grams of the prompt and the committed output, of one run.

HD stores every 5-gram under its first token, with at most 7 continuations per key and the least recently used dropped
first. Here keys have 1 to `max_key` tokens (the longest known suffix wins), and a continuation is a *position* in the
run's text; continuations of one key differ in their first token. So adding a token takes `max_key` dictionary
operations, a continuation that is read later has grown with the text, and no n-gram is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hsd_core.models.suffixes import SuffixIndex


class ContextDatabase:
    """
    Args:
        min_key, max_key: lengths of keys.
        continuation: the most tokens of one lookup (HD: 4).
        max_continuations: kept per key (HD: 7); an insert of a known one makes it the newest, a full key drops the
            oldest.
    """

    def __init__(
        self, *, min_key: int = 1, max_key: int = 3, continuation: int = 4, max_continuations: int = 7
    ) -> None:
        self.min_key, self.max_key = min_key, max_key
        self.continuation, self.max_continuations = continuation, max_continuations
        self._index = SuffixIndex(min_key, max_key, max_continuations)

    def __len__(self) -> int:
        """Tokens inserted so far."""
        return len(self._index.text)

    @property
    def inserts(self) -> int:
        """Continuations added so far."""
        return self._index.filed

    @property
    def evictions(self) -> int:
        """Continuations dropped for newer ones of their key."""
        return self._index.evictions

    def insert(self, ids: Sequence[int]) -> None:
        """Append tokens to the text, and add the n-grams that end in them."""
        for token in ids:
            self._index.add(token)

    def continuations(self, key: Sequence[int]) -> list[tuple[int, ...]]:
        """What followed a key, newest first."""
        return [tuple(self._at(place, self.continuation)) for place in reversed(self._index.behind(key))]

    def found(self, tail: Sequence[int], limit: int) -> Iterator[tuple[Sequence[int], int, int]]:
        """All continuations of all known suffixes of `tail`: longer suffixes first, then newer continuations.

        Yields:
            At most `limit` tokens, their position in the text, and the length of the key.
        """
        for length in range(min(self.max_key, len(tail)), self.min_key - 1, -1):
            for place in reversed(self._index.behind(tail[-length:])):
                yield self._at(place, min(limit, self.continuation)), place, length

    def _at(self, place: int, limit: int) -> Sequence[int]:
        return self._index.text[place : place + limit]
