"""The text that a what-if run writes: a passage of our own, one word a token."""

from __future__ import annotations

import re

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
