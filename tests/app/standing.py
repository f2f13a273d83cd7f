"""Runs that stand in line, without a server."""

from __future__ import annotations

import asyncio

from app.serve.line.known_runs import Run, Visitor
from app.serve.line.line import Line


def run(name: str, *, session: str | None = None, address: str = "10.0.0.1", page: bool = True) -> Run:
    return Run(name, Visitor((session or name,), address, page))


async def arrive(line: Line, *runs: Run) -> list[asyncio.Task[None]]:
    """Let runs enter one after another; each task ends when its run's turn has come."""

    async def enter(one: Run) -> None:
        async for _ in line.enter(one):
            pass

    tasks = []
    for one in runs:
        tasks.append(asyncio.ensure_future(enter(one)))
        tasks[-1].add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    return tasks
