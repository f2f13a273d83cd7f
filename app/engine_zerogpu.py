"""The function that ZeroGPU lends a card to. Imported before torch is, in a Space alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import spaces

from app.engine_process import works
from app.serve.engines.messages import hello_of
from app.serve.engines.zerogpu import ZeroEngine, lent, seconds
from app.serve.offer import ServerOffer, loader_for


def _seconds(hello: bytes, asked: bytes, place: int) -> int:
    return seconds(works()[1], asked)


@spaces.GPU(duration=_seconds)  # type: ignore[untyped-decorator, unused-ignore]
def work(hello: bytes, asked: bytes, place: int) -> Iterator[bytes]:
    """What a run tells; see `lent`."""
    yield from lent(*works(), hello, asked, place)


def engine(pipeline: Any, offer: ServerOffer) -> ZeroEngine:
    """The engine of a Space on ZeroGPU."""
    return ZeroEngine(work, hello_of(offer), loader_for(pipeline, offer))
