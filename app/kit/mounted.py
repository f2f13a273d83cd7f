"""A `gr.HTML` component that one of our scripts fills: it keeps its own DOM and takes payloads as its value.

Its template is fixed and holds no placeholder: Gradio's template engine evaluates what reaches one as JavaScript. What
a visitor wrote or a model said travels as JSON in `value`, and the script shows it by `textContent`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from app.kit.payload import dumps
from app.kit.static import PAGE_JS, files
from app.words import page as says

# A page of another origin shows ours by Gradio's web component, <gradio-app src>, which brings no style sheets of ours.
_MOUNT = """
const shown = element.closest("gradio-app[src]");
const root = shown ? new URL(shown.getAttribute("src"), document.baseURI).href.replace(/\\/+$/, "") : PAGE;
if (shown && !document.querySelector("link.hx-sheets")) {
  const sheets = Object.assign(document.createElement("link"), {
    rel: "stylesheet", href: root + "SHEETS", className: "hx-sheets",
  });
  document.head.append(sheets);
}
import(root + "%(script)s")
  .then((module) => module.mount(element, {
    props, watch, call: server, root, trigger: (event, asked) => trigger(event, {asked}),
  }))
  .catch((error) => {
    element.textContent = %(failed)s + error;
    document.getElementById("hx-first")?.remove();
  });
// events: %(events)s
""".replace("PAGE", PAGE_JS).replace("SHEETS", f"{files().route}/css/first.css")


class Mounted(gr.HTML):
    """
    Args:
        script: path below `assets/js` of the module whose `mount` fills it.
        value: the first payload, None for none; plain JSON types, as all that is sent to it.
        waiting: what it shows until then, "" for nothing.
        events: that the script triggers.
        setup: what the script needs to know once; plain JSON types.
        server_functions: callables of one JSON argument that the script may call without the queue.
        options: of `gr.HTML`, and other props.
    """

    def __init__(
        self,
        script: str,
        value: dict[str, Any] | None = None,
        *,
        waiting: str = "",
        events: Sequence[str] = (),
        setup: dict[str, Any] | None = None,
        server_functions: Sequence[Callable[..., Any]] = (),
        **options: Any,
    ) -> None:
        said = " ".join(f'"{event}"' for event in events)
        address = f"{files().route}/js/{script}"
        root = f'<p class="hx-booting">{says.opening(waiting)}</p>' if waiting else ""
        super().__init__(
            value=value,
            html_template=f'<div class="hx-root">{root}</div>',
            js_on_load=_MOUNT % {"script": address, "events": said, "failed": dumps(says.NO_SCRIPT)},
            apply_default_css=False,
            server_functions=list(server_functions),
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


def asked(event: gr.EventData) -> Any:
    """What the script of a component sent with an event of it, which is anything that JSON has; None for nothing."""
    try:
        return event.asked
    except (AttributeError, TypeError):  # who posts the event without our page may send another thing
        return None


def tab(name: str, *, waiting: str = "", **options: Any) -> Mounted:
    """The component of a whole tab, which `tabs/NAME/NAME.js` fills; `options` as above."""
    return Mounted(f"tabs/{name}/{name}.js", elem_id=name, waiting=waiting or name, **options)
