"""The languages of the page: English, and a folder of `assets/text` for each other one.

A page in another language runs one script before all others (`text/LANG.js`), which holds the folder. What the server
says stays in English, for programs and logs; `server.json` of the folder has each sentence in the language, and the
page looks up what it shows (`assets/text/heard.js`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from hsd_core.export.bundle import modules, script

ENGLISH = "en"
SENTENCES = "server.json"
_ACCEPTED = re.compile(r"\s*([A-Za-z]{2,3})(?:-[\w-]*)?\s*(?:;\s*q=([\d.]+))?\s*")


def languages(folder: Path) -> tuple[str, ...]:
    """English first. folder: `assets`."""
    found = sorted(path.name for path in (folder / "text").glob("*") if path.is_dir())
    return (ENGLISH, *(name for name in found if name != ENGLISH))


def chosen(there: tuple[str, ...], query: str, accepted: str) -> str:
    """The language of a page: its address's (`lang`), else the first of the browser's that is there, else English.

    Args:
        there: those that the page has. query: of the address. accepted: the header `Accept-Language`.
    """
    asked = parse_qs(query[:4000]).get("lang", [""])[0]
    if asked in there:
        return asked
    wanted = [found for part in accepted[:400].split(",") if (found := _ACCEPTED.fullmatch(part))]
    order = sorted(wanted, key=lambda found: -_number(found[2]))  # stable: equal ones in their order
    return next((name for found in order if (name := found[1].lower()) in there), ENGLISH)


def is_translation(name: str) -> bool:
    """Whether a file below `assets` is part of a language's script, which alone the page loads."""
    parts = name.split("/")
    return (parts[0] == "text" and len(parts) > 2 and parts[1] != ENGLISH) or bool(
        re.fullmatch(r"js/systems/\w+/words\.\w+\.js", name)
    )


def language_script(language: str, folder: Path) -> str:
    """What a page in this language runs before its scripts: it sets what `assets/text/language.js` reads."""

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    own = sorted((folder / "text" / language).glob("*.js"))
    rooms = {path.relative_to(folder).as_posix(): path.stem for path in own}
    brought = sorted((folder / "js" / "systems").glob(f"*/words.{language}.js"))
    rooms |= {path.relative_to(folder).as_posix(): f"systems/{path.parent.name}" for path in brought}
    said = json.dumps({"language": language, "rooms": {"server": sentences(language, folder)}}, ensure_ascii=False)
    given = "\n".join(f'hxText.rooms["{room}"] = $["{name}"].WORDS;' for name, room in rooms.items())
    return f"globalThis.hxText = {said};\n(() => {{\n{script(modules(list(rooms), read))}\n{given}\n}})();\n"


@cache
def sentences(language: str, folder: Path) -> dict[str, str]:
    """What the server says -> the same in a language; `{name}` stands for a part that changes. English has none."""
    path = folder / "text" / language / SENTENCES
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def teller(language: str, folder: Path) -> Callable[[str], str]:
    """A function that says a whole sentence of the server's in a language; one that it lacks stays English."""
    found = sentences(language, folder)
    return lambda text: found.get(text, text)


def in_language(value: Any, texts: Any, where: str = "") -> Any:
    """Plain JSON with other strings in the places of its own.

    Args:
        texts: the strings alone, nested alike. None leaves a part as it is; for an object of which only its `text`
            is said, a string may stand.

    Raises:
        ValueError: texts has a place that the value has not; the message names it.
    """
    if texts is None:
        return value
    if isinstance(value, dict) and isinstance(texts, str):
        texts = {"text": texts}
    if isinstance(value, dict) and isinstance(texts, dict):
        if other := texts.keys() - value.keys():
            raise ValueError(f"{where} has no {min(other)}")
        return {name: in_language(part, texts.get(name), f"{where}.{name}") for name, part in value.items()}
    if isinstance(value, list) and isinstance(texts, list):
        if len(texts) != len(value):
            raise ValueError(f"{where} has {len(value)} parts, not {len(texts)}")
        return [in_language(*pair, f"{where}[{i}]") for i, pair in enumerate(zip(value, texts, strict=True))]
    if isinstance(value, str) and isinstance(texts, str):
        return texts
    raise ValueError(f"{where} is no text that can be said in another language")


def overlaid(value: Any, path: Path) -> Any:
    """`in_language` by a file of texts; as it is where there is no such file."""
    return in_language(value, json.loads(path.read_text(encoding="utf-8"))) if path.exists() else value


def _number(text: str | None) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
