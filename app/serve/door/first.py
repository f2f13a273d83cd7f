"""What is painted before Gradio's scripts have run: our style sheets, the title and the outline of the first screen.

Gradio's page is empty until its scripts have run, then says "Loading" and is laid out in several steps. The outline has
the measures of the first screen and covers all that, until the first screen is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from app.kit.languages import ENGLISH, chosen, languages, teller
from app.kit.payload import dumps
from app.kit.static import PAGE_JS
from app.serve.door.guard import Message, Receive, Send
from app.words import page as says
from hsd_core.export.bundle import bundle
from hsd_core.export.run_page import script_json
from hsd_core.typed.program_files import ASSETS

# In a frame, and with ?embed=1, the page has other measures from the start. The theme is the one that was kept here,
# else the system's: as kit/theme.js and Gradio choose it. What is open (visit/panels.js) changes the outline.
_FRAME = "js/shared/share/framed.js"
_THEME = f"""
(() => {{
{bundle(_FRAME, lambda name: (ASSETS / name).read_text(encoding="utf-8"))}
$["{_FRAME}"].markFrame();
}})();
(() => {{
  const query = new URLSearchParams(location.search);
  let kept = null, open = query.get("panel");
  try {{
    kept = localStorage.getItem("hx-theme");
    open ??= sessionStorage.getItem("hx-panels");
  }} catch {{}}
  document.getElementById("hx-first").dataset.open = open ?? "";
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.getElementById("hx-first").classList.toggle("hx-dark", dark);
}})();
"""
# Gradio takes the browser's language for its own words and for `<html lang>`: it is to take the page's.
_LANGUAGE = """
(() => {
  Object.defineProperty(navigator, "language", { value: document.documentElement.lang });
})();
"""
# Whether the story will stand over the page, which then shows no outline of the first screen.
_ASKED = "js/tabs/explore/story/asked.js"
_STORY = f"""
(() => {{
{bundle(_ASKED, lambda name: (ASSETS / name).read_text(encoding="utf-8"))}
$["{_ASKED}"].ask();
}})();
"""
# In a class it stands over the page only where a link names it: whoever comes is to see where the class is.
_STORY_NAMED = f"""
(() => {{
  if (new URLSearchParams(location.search).get("story") !== "1") return;
{_STORY}
}})();
"""
# The story stands over the page, and is told while Gradio's scripts are on their way.
_TELL = f"""
import(`${{{PAGE_JS}}}/%s/js/first.js`).then(({{$}}) => $["js/tabs/explore/story/story.js"].tellStory());
"""
# Gradio has its scripts call the server at the address by which the request came, which behind a proxy is not the
# browser's. They take it from the page's own instead.
_ROOT = (re.compile(rb'("root": ?|const root = )"https?://[^"]*"'), rb'\1"."')
# What Gradio was given for the frame, in its own JSON: a tab's label and the links below the page.
_NAMED = re.compile(rb'(?<="type":"tabitem","props":{"label":")[^"]+|(?<=(?:ce\.html|te=true)\\"\\u003e)[^\\]+')
# The bar of a class, on a page that holds one.
_SECRET = "js/workshop/secret.js"
_CLASS = f"""
(() => {{
{bundle(_SECRET, lambda name: (ASSETS / name).read_text(encoding="utf-8"))}
  const secret = $["{_SECRET}"].takeSecret();
  import(`${{{PAGE_JS}}}/%s/js/workshop/workshop.js`).then((module) => module.begin(secret));
}})();
"""
# A frame whose sandbox takes the page's origin away lets none of its scripts load.
_SANDBOXED = """
if (self.origin === "null") {
  for (const one of document.querySelectorAll("#hx-first .hx-outline, #hx-first [role=status]")) one.remove();
  document.getElementById("hx-first").style.animation = "none"; // it stays
  document.querySelector("#hx-first .hx-why").textContent = %s;
} else {
"""


def _outline(said: Callable[[str], str]) -> str:
    return f"""<div id="hx-first">
<header class="hx-title"><h1>{escape(says.TITLE)}</h1><p class="hx-why">{escape(said(says.WHY))}</p>
<noscript><style>
#hx-first {{ animation: none !important; }}
#hx-first .hx-outline {{ display: none; }}
</style><p class="hx-why">{escape(said(says.NO_SCRIPTS))}</p></noscript></header>
<div class="hx-outline"></div>
<div class="hx-main"><div class="hx-outline"></div><div class="hx-outline"></div></div>
<div class="hx-outline"></div>
<p class="hx-sr" role="status">{escape(said(says.OPENING_PAGE))}</p>
</div>"""


class FirstPaint:
    """ASGI middleware: puts the style sheet and the outline into the page at `/`.

    Args:
        app: what serves the page.
        files: the address below which our scripts and styles lie, without the slash before it.
        story: what the story over the page tells; None for no story.
        held: whether a class is held, which has a bar on every page of it.
    """

    def __init__(self, app: Any, *, files: str, story: dict[str, Any] | None = None, held: bool = False) -> None:
        self._app = app
        sheets = ("first", "workshop") if held else ("first",)
        asked, starts = (_STORY_NAMED, _CLASS + _TELL) if held else (_STORY, _TELL)
        link = "".join(f'<link rel="stylesheet" href="{files}/css/{name}.css">' for name in sheets)
        link += '<link rel="icon" href="favicon.ico">'
        scripts = f"{_LANGUAGE}{_THEME}{asked}{starts.replace('%s', files)}}}"
        data = f'<script type="application/json" id="hx-story">{script_json(story)}</script>'
        self._languages = languages(ASSETS)
        self._changed = {name: self._changes(name, files, link, data, scripts) for name in self._languages}

    def _changes(
        self, language: str, files: str, link: str, data: str, scripts: str
    ) -> tuple[tuple[bytes, bytes], ...]:
        """What stands in the page of a language in the place of what Gradio wrote."""
        said = teller(language, ASSETS)
        own = "" if language == ENGLISH else f'<script src="{files}/text/{language}.js"></script>'
        sandboxed = _SANDBOXED % dumps(said(says.SANDBOXED))
        outline = f"{_outline(said)}{data}<script>{sandboxed}{scripts}</script>"
        # Gradio's base leads nowhere else. But with one, plotly names its colours by the whole address of the page, and
        # a drawn scale loses them as soon as the address says another setting.
        return (
            (b'lang="en"', f'lang="{language}" data-languages="{" ".join(self._languages)}"'.encode()),
            (b'<base href="./" />', b""),
            (b"</head>", f"{link}{own}</head>".encode()),
            (b"<gradio-app", f"{outline}<gradio-app".encode()),
            (b'href="/manifest.json"', b'href="manifest.json"'),
        )

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        accepted = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
        language = chosen(self._languages, scope["query_string"].decode("latin-1"), accepted)
        held: list[Message] = []

        async def inserted(message: Message) -> None:
            held.append(message)
            if message["type"] == "http.response.start" or message.get("more_body", False):
                return
            start, *parts = held
            body = b"".join(part.get("body", b"") for part in parts)
            for before, after in self._changed[language] if body else ():
                body = body.replace(before, after, 1)
            body = _ROOT[0].sub(_ROOT[1], body)
            if language != ENGLISH:
                said = teller(language, ASSETS)
                body = _NAMED.sub(lambda found: dumps(said(found[0].decode()))[1:-1].encode(), body)
            headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            headers.append((b"vary", b"accept-language"))
            if body:
                headers.append((b"content-length", str(len(body)).encode()))
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, inserted)
