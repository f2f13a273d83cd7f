"""The front matter of a Space's README: the keys that the Hub documents for it, and the values that they take.

Source: the Hub's "Spaces Configuration Reference", which leaves `license` to the cards of models. Its one map,
`custom_headers`, is neither written nor read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from app.words import space as says

COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
SDKS = ("gradio", "docker", "static")
LONGEST = 60  # characters of the short description
MOST_PRELOADED = 10  # repositories: the Hub refuses more
HARDWARE = (
    *("cpu-basic", "cpu-upgrade", "t4-small", "t4-medium", "l4x1", "l4x4", "l40sx1", "l40sx4", "l40sx8"),
    *("a10g-small", "a10g-large", "a10g-largex2", "a10g-largex4", "a100-large", "a100x4", "a100x8"),
)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_PYTHON = re.compile(r"3\.\d+(\.\d+)?")
_EMOJI = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?")
_NAMES = re.compile(r"[\w./-]+")
_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
_PRELOADED = re.compile(rf"{_REPOSITORY.pattern}( [^\s,]+(,[^\s,]+)*( [0-9a-f]{{40}})?)?")  # files, a commit
_DURATION = re.compile(r"[1-9]\d*(\.\d+)?\s?(s|m|h|d)")

Check = Callable[[Any], bool]


def _like(pattern: re.Pattern[str]) -> Check:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


def _each(pattern: re.Pattern[str], most: int = 1000) -> Check:
    one = _like(pattern)
    return lambda value: isinstance(value, list) and 0 < len(value) <= most and all(map(one, value))


def _one_of(*known: str) -> Check:
    return lambda value: value in known


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


_CHECKS: dict[str, Check] = {
    "title": _like(re.compile(r".*\S.*")),
    "emoji": _like(_EMOJI),
    "colorFrom": _one_of(*COLOURS),
    "colorTo": _one_of(*COLOURS),
    "sdk": _one_of(*SDKS),
    "sdk_version": _like(_VERSION),
    "python_version": _like(_PYTHON),
    "app_file": lambda value: _like(_NAMES)(value) and ".." not in value,
    "app_build_command": _like(re.compile(r".*\S.*")),
    "app_port": _like(re.compile(r"\d{1,5}")),
    "base_path": _like(re.compile(r"/\S*")),
    "header": _one_of("mini", "default"),
    "thumbnail": _like(re.compile(r"https://\S+")),
    "pinned": _flag,
    "license": _one_of("apache-2.0"),
    "short_description": lambda value: isinstance(value, str) and 0 < len(value) <= LONGEST,
    "fullWidth": _flag,
    "tags": _each(re.compile(r"[\w.-]+")),
    "models": _each(_REPOSITORY),
    "datasets": _each(_REPOSITORY),
    "preload_from_hub": _each(_PRELOADED, MOST_PRELOADED),
    "suggested_hardware": _one_of(*HARDWARE),
    "suggested_storage": _one_of("small", "medium", "large"),
    "startup_duration_timeout": _like(_DURATION),
    "disable_embedding": _flag,
    "hf_oauth": _flag,
    "hf_oauth_scopes": _each(re.compile(r"[\w:-]+")),
    "hf_oauth_expiration_minutes": _like(re.compile(r"\d{1,5}")),
    "hf_oauth_authorized_org": lambda value: _like(_REPOSITORY)(value) or _each(_REPOSITORY)(value),
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
        plain = all(_NAMES.fullmatch(one) for one in value)
        return f"[{', '.join(value)}]" if plain else json.dumps(value)
    return f'"{value}"' if re.fullmatch(r"[\d.]+", value) or ": " in value else str(value)


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('["'):
        return json.loads(text)
    if text.startswith("[") and text.endswith("]"):
        return [part.strip() for part in text[1:-1].split(",") if part.strip()]
    return text.strip('"')
