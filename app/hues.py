"""The page's colours as the figures have them: light and dark, by kind of level; the same as assets/css/base.css."""

from __future__ import annotations

# Okabe-Ito.
HUES: dict[str, tuple[str, str]] = {
    "ngram": ("#E69F00", "#F2B84B"),
    "nano": ("#56B4E9", "#7CC8F2"),
    "draft": ("#56B4E9", "#7CC8F2"),
    "table": ("#E3D524", "#F0E442"),
    "exit": ("#009E73", "#35C79C"),
    "int8": ("#CC79A7", "#E3A3C6"),
    "int4": ("#CC79A7", "#E3A3C6"),
    "model": ("#E3D524", "#F0E442"),
    "target": ("#0072B2", "#5AB0E6"),
    "reject": ("#D55E00", "#FF8A3D"),
}
INK = ("#1B1F24", "#E8EAED")
MUTED = ("#5C6570", "#A3ABB5")
LINE = ("#E1E4E8", "#363C44")
PAPER = ("#FFFFFF", "#171A1F")
SOFT = ("#EEF0F3", "#252A31")
# Levels of one kind, as in assets/js/kinds.js: how much of the hue, mixed with what.
SHADES = ((1.0, "ink"), (0.62, "ink"), (0.6, "paper"), (0.42, "ink"))


def mix(one: str, other: str, share: float) -> str:
    """`share` of one colour in the other."""
    parts = zip(_rgb(one), _rgb(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in parts)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
