"""The files of the page without a server.

`index.html` holds what every tab is told once, a list of files, and a loader; each answer of the server lies packed
(gzip, in letters) in a script of its own below `hx/`, so that a browser reads it from a disk too. The page's policy
allows its own files, and two scripts that come packed by their hashes.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.kit.languages import language_script, languages
from app.kit.reference_route import REFERENCE
from app.kit.static import first_sheets
from app.site.answers import Answer, answers, tabs
from app.tabs import NAMES
from app.words import page as page_says
from app.words import site as says
from hsd_core.cli.reference import text as reference
from hsd_core.export.bundle import bundle, modules, script
from hsd_core.export.run_page import csp_hash, document, script_json, system_assets
from hsd_core.typed import encode
from hsd_core.typed.program_files import ASSETS

MOST_MB = 8.5
ENTRY = "js/site/site-page.js"
LOADER = "js/site/loader.js"
ASKED = "js/tabs/explore/story/asked.js"  # runs before anything is painted
OWN = "hx/own"  # below which the scripts take their addresses, and where the style sheets lie
LANGUAGES = languages(ASSETS)
TEXTS = tuple(f"text/{name}.js" for name in LANGUAGES[1:])
SCRIPTS = ("site.js", *TEXTS, "lib/plotly.min.js")  # that come packed
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_SPACES = re.compile(r"\s*([{};])\s*")
_LATER = re.compile(r'/\*.*?\*/|\bimport\((?:"(?P<path>\.[^"]+)"|`(?P<named>\.[^`]+)`)\)', re.S)


def write(out: Path) -> int:
    """Write the page into a folder, which is made, or emptied of an earlier one; its size in bytes.

    Raises:
        ValueError: the folder holds other things, or the page would be larger than `MOST_MB`.
    """
    files = dict(_files())
    size = sum(map(len, files.values()))
    if size > MOST_MB * 1e6:
        raise ValueError(says.too_large(size / 1e6, MOST_MB))
    known = {"index.html", "hx"}
    there = {path.name for path in out.iterdir()} if out.exists() else set()
    if others := sorted(name for name in there - known if not name.startswith(".git")):
        raise ValueError(says.holds(str(out), others[0]))
    shutil.rmtree(out / "hx", ignore_errors=True)
    for name, data in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return size


def _files() -> Iterator[tuple[str, bytes]]:
    own = tabs()
    told = Answer("tabs", "application/json", encode([tab._asdict() for tab in own]))
    recordings = [entry["name"] for entry in own[0].setup["recordings"]]
    script = Answer("site.js", "text/javascript", _script().encode())
    texts = [
        Answer(path, script.type, language_script(name, ASSETS).encode())
        for path, name in zip(TEXTS, LANGUAGES[1:], strict=True)
    ]
    listed: dict[str, tuple[str, str]] = {}
    hashes = []
    for answer in (script, *texts, told, *answers(recordings)):
        name = hashlib.sha256(answer.path.encode()).hexdigest()[:12] + ".js"
        listed[answer.path] = (name, answer.type)
        packed = gzip.compress(answer.body, 9, mtime=0)
        yield f"hx/{name}", b'hxFile(%b, %d, "%b");\n' % (encode(answer.path), len(packed), written(packed))
        if answer.path in SCRIPTS:
            hashes.append(csp_hash(answer.body))
    for path in sorted([*(ASSETS / "css").glob("*.css"), *(ASSETS / "js/systems").glob("*/*.css")]):
        name = path.relative_to(ASSETS).as_posix()
        yield f"{OWN}/{name}", _bare(_read(name)).encode()
    yield f"{OWN}/loader.js", (ASSETS / LOADER).read_bytes()
    yield f"{OWN}/asked.js", f'{{ {bundle(ASKED, _read)}\n$["{ASKED}"].ask(); }}\n'.encode()
    yield REFERENCE[1:], reference().encode()
    yield "index.html", _index(listed, hashes).encode()


def _bare(css: str) -> str:
    """A style sheet without comments, and without the spaces that say nothing: a tenth of it."""
    return _SPACES.sub(r"\1", _COMMENT.sub("", css))


def _read(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _script() -> str:
    """The scripts of all tabs as one; what they import later is in it too."""
    later = dict.fromkeys(f"js/tabs/{name}/{name}.js" for name in NAMES)  # which the entry imports by their names

    def read(name: str) -> str:
        text, needed = _placed(name, _read(name))
        later.update(dict.fromkeys(needed))
        return text

    known = -1
    while known != len(later):  # what is imported later may import more
        known = len(later)
        order = modules([*system_assets(ASSETS, "js"), *later, ENTRY], read)
    return script(order)


def _placed(name: str, text: str) -> tuple[str, list[str]]:
    """A module's text where addresses that are relative to it lead below `OWN`; and what it imports later, which it
    finds among the others."""
    text = text.replace("import.meta.url", f'new URL("{OWN}/{name}", document.baseURI).href')
    needed: list[str] = []

    def there(found: re.Match[str]) -> str:
        if found["path"] is found["named"] is None:
            return found[0]  # a comment
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), found["path"] or found["named"]))
        if found["path"]:
            needed.append(path)
        return f"Promise.resolve().then(() => $[`{path}`])"

    return _LATER.sub(there, text), needed


def _index(listed: dict[str, tuple[str, str]], hashes: list[str]) -> str:
    words: dict[str, object] = {"languages": LANGUAGES}
    words |= {"no_server": says.NO_SERVER, "opening": says.OPENING, "failed": says.FAILED}
    words |= {"reference": page_says.REFERENCE, "reference_at": REFERENCE[1:]}
    data = {"hx-words": words, "hx-files": listed}
    blocks = [f'<script type="application/json" id="{name}">{script_json(x)}</script>' for name, x in data.items()]
    sheets = [f'<link rel="stylesheet" href="{OWN}/{name}">' for name in (*first_sheets(), "css/site.css")]
    scripts = f"script-src 'self' {' '.join(hashes)}"
    return document(
        f"{scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:",
        title=page_says.TITLE,
        head="\n".join([f'<script src="{OWN}/asked.js"></script>', *sheets]),
        marks="data-site",
        body="\n".join(
            [f"<noscript>{says.NO_SCRIPT}</noscript>", *blocks, f'<script src="{OWN}/loader.js" defer></script>']
        ),
    )


# ---- Bytes as printable letters that may stand in a JavaScript string: 13 bits in two of them, where base64 has 12


# Without the quote and the backslash, which would end or change a string, and without what opens an HTML element.
LETTERS = bytes(code for code in range(33, 127) if chr(code) not in '"\\<')
BITS = 13


def written(data: bytes) -> bytes:
    """The letters of some bytes, as `assets/js/site/loader.js` reads them; the last bits are filled up with zeros."""
    flat = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
    filled = np.concatenate((flat, np.zeros(-len(flat) % BITS, dtype=np.uint8)))
    numbers = filled.reshape(-1, BITS) @ (1 << np.arange(BITS - 1, -1, -1))
    pairs = np.stack(np.divmod(numbers, len(LETTERS)), axis=1)
    return bytes(np.frombuffer(LETTERS, dtype=np.uint8)[pairs])
