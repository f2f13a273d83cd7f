"""The engines by name, as an operator chooses one."""

from __future__ import annotations

import sys
from typing import Any

from app.serve.engines.inline import InlineEngine
from app.serve.engines.offered import hello_of
from app.serve.engines.process import ProcessEngine
from app.serve.jobs import Engine
from app.serve.offer import ServerOffer, loader_for

ENGINES = ("process", "inline")
PROCESS = "app.engine_process"  # what is started


def engine_for(name: str, pipeline: Any, offer: ServerOffer) -> Engine:
    """An engine that visitors are served by; it is not started yet.

    Args:
        name: of `ENGINES`.
        pipeline: the class that opens presets in this process. offer: what visitors may load.
    """
    loader = loader_for(pipeline, offer)
    if name == "inline":
        return InlineEngine(loader)
    return ProcessEngine([sys.executable, "-m", PROCESS], hello_of(offer), loader.lacks)
