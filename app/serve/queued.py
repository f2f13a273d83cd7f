"""What a component's event asks of the engine: one handler for runs, races and measurements alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import gradio as gr

from app.kit.mounted import asked as sent
from app.kit.payload import payload, status
from app.serve.engine import Payload, W
from app.serve.jobs import Job
from app.serve.service import Service
from app.serve.settings import RequestError, whole_text


def queued(view: Any, event: str, service: Service, ask: Callable[[Any], Awaitable[W]], job: Job[W]) -> None:
    """Have the engine do what an event of a component asks for, when its turn has come; its payloads go there.

    Args:
        view: the component; its Blocks is open. event: the name of its event.
        ask: what is asked for, from what the page sends; raises RequestError where it cannot be done.
        job: that it is.
    """

    async def handled(given: gr.EventData, request: gr.Request) -> AsyncGenerator[Payload, None]:
        data = sent(given)
        try:
            asked = await ask(data)
        except RequestError as error:
            name = whole_text(str(data.get("run", "") if isinstance(data, dict) else "")[:64])
            yield payload(name, 0, [], True, status("error", str(error)))
            return
        async with aclosing(service.serve(job, asked, service.visitor(request))) as payloads:
            async for item in payloads:
                yield item

    handled.__name__ = event  # as Gradio calls it
    getattr(view, event)(
        handled,
        outputs=[view],
        concurrency_limit=None,  # the line before the engine is our own
        show_progress="hidden",
        api_visibility="private",
    )
