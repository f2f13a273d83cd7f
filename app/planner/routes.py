"""What the Planner tab asks of the server: the profiles there are, the answer for one, and plotly's own script.

Every answer is worked out from the request alone. Only the last few plans are kept, by their questions: a page asks for
the numbers first and for the figures of the same plans right after.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import plotly
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.payload import dumps
from app.planner.answer import Planned, answer, planned
from app.planner.request import LOOK, MAX_BODY, Asked, Look, PlannerError, look, parse, read
from app.planner.sources import Sources
from app.static import ASSETS, ROUTE

SOURCES = f"{ROUTE}/planner/sources"
ANSWER = f"{ROUTE}/planner/answer"
PLOTLY = f"{ROUTE}/lib/plotly.min.js"
KEPT = 4  # plans
AT_ONCE = 2  # answers worked out side by side: they are short, and the machine has other things to do
WAITING = 12  # more than these are sent away: a page asks again when its slider moves


def routes(
    profiles: Path = ASSETS / "profiles", measured: Callable[[], list[dict[str, Any]]] | None = None
) -> list[BaseRoute]:
    """The tab's routes.

    Args:
        profiles: folder of the profiles and validations that are shipped.
        measured: gives the profiles measured on this machine, as `Sources` wants them; None looks into the cache.
    """
    sources = Sources(profiles, measured)
    limiter: list[CapacityLimiter] = []

    def work(question: str, drawn: Look) -> dict[str, Any]:
        asked, plans = _plans(question)
        return answer(plans, drawn, sources.validation(asked) if drawn.figures else None)

    async def listed(_: Request) -> Response:
        return _json(await to_thread.run_sync(sources.listing))

    async def answered(request: Request) -> Response:
        try:
            data = json.loads(await _body(request), parse_constant=_no_constant)
            if isinstance(data, dict) and data.get("check") is True:
                return _json({"profile": read(data.get("profile")).as_dict()})
            question, drawn = _split(data)
        except PlannerError as error:
            return _refusal(error)
        except (ValueError, RecursionError):
            return _refusal(PlannerError("the request is no JSON; reload the page and try again"))
        if not limiter:
            limiter.append(CapacityLimiter(AT_ONCE))  # belongs to the loop that serves
        if limiter[0].statistics().tasks_waiting >= WAITING:
            return _refusal(PlannerError("others are planning; try again in a moment"))
        try:
            return _json(await to_thread.run_sync(lambda: work(question, drawn), limiter=limiter[0]))
        except PlannerError as error:
            return _refusal(error)

    return [
        Route(SOURCES, listed, methods=["GET"]),
        Route(ANSWER, answered, methods=["POST"]),
        Route(PLOTLY, _script(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"), methods=["GET"]),
    ]


def _split(data: Any) -> tuple[str, Look]:
    """A question as text, and how its answer is drawn."""
    if not isinstance(data, dict):
        raise PlannerError("the request is empty; reload the page and try again")
    drawn = look(data)
    return json.dumps({name: value for name, value in data.items() if name not in LOOK}, sort_keys=True), drawn


@lru_cache(maxsize=KEPT)
def _plans(question: str) -> tuple[Asked, Planned]:
    asked = parse(json.loads(question))
    return asked, planned(asked)


def _no_constant(name: str) -> float:
    raise PlannerError(f"the profile holds {name}; a browser could not read the answer")


def _script(path: Path) -> Callable[[Request], Awaitable[Response]]:
    """One large script, packed at its first use and then only confirmed by its tag."""
    packed: list[tuple[bytes, str]] = []

    def pack() -> None:
        data = gzip.compress(path.read_bytes(), 6)
        packed.append((data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'))

    async def served(request: Request) -> Response:
        if not packed:
            await to_thread.run_sync(pack)
        data, tag = packed[0]
        headers = {"etag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(data), media_type="text/javascript")
        return Response(data, media_type="text/javascript", headers={**headers, "content-encoding": "gzip"})

    return served


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise PlannerError(f"the profile is larger than {MAX_BODY // 1000} kB; leave out what is not needed")
    return bytes(body)


def _json(value: Any, status: int = 200) -> Response:
    return Response(dumps(value), status_code=status, media_type="application/json")


def _refusal(error: PlannerError) -> Response:
    return _json({"error": str(error), "field": error.field}, 422)
