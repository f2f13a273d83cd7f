"""The one public endpoint: run a stack, get its text, totals and trace."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio import events as gr_events

from app.serve.line.known_runs import FIGURES
from app.serve.live_run import RUN
from app.serve.offer import meant
from app.serve.service import Service
from app.serve.settings import DEFAULTS, RequestError, check, parse
from hsd_core.trace import Commit, Footer, Piece
from hsd_core.trace.codec import from_dict
from hsd_core.trace.metrics import Meter


def add(service: Service, catalogue: Callable[[], list[dict[str, Any]]]) -> None:
    """Add `/run_stack` to the Blocks that is open; it stands in one line with the page's runs.

    Args:
        catalogue: gives every preset and its levels, as `check` wants them.
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
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Run a stack of drafters and verifiers on a prompt.

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
        Returns:
            text, totals (metrics and footer) and trace (a list of events).
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
            asked = meant(parse(given), known)
            check(asked, known)
        except RequestError as error:
            raise gr.Error(str(error), print_exception=False) from error
        last: dict[str, Any] = {}
        whole: dict[str, Any] = {}
        async with aclosing(service.serve(RUN, asked, service.visitor(request))) as payloads:
            async for last in payloads:
                whole = last if last["final"] and last["ev"] else whole
        if last["status"]["mode"] != "live" or not whole:
            raise gr.Error(last["status"]["text"], print_exception=False)
        return await asyncio.to_thread(_answer, whole["ev"])

    gr_events.api(run_stack, api_name="run_stack", concurrency_limit=None)


def _answer(records: list[dict[str, Any]]) -> dict[str, Any]:
    trace = [record for record in records if record["event"] not in FIGURES]
    meter = Meter()
    pieces: dict[int, bytes] = {}
    text = bytearray()
    for event in map(from_dict, trace):
        meter.feed(event)
        if isinstance(event, Piece):
            pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, Commit):
            text += b"".join(pieces.get(token.id, b"") for token in event.tokens)
    footer = next((record for record in trace if record["event"] == Footer.event), {})
    return {
        "text": text.decode("utf-8", errors="replace"),
        "totals": {**meter.snapshot(), "footer": footer},
        "trace": trace,
    }
