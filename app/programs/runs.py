"""`run_stack` and `compare`: work for the engine, told as it goes."""

from __future__ import annotations

import asyncio
import base64
import codecs
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import gradio as gr

from app.serve.engine import RUN
from app.serve.line.known_runs import FIGURES
from app.serve.offer import meant
from app.serve.service import Service
from app.serve.settings import DEFAULTS, MAX_PROMPT, RequestError, check, parse
from app.tabs.race.live import RACE
from app.tabs.race.race_request import asked_for
from hsd_core.core.events import Commit, Footer, Header, Piece
from hsd_core.trace.codec import from_dict
from hsd_core.trace.metrics import Meter

Catalogue = Callable[[], list[dict[str, Any]]]
Endpoint = Callable[..., Any]


def running(service: Service, catalogue: Catalogue, longest: int = MAX_PROMPT) -> Endpoint:
    """The endpoint that runs a stack; it stands in one line with the page's runs.

    Args:
        catalogue: gives every preset and its levels, as `check` wants them. longest: characters of a prompt.
    """

    async def run_stack(
        prompt: str,
        stack: str,
        preset: str,
        temperature: float = DEFAULTS["temperature"],
        top_k: int = DEFAULTS["top_k"],
        top_p: float = DEFAULTS["top_p"],
        seed: int = DEFAULTS["seed"],
        max_new_tokens: int = DEFAULTS["max_new_tokens"],
        replan: bool = DEFAULTS["replan"],
        trace: bool = False,
        request: gr.Request | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Run a stack of drafters and verifiers on a prompt, and tell its text as it is written.

        Args:
            prompt: what to write about, at most 8000 characters.
            stack: cheapest level first, the target last, e.g. "ngram:4,int8:8,target".
            preset: which weights, e.g. "smollm2", or a target of this server.
            temperature: 0 is greedy.
            top_k: keep the k likeliest tokens; 0 keeps all.
            top_p: keep the smallest set of tokens with this much probability.
            seed: the same seed gives the same run.
            max_new_tokens: at most 512.
            replan: choose which levels of the stack run, and their T, again while generating.
            trace: give all events at the end, some hundred kB of them.
        Returns:
            text so far, totals (metrics and footer), status (in words) and done; trace, a list of events, where asked.
        """
        given = {
            "run": str(uuid.uuid4()),
            "prompt": prompt,
            "stack": stack,
            "preset": preset,
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "seed": seed,
            "max_new_tokens": max_new_tokens,
            "baseline": False,
            "replan": replan,
        }
        try:
            known = catalogue()
            asked = meant(parse(given, longest), known)
            check(asked, known)
        except RequestError as error:
            raise refused(error) from error
        written, state, told = Written(), dict[str, Any](), None
        async with aclosing(service.serve(RUN, asked, service.visitor(request))) as payloads:
            async for item in payloads:
                state = item["status"]
                if item["ev"]:
                    await asyncio.to_thread(written.feed, item["from"], item["ev"])
                if not item["final"] and told != (told := (written.text, state["text"])):
                    yield written.answer(state["text"])
        if state["mode"] != "live":
            raise refused(state["text"])
        yield written.answer(_ended(state), done=True, trace=trace)

    return run_stack


def comparing(service: Service, catalogue: Catalogue) -> Endpoint:
    """The endpoint that races stacks against each other. Arguments as of `running`."""

    async def compare(
        prompt: str,
        stacks: list[str],
        preset: str,
        temperature: float = DEFAULTS["temperature"],
        seed: int = DEFAULTS["seed"],
        max_new_tokens: int = 64,
        repeats: int = 1,
        trace: bool = False,
        request: gr.Request | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Race two to four stacks over one prompt and seed: they take turns, a round each, and are timed separately.

        Args:
            prompt: what to write about, at most 8000 characters.
            stacks: e.g. ["target", "ngram:5,target", "ngram:3,int8:6,target"]; speed-ups are over the first one.
            preset: which weights, e.g. "smollm2".
            temperature: 0 is greedy.
            seed: of every lane.
            max_new_tokens: of each lane, at most 128.
            repeats: at most 5; from two on, speed-ups have an interval.
            trace: give all events of each lane at the end.
        Returns:
            status (in words), done, and at the end lanes: stack, clock (empty, or whose times are not measured in
            turn), text, tokens_per_s, place (null on a reckoned clock), speed_up, interval, totals, and same (how its
            text compares with the first lane's; null where chance draws each text).
        """
        given = {
            "run": str(uuid.uuid4()),
            "prompt": prompt,
            "stacks": stacks,
            "preset": preset,
            "temperature": temperature,
            "seed": seed,
            "max_new_tokens": max_new_tokens,
            "repeats": repeats,
        }
        try:
            asked = asked_for(given, catalogue())
        except RequestError as error:
            raise refused(error) from error
        state, shown, told = dict[str, Any](), list[dict[str, Any]](), None
        async with aclosing(service.serve(RACE, asked, service.visitor(request))) as payloads:
            async for item in payloads:
                state, shown = item["status"], item["ev"] or shown
                if not item["final"] and told != (told := state["text"]):
                    yield {"status": state["text"], "done": False, "lanes": []}
        if state["mode"] != "live" or not shown:
            raise refused(state["text"])
        lanes = [await asyncio.to_thread(_lane, lane, trace) for lane in shown[0]["lanes"]]
        yield {"status": _ended(state), "done": True, "lanes": lanes}

    return compare


def _ended(state: dict[str, Any]) -> str:
    """How it ended, and which numbers of the request were set to the limits here."""
    return "; ".join(filter(None, (state["text"], state.get("detail", ""))))


def refused(why: object) -> gr.Error:
    """An error that a program is told in words, and that is none of the server's."""
    return gr.Error(str(why), print_exception=False)


def _lane(lane: dict[str, Any], trace: bool) -> dict[str, Any]:
    written = Written()
    written.feed(0, lane["records"])
    row = {name: value for name, value in lane.items() if name != "records"}
    more = {"trace": written.trace} if trace else {}
    return {**row, "text": written.text, "totals": written.totals, **more}


# ---- What a run has written, as programs are told it: text and figures, and the events where they are asked for


Answer = dict[str, Any]


class Written:
    """The text and the figures of a run, fed with its records as they come."""

    def __init__(self) -> None:
        self.trace: list[dict[str, Any]] = []
        self.text, self.stack = "", ""
        self._meter, self._seen = Meter(), 0
        self._pieces: dict[int, bytes] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._footer: dict[str, Any] = {}

    def feed(self, start: int, records: Sequence[dict[str, Any]]) -> None:
        """Records `start`.. of the run; those that were fed before are passed over."""
        fresh = records[max(0, self._seen - start) :]
        self._seen = max(self._seen, start + len(records))
        for record in fresh:
            if record["event"] not in FIGURES:
                self._record(record)

    def answer(self, said: str, *, done: bool = False, trace: bool = False) -> Answer:
        """What a program is told. said: where the run is, in words; trace: with all events."""
        more = {"trace": self.trace} if trace else {}
        return {"text": self.text, "totals": self.totals, "status": said, "done": done, **more}

    @property
    def totals(self) -> dict[str, Any]:
        """The figures by name (`hsd_core.trace.metrics`), and the footer of a run that is over."""
        return {**self._meter.snapshot(), "footer": self._footer}

    def _record(self, record: dict[str, Any]) -> None:
        self.trace.append(record)
        event = from_dict(record)
        self._meter.feed(event)
        if isinstance(event, Piece):
            self._pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, Commit):
            new = b"".join(self._pieces.get(token.id, b"") for token in event.tokens)
            self.text += self._decoder.decode(new)
        elif isinstance(event, Header):
            self.stack = event.stack
        elif isinstance(event, Footer):
            self._footer = record
            self.text += self._decoder.decode(b"", True)
