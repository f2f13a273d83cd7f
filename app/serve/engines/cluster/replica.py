"""One engine of several: an actor of the cluster, which works for one run at a time.

It speaks the protocol that the engine's process speaks (`engines.messages`): it is given a packed `Begin`, and what it
yields are packed messages of that run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any

from app.serve.engine import Job
from app.serve.engines.attending import AttendedRun, hangs, sent
from app.serve.engines.inline import InlineEngine
from app.serve.engines.messages import Begin, Hello, Over, from_page, offer_of, pack
from app.serve.offer import loader_for
from app.words import engine as says
from hsd_core.typed import decode_message

ASK_S = 0.5  # how often the desk is asked whether a run is still wanted
ANSWER_S = 10.0  # a desk that does not answer for so long is gone, and nobody hears the run


class Replica:
    """
    Args:
        pipeline: the class that opens presets. jobs: what may be asked for, by name.
        hello: the packed first word of the page, which says what the operator offers.
    """

    def __init__(self, pipeline: Any, jobs: Mapping[str, Job[Any]], hello: bytes) -> None:
        said = from_page(hello)
        assert isinstance(said, Hello)
        self._engine = InlineEngine(loader_for(pipeline, offer_of(said)))
        self._jobs = jobs
        self._run: AttendedRun | None = None

    async def work(self, asked: bytes, key: str, desk: Any) -> AsyncGenerator[bytes, None]:
        """What a run tells, until it is over.

        Args:
            asked: a packed `Begin`. key: by which the desk knows the run.
            desk: a handle of the desk, which says whether the run is still wanted.
        """
        begin = from_page(asked)
        assert isinstance(begin, Begin)
        job = self._jobs[begin.job]
        request = decode_message(begin.request, job.request)
        run = self._run = AttendedRun(begin.run)
        asking = asyncio.create_task(_ends_unwanted(run, key, desk))
        try:
            async with aclosing(self._engine.work(job, request, run)) as payloads:
                async for item in payloads:
                    yield pack(sent(run, item))
            yield pack(Over(run.name, "begin"))
        finally:
            asking.cancel()
            run.stop()
            self._run = None

    def check_health(self) -> None:
        """Asked by the cluster, which starts another in its place where this raises.

        Raises:
            RuntimeError: its run has made no step for too long.
        """
        run = self._run
        if run is not None and hangs(run.still, run.longest):
            raise RuntimeError(says.HANGS)


async def _ends_unwanted(run: AttendedRun, key: str, desk: Any) -> None:
    """Stop a run at its next forward once nobody wants it. The cluster has no way to tell that a stream was left."""
    wanted = True
    while wanted:
        await asyncio.sleep(ASK_S)
        wanted = False
        with suppress(Exception):  # whatever keeps the desk from answering
            wanted = await asyncio.wait_for(desk.wanted.remote(key), ANSWER_S)
    run.stop()
