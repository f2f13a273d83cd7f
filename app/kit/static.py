"""Our scripts and styles: served at /hx/<hash of them all>, asked for with the page, kept for good.

One hash stands in front of all the files, so that the relative addresses by which they import one another need no
change. They are read once, when the server starts: what is kept under an address is what was there from the start.

What the first screen needs comes as one script and one style sheet: asked for one by one, more than a hundred files
took most of the time until it was drawn. The addresses of its modules hand on what is in the one script, for the
modules of other tabs that import them.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.kit.languages import ENGLISH, is_translation, language_script, languages
from app.kit.packed import PackedBody
from hsd_core.export.bundle import modules, script
from hsd_core.export.run_page import style_sheets, system_assets
from hsd_core.typed.program_files import ASSETS

ROUTE = "/hx"
# In the page's scripts: its address without the slash at its end, whatever proxy serves it.
PAGE_JS = 'new URL(".", document.baseURI).href.slice(0, -1)'
FOREVER = "public, max-age=31536000, immutable"
_TYPES = {"css": "text/css", "js": "text/javascript"}  # by ending
_FOLDERS = ("css", "js", "text")
_STARTED = (
    "js/tabs/explore/story/story.js",
    "js/tabs/explore/explore.js",
    "js/shared/plots/notes.js",
)  # what the page starts
FIRST = ("css/first.css", "js/first.js")  # made of the style sheets of the first screen, and of all that it imports
_LATER = re.compile(r'\bimport\("(\.[^"]+)"\)')
_HASH = re.compile(r"[0-9a-f]{16}")


class Files:
    """The scripts and styles below a folder, as they are now.

    Attributes:
        names: their paths below the folder.
        first: those of them that are in the script or the style sheet of the first screen.
        route: the address below which they are served; it changes with every change of any of them.
    """

    def __init__(self, folder: Path = ASSETS) -> None:
        paths = [path for root in _FOLDERS for ending in _TYPES for path in (folder / root).rglob(f"*.{ending}")]
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}
        found = {name: data for name, data in found.items() if not is_translation(name)}
        self.names = list(found)
        made = (
            _first(folder, {name: data.decode() for name, data in found.items()}) if set(_STARTED) <= set(found) else {}
        )
        self.first = [*first_sheets(folder), *(name for name in made if name in found)]
        found |= made
        for name in languages(folder):
            if name != ENGLISH:
                found[f"text/{name}.js"] = language_script(name, folder).encode()
        sums = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in found.items())
        self._version = hashlib.sha256(sums.encode()).hexdigest()[:16]
        self.route = f"{ROUTE}/{self._version}"
        self._packed = {name: _packed(name, data) for name, data in found.items()}

    async def __call__(self, request: Request) -> Response:
        """A file that will never differ; under the hash of another state of the files, the way to today's."""
        version, name = request.path_params["version"], request.path_params["name"]
        if not _HASH.fullmatch(version) or name not in self._packed:
            return Response(status_code=404)
        if version != self._version:
            # A page that was open during an update loads the rest of its scripts from there, all of one state. The
            # address is relative: a proxy may serve the page below a path that is not known here.
            here = f"{'../' * (name.count('/') + 1)}{self._version}/{name}"
            return RedirectResponse(here, headers={"cache-control": "no-store"})
        response = await self._packed[name](request)
        response.headers["cache-control"] = FOREVER
        return response

    def links(self) -> str:
        """The `Link` header by which the page asks for what the first screen needs."""
        kinds = {"css": "preload; as=style", "js": "modulepreload"}
        first = (*FIRST, *_STARTED[1:])  # the first of them is in the script
        return ", ".join(f"<{self.route[1:]}/{name}>; rel={kinds[_ending(name)]}" for name in first)


@cache
def files() -> Files:
    """Those of this program."""
    return Files()


def first_sheets(folder: Path = ASSETS) -> list[str]:
    """Paths of the style sheets of the first screen; a saved run tells no story."""
    return [*style_sheets(folder), "css/story.css"]


def _first(folder: Path, texts: dict[str, str]) -> dict[str, bytes]:
    """The script and the style sheet of the first screen, and in the place of each module that is in the script one
    that hands on what it exports."""
    order = modules([*system_assets(folder, "js"), *_STARTED], lambda name: _placed(name, texts[name]))
    made = {
        "css/first.css": "\n".join(texts[name] for name in first_sheets(folder)),
        "js/first.js": f"{script(order)}\nexport {{ $ }};\n",
    }
    for name, module in order.items():
        way = posixpath.relpath("js/first.js", posixpath.dirname(name))
        made[name] = f'import {{ $ }} from "{way if way.startswith(".") else f"./{way}"}";\n'
        if module.exports:
            made[name] += f'export const {{ {", ".join(module.exports)} }} = $["{name}"];\n'
    return {name: text.encode() for name, text in made.items()}


def _placed(name: str, text: str) -> str:
    """A module's text where addresses that are relative to it lead to the same from js/first.js."""
    own = posixpath.relpath(name, "js")
    text = text.replace("import.meta.url", f'new URL("{own}", import.meta.url).href')
    return _LATER.sub(
        lambda found: f'import("./{posixpath.normpath(posixpath.join(posixpath.dirname(own), found[1]))}")', text
    )


def _packed(name: str, data: bytes) -> PackedBody:
    return PackedBody(lambda: data, _TYPES[_ending(name)])


def _ending(name: str) -> str:
    return name.rpartition(".")[2]
