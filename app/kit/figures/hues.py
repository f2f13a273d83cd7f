"""The page's colours as its figures have them, light and dark: its own as in base.css, and those of kinds of level."""

from __future__ import annotations

from collections.abc import Sequence

from hsd_core.grammar import drawn_as
from hsd_core.grammar.kind import REJECT, SHADES

INK = ("#1B1F24", "#E8EAED")
MUTED = ("#5C6570", "#A3ABB5")
LINE = ("#E1E4E8", "#363C44")
PAPER = ("#FFFFFF", "#171A1F")
SOFT = ("#EEF0F3", "#252A31")
MARK = ("#E69F00", "#F2B84B")


def hue(kind: str, dark: bool) -> str:
    """The colour of a kind of level, or of a "reject", on the light or the dark page."""
    colour = REJECT if kind == "reject" else drawn_as(kind).look.colour
    return colour.dark if dark else colour.light


def shaded(kinds: Sequence[str], place: int, dark: bool) -> str:
    """The colour of a level among others: those of one letter differ by their shade, in order."""
    nth = sum(drawn_as(kind).look.letter == drawn_as(kinds[place]).look.letter for kind in kinds[:place])
    share, towards = SHADES[nth % len(SHADES)]
    return mix(hue(kinds[place], dark), INK[dark] if towards == "ink" else PAPER[dark], share)


def mix(one: str, other: str, share: float) -> str:
    """`share` of one colour in the other."""
    parts = zip(_rgb(one), _rgb(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in parts)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
