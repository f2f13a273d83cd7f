"""The loss without each sublayer of a model, as `python -m hsd_core sets` measured it: a figure on a card."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.typed import builtins, convert, files, plain

LARGEST = 200_000  # bytes of a file
log = logging.getLogger(__name__)

Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Layer = Annotated[int, Meta(ge=0, le=4095)]
Said = Annotated[str, Meta(max_length=400)]


class Sublayer(Struct):
    """An attention or an MLP, and the agreement with the target without it, 0 to 1."""

    kind: Literal["attention", "mlp"]
    layer: Layer
    agree: Share


class Step(Sublayer):
    """One more sublayer left out: the agreement without all so far, the share of weights left, the best speed-up."""

    left: Share
    speed_up: Annotated[float, Meta(ge=0.0, le=1e6)]


class Ladder(Struct):
    """See `hsd_core.systems.skip.search.search`; `answer` is the result in a sentence."""

    preset: Said
    layers: Layer
    places: Annotated[int, Meta(ge=1)]
    texts: Annotated[int, Meta(ge=1)]
    machine: Said
    command: Said
    answer: Said
    alone: Annotated[list[Sublayer], Meta(max_length=8190)]
    path: Annotated[list[Step], Meta(max_length=8190)]


def drawn(folder: Path, name: str) -> dict[str, Any] | None:
    """The ladder of that name in plain types, for a card; None, with a warning in the log, if the file is invalid."""
    path = folder / f"{name}.json"
    try:
        found = convert(plain(files.read_bytes(path, LARGEST)), Ladder)
    except (ValueError, OSError) as error:
        log.warning("the ladder %s is passed over: %s", path.name, error)
        return None
    shown: dict[str, Any] = builtins(found)
    return shown
