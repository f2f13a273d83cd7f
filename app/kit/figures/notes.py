"""Title, description and data table of a figure: JSON in, `textContent` out (a trace's labels may be anyone's text)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from app.kit.payload import dumps
from app.kit.static import PAGE_JS, files

_MOUNT = """
const root = PAGE;
import(root + "%(route)s/js/shared/plots/notes.js")
  .then((module) => module.mount(element, {props, watch}));
""".replace("PAGE", PAGE_JS)


class Notes(gr.HTML):
    """`part`: "head" shows title and description, "table" the folded data table."""

    def __init__(self, value: dict[str, Any] | None = None, *, part: str = "head", **options: Any) -> None:
        options.pop("html_template", None)
        options.pop("js_on_load", None)
        super().__init__(
            value=value,
            html_template="<div></div>",
            js_on_load=_MOUNT % {"route": files().route},
            apply_default_css=False,
            part=part,
            **options,
        )

    def postprocess(self, value: dict[str, Any] | None) -> str:  # type: ignore[override]
        return "" if value is None else dumps(value)

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}


def note(title: str, text: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The value of a `Notes`."""
    return {"title": title, "text": text, "columns": list(columns), "rows": [list(row) for row in rows]}
