"""How long a target's texts are: what a calibration saw, and what that says of texts under another limit."""

from __future__ import annotations

from hsd_core.theory.profiles.costs import Form, ProfileError
from hsd_core.typed import Int

MOST_TEXTS = 4096


class TextLengths(Form, frozen=True):
    """Of `texts` texts of at most `limit` tokens, those that `ended` by themselves, after so many tokens."""

    limit: Int
    texts: Int
    ended: tuple[Int, ...] = ()

    def __post_init__(self) -> None:
        if not (self.limit >= 1 and 1 <= self.texts <= MOST_TEXTS):
            raise ProfileError(f"lengths has {self.texts} texts of {self.limit} tokens; use 1 to {MOST_TEXTS}, and 1")
        if len(self.ended) > self.texts or any(not 1 <= n <= self.limit for n in self.ended):
            raise ProfileError(
                f"lengths: texts that ended after {list(self.ended)} tokens; use 1 to {self.limit}, one for each of "
                f"{self.texts} texts at most"
            )

    def under(self, limit: int) -> tuple[int, ...]:
        """The tokens of each text under another limit. Beyond its own limit nothing is known: there a text goes on."""
        ended = [min(n, limit) for n in self.ended]
        return (*sorted(ended), *[limit] * (self.texts - len(ended)))
