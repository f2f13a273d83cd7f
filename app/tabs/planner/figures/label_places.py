"""Where the names of dots stand in a plot: beside their dots, where no name covers another name or a dot."""

from __future__ import annotations

from collections.abc import Sequence

# Plotly's names of the places, in the order in which they are tried: a name is read best beside its dot.
_PLACES = [(row, side) for row in ("middle", "top", "bottom") for side in ("right", "left", "center")]
PLACES = tuple(" ".join(place) for place in _PLACES if place != ("middle", "center"))
_WIDE, _HIGH = 0.6, 1.3  # of a letter and of a line, in sizes of type
_Box = tuple[float, float, float, float]  # left, top, right, bottom


def label_places(
    dots: Sequence[tuple[float, float]], names: Sequence[str], *, size: float, dot: float, plot: tuple[float, float]
) -> list[str]:
    """The place of each name, one of `PLACES`.

    Args:
        dots: in px of the plot, from its top left corner.
        names: of the dots.
        size: of the type, in px. dot: of a dot, in px.
        plot: its width and height, in px, which no name leaves if it can.
    """
    taken = [_around(x, y, dot, dot) for x, y in dots]
    chosen = []
    for (x, y), name in zip(dots, names, strict=True):
        wide, high = _WIDE * size * (len(name) + 1), _HIGH * size
        boxes = {place: _placed(place, x, y, wide, high, dot) for place in PLACES}
        own = _around(x, y, dot, dot)
        others = [box for box in taken if box != own]
        best = min(PLACES, key=lambda place: (_cost(boxes[place], others, plot), PLACES.index(place)))
        taken.append(boxes[best])
        chosen.append(best)
    return chosen


def _placed(place: str, x: float, y: float, wide: float, high: float, dot: float) -> _Box:
    row, column = place.split()
    away = 0.5 * (dot + wide) if row == "middle" else 0.5 * wide
    x += {"left": -away, "center": 0.0, "right": away}[column]
    y += {"top": -1.0, "middle": 0.0, "bottom": 1.0}[row] * 0.5 * (dot + high)
    return _around(x, y, wide, high)


def _around(x: float, y: float, wide: float, high: float) -> _Box:
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _cost(box: _Box, others: Sequence[_Box], plot: tuple[float, float]) -> float:
    """The px² that a name would share with others, or have outside the plot."""
    inside = _shared(box, (0.0, 0.0, *plot))
    return sum(_shared(box, other) for other in others) + (box[2] - box[0]) * (box[3] - box[1]) - inside


def _shared(a: _Box, b: _Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
