"""What is lost without each sublayer of a model, as `python -m hsd_core sets` found it: a picture on a card."""

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
    """An attention or an MLP, and the share of the target's own tokens that it chooses without that."""

    kind: Literal["attention", "mlp"]
    layer: Layer
    agree: Share


class Step(Sublayer):
    """One more left out: agreement without all so far, the share of weights that is left, the speed-up at best."""

    left: Share
    speed_up: Annotated[float, Meta(ge=0.0, le=1e6)]


class Ladder(Struct):
    """See `hsd_core.systems.skip.searching.search`; `answer` says what it comes to."""

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
    """The ladder of that name in plain types, for a card; None where it is none, which the log says."""
    path = folder / f"{name}.json"
    try:
        found = convert(plain(files.read_bytes(path, LARGEST)), Ladder)
    except (ValueError, OSError) as error:
        log.warning("the ladder %s is passed over: %s", path.name, error)
        return None
    shown: dict[str, Any] = builtins(found)
    return shown
