"""The wire: events become the JSON payloads that the page's Stage component applies.

A payload is `{"run", "from", "ev", "final", "status"}`; `ev` holds records as `hsd_core.export.records` makes them.
"""

from __future__ import annotations

import math
from typing import Any

from hsd_core.trace.typed import encode


def status(mode: str, text: str, *, title: str = "", detail: str = "", **more: Any) -> dict[str, Any]:
    """What the title bar says. `mode`: live | recorded | loading | waiting | error | idle."""
    return {"mode": mode, "text": text, "title": title, "detail": detail, **more}


def seconds(value: float) -> str:
    """An estimated time in words, rounded up: seconds in steps of five, from 90 s on minutes."""
    return f"about {5 * max(1, math.ceil(value / 5))} s" if value < 90 else f"about {math.ceil(value / 60)} min"


def payload(run: str, start: int, ev: list[dict[str, Any]], final: bool, state: dict[str, Any]) -> dict[str, Any]:
    """Records `start`.. of a run; `final` payloads hold them all (start = 0)."""
    return {"run": run, "from": start, "ev": ev, "final": final, "status": state}


def dumps(value: Any) -> str:
    """Compact JSON; a string crosses Gradio's diffing and the browser's state proxies at a fraction of the cost."""
    return encode(value).decode()
