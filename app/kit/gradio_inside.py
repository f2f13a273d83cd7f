"""What the page uses of Gradio that Gradio does not document: where it stands there, and who needs it here.

`tests/unit/test_gradio_inside.py` looks each of them up in the installed Gradio and says what has gone. After an update
of Gradio read these places again, then set `READ_IN`.
"""

from __future__ import annotations

from typing import NamedTuple

READ_IN = "6.31.0"  # the version of Gradio
_PAGE, _SCRIPTS, _SHEETS = (f"templates/frontend/{name}" for name in ("index.html", "assets/*.js", "assets/*.css"))


class Inside(NamedTuple):
    """`text` stands in a file of Gradio's package that matches `file`; `user`, below our root, needs it for `what`."""

    text: str
    file: str
    user: str
    what: str


INSIDE = (
    Inside("<gradio-app", _PAGE, "app/serve/door/first.py", "the outline stands before this element"),
    Inside('lang="en"', _PAGE, "app/serve/door/first.py", "the page names its language from the start"),
    Inside(
        "base_url | default('./')", _PAGE, "app/serve/door/first.py", "the page has no base: plotly's colours need that"
    ),
    Inside('href="/manifest.json"', _PAGE, "app/serve/door/first.py", "its address is relative, below a proxy's path"),
    Inside(
        "const root = {{ config.get('root', '')", _PAGE, "app/serve/door/first.py", "so are those that scripts call"
    ),
    Inside(
        "navigator.language",
        _SCRIPTS,
        "app/serve/door/first.py",
        "Gradio's own words and <html lang> are in the page's language",
    ),
    Inside("+`-button`", _SCRIPTS, "assets/js/shared/kit/tabs.js", "the id of a tab's button is its elem_id-button"),
    Inside("tab-wrapper", _SCRIPTS, "assets/css/layout.css", "the tab bar is as high as the outline's"),
    Inside("tab-container", _SCRIPTS, "assets/css/layout.css", "the same"),
    Inside("html-container", _SCRIPTS, "assets/css/layout.css", "a component without its margins"),
    Inside(".gradio-container", _SHEETS, "assets/css/layout.css", "the page is as wide as the window"),
    Inside(
        "self.pending_messages_per_session", "queueing.py", "app/serve/door/asked.py", "who listens to nothing is told"
    ),
    Inside("self.event_ids_to_events", "queueing.py", "app/serve/door/asked.py", "the same, of calls"),
    Inside("self.pending_event_ids_session", "queueing.py", "app/serve/door/asked.py", "the same"),
    Inside("self._queue = ", "blocks.py", "app/serve/door/asked.py", "where these tables are"),
    Inside(
        "event_id:", "context.py", "app/serve/service.py", "a caller without a session is heard under its event's name"
    ),
    Inside("CURRENT_TUNNELS", "tunneling.py", "app/serve/engines/closing.py", "a public link ends with the page"),
    Inside("def create_or_modify_pyi", "component_meta.py", "app/kit/beginning.py", "a start writes no stubs"),
    Inside('"x-gradio-user"', "*.py", "app/serve/service.py", "a call of a tool is told from one of a page"),
)
