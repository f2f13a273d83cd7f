"""The price of a text that is not its target's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hsd_core.core.events import Commit, Event, Header, Report
from hsd_core.core.events.parts import check_lengths
from hsd_core.core.notes import Note
from hsd_core.typed import Int


class Price(Note, frozen=True):
    """The target's reading of a finished text, by itself: one entry for each committed token.

    choices: its likeliest token there, given the text before; the committed one at a near tie. nats: the surprise of
    the committed token, -log p at temperature 1. spared: how many tokens an exact rule would not have kept; when
    sampling, by the coins of the verdicts, and where a rule throws none by their expectation. plain: mean nats of plain
    decoding's text for the same prompt and seed, None if that was not written.
    """

    choices: tuple[Int, ...]
    nats: tuple[float, ...]
    spared: float
    plain: float | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "choices", "nats")

    def ids(self) -> Iterable[Iterable[int]]:
        return (self.choices,)

    def figures(self) -> Mapping[str, float]:
        """`spared`: tokens that are not the target's own choice; `surprise`, `plain_surprise`: mean nats a token of
        this text and of plain decoding's."""
        own = {"spared": self.spared, "surprise": sum(self.nats) / len(self.nats)} if self.nats else {}
        return own if self.plain is None else {**own, "plain_surprise": self.plain}


def check_prices(events: Sequence[Event], header: Header) -> Iterable[str]:
    """A price has an entry for each token of the text, and does not count more than there are."""
    committed = sum(len(event.tokens) for event in events if isinstance(event, Commit))
    for i, event in enumerate(events):
        note = Price.of(event) if isinstance(event, Report) else None
        if note is not None and (len(note.nats) != committed or not 0 <= note.spared <= committed):
            yield f"event {i} (report): a price of {note.spared} of {len(note.nats)} tokens, of a text of {committed}"


def lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """The terminal's line on a text's price."""
    if (spared := figures.get("spared")) is not None and figures["committed"]:
        plain = figures.get("plain_surprise")
        beside = "" if plain is None else f"; of plain decoding's text {plain:.2f}"
        yield (
            f"price: {spared:.3g} of {figures['committed']} tokens ({spared / figures['committed']:.1%}) are not the "
            f"target's own choice; its mean surprise {figures['surprise']:.2f} nats a token{beside}"
        )


NOTES = (Price,)
CHECKS = (check_prices,)
