"""The engine that an operator has chosen."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from app.serve.engine import Engine
from app.serve.engines.inline import InlineEngine
from app.serve.engines.messages import hello_of
from app.serve.engines.named import AT, INLINE, ONE, RAY, ZEROGPU, Replicas
from app.serve.engines.process import ProcessEngine
from app.serve.engines.spawned import command
from app.serve.offer import ServerOffer, loader_for


def engine_for(name: str, pipeline: Any, offer: ServerOffer, replicas: Replicas = ONE, batch: int = 1) -> Engine:
    """An engine that visitors are served by; it is not started yet.

    Args:
        name: as `check_engine` takes it. replicas: of a cluster. batch: runs whose passes an engine process joins.
        pipeline: the class that opens presets in this process. offer: what visitors may load.
    """
    loader = loader_for(pipeline, offer)
    if name == INLINE:
        return InlineEngine(loader)
    if name == ZEROGPU:
        made: Engine = import_module("app.engine_zerogpu").engine(pipeline, offer)
        return made
    if name.startswith(RAY):
        # What is on this disk says nothing of the cluster's: weights are fetched there, as a part of a run.
        given = ("" if n is None else f"{n:g}" for n in (replicas.cpus, replicas.gpus))
        address = name if name.startswith(AT) else ""
        relayed = [*command("app.engine_cluster"), address, str(replicas.least), str(replicas.most), *given]
        return ProcessEngine(relayed, hello_of(offer), lambda request: False, here=False)
    return ProcessEngine(command("app.engine_process"), hello_of(offer, batch), loader.lacks)
