"""The figures of runs, the last drawings kept: a recording's are asked for again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from app.kit.figures.panels import draw
from hsd_core.core.events import Event

KEPT = 24


class Drawings:
    """Used by one request at a time: they wait their turn where they come in (`checked`)."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()

    def of(self, run: str, events: Callable[[], Sequence[Event]], *, size: int, **look: bool) -> list[Any]:
        """What fills the panels of `figures.build`. `size`: tells a run that has grown from what was drawn of it;
        `look`: as `figures.draw` takes it."""
        key = (run, size, *sorted(look.items()))
        if key not in self._kept:
            self._kept[key] = _named(run, draw(events(), **look))
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]


def _named(run: str, parts: list[Any]) -> list[Any]:
    """The notes say whose figures they are, so that the page shows none beside another run."""
    return [{**part, "run": run} if isinstance(part, dict) and "columns" in part else part for part in parts]
