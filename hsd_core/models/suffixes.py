"""Earlier occurrences of the end of a text, and the origin of a copied token."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hsd_core.typed import Int


class Copied(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The origin of a token: the same token at `at`, after `alike` tokens that agree, as far as they were compared.
    `share`: the copy's share of the drafted token's raw probability; 1 for a lookup.

    `at` is a position in the context; in a trace it is one in the output (negative: in the prompt, -1 its last token).
    """

    at: Int
    alike: Int
    share: float


class SuffixIndex:
    """A text, and the positions after each of its short substrings, the *keys*.

    Args:
        shortest, longest: tokens of a key.
        kept: the most positions of one key, with different tokens; a new one replaces one with the same token, or the
            oldest. None: all positions are kept, and tokens can be removed from the end.
    """

    def __init__(self, shortest: int, longest: int, kept: int | None = None) -> None:
        self._shortest, self._longest, self._kept = shortest, longest, kept
        self.text: list[int] = []
        self.filed = self.evictions = 0
        self._places: dict[tuple[int, ...], list[int]] = {}  # oldest first

    def behind(self, key: Sequence[int]) -> Sequence[int]:
        """The positions after a key, oldest first."""
        return self._places.get(tuple(key), ())

    def add(self, token: int) -> None:
        """Append a token and file its position under the keys that end before it."""
        text, at = self.text, len(self.text)
        for length in range(self._shortest, min(self._longest, at) + 1):
            places = self._places.setdefault(tuple(text[at - length :]), [])
            if self._kept is not None:
                self._make_room(places, token)
            places.append(at)
            self.filed += 1
        text.append(token)

    def drop(self) -> None:
        """Remove the last token; only if all positions are kept."""
        assert self._kept is None
        text, at = self.text, len(self.text) - 1
        text.pop()
        for length in range(self._shortest, min(self._longest, at) + 1):
            key = tuple(text[at - length :])
            self._places[key].pop()
            if not self._places[key]:
                del self._places[key]

    def _make_room(self, places: list[int], token: int) -> None:
        alike = next((i for i, place in enumerate(places) if self.text[place] == token), None)
        if alike is not None:
            del places[alike]
        elif len(places) == self._kept:
            del places[0]
            self.evictions += 1
