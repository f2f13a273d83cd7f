"""The one public endpoint: run a stack, get its text, totals and trace."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import gradio as gr
from gradio import events as gr_events

from app.play import Play
from app.settings import DEFAULTS, RequestError, check_ids, parse
from hsd_core.metrics import Meter
from hsd_core.trace import Commit, Footer, Piece
from hsd_core.trace_json import to_dict


def add(play: Play) -> None:
    """Add `/run_stack` to the Blocks that is open; it shares the model's queue with the page."""

    def run_stack(
        prompt: str,
        stack: str,
        preset: str,
        temperature: float = DEFAULTS["temperature"],
        top_k: int = DEFAULTS["top_k"],
        top_p: float = DEFAULTS["top_p"],
        seed: int = DEFAULTS["seed"],
        max_new_tokens: int = DEFAULTS["max_new_tokens"],
        replan: bool = DEFAULTS["replan"],
    ) -> dict[str, Any]:
        """Run a stack of drafters and verifiers on a prompt.

        Args:
            prompt: what to write about, at most 8000 characters.
            stack: cheapest level first, the target last, e.g. "ngram:4,int8:8,target".
            preset: which weights, e.g. "smollm2".
            temperature: 0 is greedy.
            top_k: keep the k likeliest tokens; 0 keeps all.
            top_p: keep the smallest set of tokens with this much probability.
            seed: the same seed gives the same run.
            max_new_tokens: at most 512.
            replan: choose which levels of the stack run, and their T, anew while generating.
        Returns:
            text, totals (metrics and footer) and trace (a list of events).
        """
        asked = {
            "run": str(uuid.uuid4()), "prompt": prompt, "stack": stack, "preset": preset, "temperature": temperature,
            "top_k": top_k, "top_p": top_p, "seed": seed, "max_new_tokens": max_new_tokens, "baseline": False,
            "replan": replan,
        }  # fmt: skip
        run = play.runs.announce(str(asked["run"]))  # so that visitors who wait see it before them
        run.stage = "running"
        try:
            request = parse(asked)
            check_ids(request, play.catalogue())
            workbench = play.loader.opening(request.preset, None, []).result()
            events = list(request.start(workbench))
        except (RequestError, ValueError) as error:
            raise gr.Error(str(error), print_exception=False) from error
        finally:
            run.stage = "done"
        return _answer(events)

    gr_events.api(run_stack, api_name="run_stack", concurrency_id="model", concurrency_limit=1)


def _answer(events: list[Any]) -> dict[str, Any]:
    meter = Meter()
    pieces: dict[int, bytes] = {}
    text = bytearray()
    totals: dict[str, Any] = {}
    for event in events:
        meter.feed(event)
        if isinstance(event, Piece):
            pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, Commit):
            text += b"".join(pieces.get(token.id, b"") for token in event.tokens)
        elif isinstance(event, Footer):
            totals = to_dict(event)
    return {
        "text": text.decode("utf-8", errors="replace"),
        "totals": {**meter.snapshot(), "footer": totals},
        "trace": [to_dict(event) for event in events],
    }
