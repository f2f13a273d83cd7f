"""What the Planner tab asks of the server: the profiles there are, the answer for one, and plotly's own script.

Every answer is worked out from the request and the shipped validations alone. What one visitor may have worked out is
bounded: how large a question may be (`profiles.request`), how long it may take (`desk`, in a process of its own:
`worker`) and how many may wait (`turns`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any

import plotly
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.kit.faults import bare
from app.kit.packed import PackedBody
from app.kit.payload import dumps
from app.kit.static import ROUTE
from app.serve.line.turns import visitor
from app.tabs.planner import words as says
from app.tabs.planner.desk import Answers, key_of
from app.tabs.planner.planning_turns import PlanTurns
from app.tabs.planner.price import LONGEST, parse
from app.tabs.planner.profiles.engine_outputs import MAX_OUTPUT, MAX_REQUEST, outputs
from app.tabs.planner.profiles.plan_request import LOOK, MAX_BODY, Look, PlannerError, look
from app.tabs.planner.profiles.sources import Sources
from app.tabs.planner.worker import QUESTIONS, Worker
from hsd_core.grammar.stack_text import faults
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import preset_option, unread_preset
from hsd_core.theory.profiles.profile_store import planning_origin
from hsd_core.typed.program_files import ASSETS

SOURCES = f"{ROUTE}/planner/sources"
ANSWER = f"{ROUTE}/planner/answer"
PRICE = f"{ROUTE}/planner/price"
ANOTHER = f"{ROUTE}/planner/another"
BROUGHT = {one.NAME: f"{ROUTE}/planner/{one.NAME}" for one in QUESTIONS}  # by name
LENGTHS = f"{ROUTE}/planner/lengths"
DOCTOR = f"{ROUTE}/planner/doctor"
ORIGIN = f"{ROUTE}/planner/origin"
FAULTS = f"{ROUTE}/planner/faults"
PLOTLY = f"{ROUTE}/lib/plotly.min.js"
PROFILE_TOO_LARGE = says.profile_too_large(MAX_BODY // 1000)


def routes(
    profiles: Path = ASSETS / "profiles",
    measured: Callable[[], list[dict[str, Any]]] | None = None,
    target: Callable[[str], str] = lambda name: "",
    dtype: str | None = None,
) -> list[BaseRoute]:
    """The tab's routes.

    Args:
        profiles: folder of the profiles and validations that are shipped.
        measured: gives the profiles measured on this machine, as `Sources` wants them; None looks into the cache.
        target: of a preset's name, as `price.parse` wants it. dtype: of all targets here; None for each preset's own.
    """
    sources, turns, answers = Sources(profiles, measured), PlanTurns(), Answers()
    worker = Worker(profiles)

    async def listed(request: Request) -> Response:
        await to_thread.run_sync(worker.start)  # the tab was opened, and its first question follows
        return await to_thread.run_sync(lambda: _packed(request, dumps(sources.listing())))

    async def origin(request: Request) -> Response:
        """What a run of ?preset=&device=&temperature= would plan with, as `planning_origin` says it."""
        preset, device = (request.query_params.get(name, "") for name in ("preset", "device"))
        try:
            temperature = float(request.query_params.get("temperature", 0.0))
        except ValueError:
            temperature = 0.0
        over = target(preset)
        if not (over or preset in PRESETS) or device not in ("", "cpu", "cuda"):
            return _refusal(PlannerError(says.no_preset(preset[:80], device[:20]), "preset"))
        asked = unread_preset(over) if over else preset
        found = await to_thread.run_sync(lambda: planning_origin(asked, device or None, temperature, dtype))
        return _json(dumps({**found, "option": preset_option(preset)}))

    async def judged(request: Request) -> Response:
        """What speaks against the levels of ?stack=, as the grammar says it."""
        text = request.query_params.get("stack", "")
        if len(text) > LONGEST:
            return _refusal(PlannerError(says.which_stacks(LONGEST), "stack"))
        return _json(dumps({"faults": [fault._asdict() for fault in faults(text)]}))

    async def reply(
        request: Request, work: Callable[[Any], Awaitable[str]], most: int = MAX_BODY, large: str = PROFILE_TOO_LARGE
    ) -> Response:
        """What is worked out of the JSON of a request, or what is wrong with it."""
        try:
            body = await _body(request, most, large)
            return _packed(request, await work(json.loads(body, parse_constant=_no_constant)))
        except PlannerError as error:
            return _refusal(error)
        except (ValueError, RecursionError):
            return _refusal(PlannerError(says.NOT_JSON))

    async def known(request: Request, key: Hashable, make: Callable[[], str]) -> str:
        text = answers.get(key)
        if text is None:
            text = await turns.work(visitor(request), make)
            answers.put(key, text)
        return text

    async def answered(request: Request) -> Response:
        async def work(data: Any) -> str:
            if isinstance(data, dict) and data.get("check") is True:
                return await turns.work(visitor(request), lambda: worker.check(data.get("profile")))
            question, drawn = _split(data)
            return await known(request, key_of(question, drawn, sources.stamp()), lambda: worker.work(question, drawn))

        return await reply(request, work)

    def asked_of_profile(name: str, make: Callable[[str], str]) -> Callable[[Request], Awaitable[Response]]:
        """A question about the profile of a request; its answer is no picture."""

        async def answered(request: Request) -> Response:
            async def work(data: Any) -> str:
                question, _ = _split(data)
                key = (name, key_of(question, Look(figures=frozenset()), ()))
                return await known(request, key, lambda: make(question))

            return await reply(request, work)

        return answered

    async def priced(request: Request) -> Response:
        """What each of some stacks would cost here; see `price`."""

        async def work(data: Any) -> str:
            asked = parse(data, target, dtype)
            return await turns.work(visitor(request), lambda: worker.price(asked))

        return await reply(request, work)

    async def lengths(request: Request) -> Response:
        """What passes and stacks take by the length of the text; see `length_tables`."""
        try:
            key = ("lengths", await to_thread.run_sync(sources.lengths_stamp))
            return _json(await known(request, key, worker.lengths))
        except PlannerError as error:
            return _refusal(error)

    async def doctored(request: Request) -> Response:
        """What another engine's output says of its speculation; see `outputs`."""

        async def work(data: Any) -> str:
            asked = outputs(data)
            return await turns.work(visitor(request), lambda: worker.doctor(asked))

        return await reply(request, work, MAX_REQUEST, says.outputs_too_large(MAX_OUTPUT // 1_000_000))

    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return [
        Route(SOURCES, listed, methods=["GET"]),
        Route(ORIGIN, origin, methods=["GET"]),
        Route(FAULTS, judged, methods=["GET"]),
        Route(ANSWER, answered, methods=["POST"]),
        Route(ANOTHER, asked_of_profile("another", worker.another), methods=["POST"]),
        *(
            Route(path, asked_of_profile(name, partial(worker.brought, name)), methods=["POST"])
            for name, path in BROUGHT.items()
        ),
        Route(LENGTHS, lengths, methods=["GET"]),
        Route(PRICE, priced, methods=["POST"]),
        Route(DOCTOR, doctored, methods=["POST"]),
        Route(PLOTLY, PackedBody(script.read_bytes, "text/javascript").__call__, methods=["GET"]),
    ]


def _split(data: Any) -> tuple[str, Look]:
    """A question as text, and how its answer is drawn."""
    if not isinstance(data, dict):
        raise PlannerError(says.EMPTY_REQUEST)
    drawn = look(data)
    return json.dumps({name: value for name, value in data.items() if name not in LOOK}, sort_keys=True), drawn


def _no_constant(name: str) -> float:
    raise PlannerError(says.no_number(name))


async def _body(request: Request, most: int, large: str) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise PlannerError(large)
    return bytes(body)


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status_code=status, media_type="application/json")


def _packed(request: Request, text: str) -> Response:
    """JSON, compressed where that is taken."""
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return _json(text)
    packed = {"content-encoding": "gzip", "vary": "accept-encoding"}
    return Response(gzip.compress(text.encode(), 6, mtime=0), media_type="application/json", headers=packed)


def _refusal(error: PlannerError) -> Response:
    return _json(dumps({"error": bare(str(error)), "field": error.field}), 422)
