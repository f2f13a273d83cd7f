"""The wire: events become the JSON payloads that the page's Stage component applies.

A payload is `{"run", "from", "ev", "final", "status"}`; `ev` holds records as `hsd_core.export.run_page` makes them.
"""

from __future__ import annotations

from typing import Any

from app.kit.faults import bare
from hsd_core.typed import encode


def status(mode: str, text: str, *, title: str = "", detail: str = "", **more: Any) -> dict[str, Any]:
    """What the title bar says. `mode`: live | recorded | loading | waiting | error | idle; an error names no folder."""
    return {"mode": mode, "text": bare(text) if mode == "error" else text, "title": title, "detail": detail, **more}


def payload(run: str, start: int, ev: list[dict[str, Any]], final: bool, state: dict[str, Any]) -> dict[str, Any]:
    """Records `start`.. of a run; the last payload of a run is `final`."""
    return {"run": run, "from": start, "ev": ev, "final": final, "status": state}


def dumps(value: Any) -> str:
    """Compact JSON; a string crosses Gradio's diffing and the browser's state proxies at a fraction of the cost."""
    return encode(value).decode()
