"""The front matter of a Space's README: the keys that the Hub documents for it, and the values that they take.

Source: the Hub's "Spaces Configuration Reference"; `license` and `short_description` stand beside it in cards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from app.words import space as says

COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
SDKS = ("gradio", "docker", "static")
LONGEST = 60  # characters of the short description
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_PYTHON = re.compile(r"3\.\d+(\.\d+)?")
_EMOJI = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?")
_NAMES = re.compile(r"[\w./-]+")

_CHECKS: dict[str, Callable[[Any], bool]] = {
    "title": lambda value: isinstance(value, str) and bool(value.strip()),
    "emoji": lambda value: isinstance(value, str) and bool(_EMOJI.fullmatch(value)),
    "colorFrom": lambda value: value in COLOURS,
    "colorTo": lambda value: value in COLOURS,
    "sdk": lambda value: value in SDKS,
    "sdk_version": lambda value: isinstance(value, str) and bool(_VERSION.fullmatch(value)),
    "python_version": lambda value: isinstance(value, str) and bool(_PYTHON.fullmatch(value)),
    "app_file": lambda value: isinstance(value, str) and bool(_NAMES.fullmatch(value)) and ".." not in value,
    "pinned": lambda value: isinstance(value, bool),
    "license": lambda value: value == "apache-2.0",
    "short_description": lambda value: isinstance(value, str) and 0 < len(value) <= LONGEST,
    "fullWidth": lambda value: isinstance(value, bool),
    "tags": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "models": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
}
_NEEDED = {
    "static": ("title", "emoji", "colorFrom", "colorTo", "sdk", "pinned"),
    "gradio": ("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version", "app_file", "pinned"),
}


def written(given: Mapping[str, Any]) -> str:
    """The block that a README begins with."""
    return "---\n" + "".join(f"{name}: {_text(value)}\n" for name, value in given.items()) + "---\n"


def read(readme: str) -> dict[str, Any]:
    """What the front matter of a README says: texts, true or false, and lists of texts in brackets.

    Raises:
        ValueError: there is none, or a line of it is not understood.
    """
    found = re.match(r"---\n(.*?)\n---\n", readme, re.S)
    if found is None:
        raise ValueError(says.NO_FRONT_MATTER)
    given: dict[str, Any] = {}
    for line in found[1].splitlines():
        name, colon, value = line.partition(": ")
        if not colon or name in given:
            raise ValueError(says.no_line(line[:80]))
        given[name] = _value(value.strip())
    return given


def faults(given: Mapping[str, Any]) -> list[str]:
    """What is wrong with a front matter, each with what was expected."""
    found = [
        says.unknown_key(name) if name not in _CHECKS else says.bad_value(name, str(value)[:80])
        for name, value in given.items()
        if name not in _CHECKS or not _CHECKS[name](value)
    ]
    needed = _NEEDED.get(str(given.get("sdk")), _NEEDED["static"])
    return found + [says.missing_key(name) for name in needed if name not in given]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return f'"{value}"' if re.fullmatch(r"[\d.]+", value) or ": " in value else str(value)


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("[") and text.endswith("]"):
        return [part.strip() for part in text[1:-1].split(",") if part.strip()]
    return text.strip('"')
