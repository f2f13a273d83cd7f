"""A component that one of our scripts fills: a tab that keeps its own DOM and takes payloads as its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from app.kit.payload import dumps
from app.kit.static import PAGE_JS, files
from app.words import page as says

_MOUNT = """
const root = PAGE;
import(root + "%(route)s/js/tabs/%(name)s/%(name)s.js")
  .then((module) => module.mount(element, {props, trigger, watch, call: server, root}))
  .catch((error) => { element.textContent = %(failed)s + error; });
// events: %(events)s
""".replace("PAGE", PAGE_JS)


class Mounted(gr.HTML):
    """
    Args:
        name: of the component, and of the folder and file of its script.
        what: a visitor calls it, if not by its name.
        events: that the script triggers.
        setup: what the script needs to know once; plain JSON types.
        server_functions: callables of one JSON argument that the script may call without the queue.
    """

    def __init__(
        self,
        name: str,
        *,
        what: str = "",
        events: Sequence[str] = (),
        setup: dict[str, Any] | None = None,
        server_functions: Sequence[Callable[..., Any]] = (),
    ) -> None:
        said = " ".join(f'"{event}"' for event in events)
        super().__init__(
            value=None,
            html_template=f'<div class="hx-root"><p class="hx-booting">{says.opening(what or name)}</p></div>',
            js_on_load=_MOUNT % {"route": files().route, "name": name, "events": said, "failed": dumps(says.NO_SCRIPT)},
            apply_default_css=False,
            server_functions=list(server_functions),
            elem_id=name,
            setup=dumps(setup or {}),
        )

    def postprocess(self, value: dict[str, Any] | None) -> str:  # type: ignore[override]
        """A payload as one JSON string."""
        return "" if value is None else dumps(value)

    def preprocess(self, payload: str | None) -> str | None:
        return payload

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}
