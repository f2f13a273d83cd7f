"""The Stage: one `gr.HTML` component that owns the first screen and keeps its own DOM.

The HTML template is fixed and holds no placeholder: text that reached one would be evaluated as JavaScript by
Gradio's template engine. Everything a visitor wrote or a model said travels as JSON in `value` and is put into the
page by `textContent`. Going up, the page triggers `generate` and `figures`; small questions use server functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from app.kit.payload import dumps
from app.kit.static import PAGE_JS, files
from app.words import page as says

_MOUNT = """
const root = PAGE;
import(root + "%(route)s/js/tabs/explore/mount.js")
  .then((module) => module.mount(element, {props, trigger, watch, call: server}))
  .catch((error) => {
    element.textContent = %(failed)s + error;
    document.getElementById("hx-first")?.remove();
  });
// events: "generate" "figures"
""".replace("PAGE", PAGE_JS)


class Stage(gr.HTML):
    """The first screen. `value` is a payload (see `app.kit.payload`), `setup` what the page needs to know once.

    Args:
        value: the payload of the recording that is shown first, or None for the empty state.
        setup: catalogue, recordings, examples and limits; plain JSON types.
        server_functions: callables of one JSON argument that the page may call without the queue.
    """

    def __init__(
        self,
        value: dict[str, Any] | None = None,
        *,
        setup: dict[str, Any] | None = None,
        server_functions: Sequence[Callable[..., Any]] = (),
        **options: Any,
    ) -> None:
        options.pop("html_template", None)
        options.pop("js_on_load", None)
        super().__init__(
            value=value,
            html_template='<div class="hx-root"></div>',
            js_on_load=_MOUNT % {"route": files().route, "failed": dumps(says.NO_PAGE_SCRIPT)},
            apply_default_css=False,
            server_functions=list(server_functions),
            elem_id="stage",
            setup=dumps(setup or {}),
            **options,
        )

    def postprocess(self, value: dict[str, Any] | None) -> str:  # type: ignore[override]
        """A payload as one JSON string."""
        return "" if value is None else dumps(value)

    def preprocess(self, payload: str | None) -> str | None:
        return payload

    def api_info(self) -> dict[str, Any]:
        return {"type": "string"}
