"""What every level says after every prefix: a function of the seed, nothing drawn on the way.

The target says a passage of our own, one word a token. A level below says what the next one up in the plan says with
the probability a of that pair, else another word; the coin depends on the whole prefix, as a greedy model's choice
does, so that the same prefix gives the same word and another one a fresh coin. Each pair that meets in the plan thus
agrees exactly as often as the profile says, independently from token to token: the i.i.d. world of Globerson et al.
2025 (arXiv 2510.19705). Pairs that do not meet in the plan are never compared by the engine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice

PROMPT = "What does a tower of models do while it writes?"
_PASSAGE = (
    "No model wrote these words. They were laid down beforehand, so that a tower which nobody could build has "
    "something to say. Each level either says the next word as the level above it would, or says another one, and"
    " a coin decides which; how the coin is weighted stands in the table of acceptances, where anyone may change "
    "it. The lowest level goes first, because it is quick. It offers a few words, one after another, and hands "
    "them up the stairs. The level above reads them all in one pass. It keeps those that it would have said "
    "itself, strikes out the first that it would not, and puts its own word there. What lay behind that word is "
    "lost, however good it was. When enough words are gathered, they go up once more, to a reader who is larger "
    "and slower and harder to please. On the roof stands the target. Whatever it signs is written down for good, "
    "and nothing else ever is. So the text comes out the same from every tower; only the hours differ. Watch "
    "where they go. If the lower levels are often right, the roof signs many words at a time and seldom has to "
    "look. If they are often wrong, the roof is kept waiting for drafts that it throws away, and it would be "
    "better off alone. A floor in between earns its keep when it costs little and catches much: it stops bad "
    "words early, before they trouble the roof. Take it out and see. Make it dearer, make it wiser, give it "
    "longer blocks, and count again. The clock beside this text is reckoned, not measured, but the rule by which "
    "it runs is the one that real towers obey."
)


class Words:
    """The passage and its prompt as ids: what the recorder and the levels read. A word's space stands before it."""

    def __init__(self) -> None:
        said, asked = _split(f" {_PASSAGE}"), _split(PROMPT)
        pieces = list(dict.fromkeys(said))
        self.spoken = len(pieces)  # ids below it may be said; the others stand in the prompt only
        pieces += [piece for piece in dict.fromkeys(asked) if piece not in pieces]
        self._pieces = pieces
        ids = {piece: i for i, piece in enumerate(pieces)}
        self.passage = tuple(ids[piece] for piece in said)
        self.prompt = tuple(ids[piece] for piece in asked)
        self.vocab_size = len(pieces)

    def piece(self, id_: int) -> bytes:
        return self._pieces[id_].encode()

    def is_special(self, id_: int) -> bool:
        return False


def _split(text: str) -> list[str]:
    return re.findall(r"\s*\S+", text)


_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15  # 2^64 / golden ratio


class World:
    """The choices of the levels of one plan.

    Args:
        passage: ids that the target says, from its first word again when it ends. spoken: ids below it may be said.
        agrees[place]: probability that the level at a place of the plan says what the one above it says, one for each
            level below the target. salts: what tells the levels' coins apart, the same for a level in every plan.
    """

    def __init__(
        self, passage: Sequence[int], spoken: int, agrees: Sequence[float], salts: Sequence[int], prompt: int, seed: int
    ) -> None:
        self._passage, self._spoken, self._prompt = passage, spoken, prompt
        self._agrees, self._salts = agrees, salts
        self.root = _mix(seed & _MASK)

    def says(self, place: int, mark: int, length: int) -> int:
        """The word of the level at a place, after a prefix of `length` ids whose mark this is."""
        word = self._passage[max(0, length - self._prompt) % len(self._passage)]
        for below in range(len(self._agrees) - 1, place - 1, -1):
            if self.coin(mark, below) >= self._agrees[below]:
                other = _mix(mark ^ _mix(2 * self._salts[below] + 2)) % (self._spoken - 1)
                word = (word + 1 + other) % self._spoken
        return word

    def others(self, said: Collection[int], coin: float, count: int) -> list[int]:
        """So many words that were not said, fewer where there are no more."""
        first = int(coin * self._spoken)
        rest = ((first + step) % self._spoken for step in range(self._spoken))
        return list(islice((word for word in rest if word not in said), count))

    def coin(self, mark: int, place: int, use: int = 0) -> float:
        """A uniform number from 0 to 1 (never 1) of the level at a place after a prefix; each use has its own."""
        return (_mix(mark ^ _mix(2 * self._salts[place] + 1 + (use << 32))) >> 11) / (1 << 53)


class Marks:
    """A number for every prefix of a context, kept from one call to the next as far as the context is the same."""

    def __init__(self, root: int) -> None:
        self._ids: list[int] = []
        self._marks = [root]

    def of(self, context: Sequence[int]) -> list[int]:
        """The marks of the first 0, 1, ..., len(context) ids; not to be changed."""
        known = min(len(self._ids), len(context))
        if self._ids[:known] != list(context[:known]):
            known = next(i for i in range(known) if self._ids[i] != context[i])
        del self._ids[known:], self._marks[known + 1 :]
        for id_ in context[known:]:
            self._ids.append(id_)
            self._marks.append(after(self._marks[-1], id_))
        return self._marks


def after(mark: int, id_: int) -> int:
    """The mark of a prefix with one more id."""
    return _mix((mark + (id_ + 1) * _STEP) & _MASK)


def _mix(x: int) -> int:
    """The finalizer of SplitMix64 (Steele et al. 2014): every bit of the result depends on every bit of x."""
    x = (x + _STEP) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)
