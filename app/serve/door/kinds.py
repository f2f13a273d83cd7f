"""The arguments of an endpoint: each is of the kind that its schema says, or refused by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.serve.door.guard import RequestRefused
from app.words import programs as says

SHOWN = 40  # characters of what was given
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class WrongKind(RequestRefused):
    """An argument of another kind than its schema says. `name`: which."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(422, message)
        self.name = name


def check_kind(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    """
    Args:
        schema: of JSON; what it does not say is not looked at.
    Raises:
        WrongKind: the value is of another kind; the message names the argument, the kind, and what was given.
    """
    either = schema.get("oneOf", (schema,))
    if any(_is_of(value, one) for one in either):
        return
    wanted = [one["type"] for one in either if one["type"] != "null"]
    raise WrongKind(name, says.wrong_kind(name, says.KINDS[wanted[0]], _shown(value)))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\u2026"


def _is_of(value: Any, schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    if kind is None:
        return True
    if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if kind == "integer":
        return float(value).is_integer() if isinstance(value, float) else True
    return not isinstance(value, list) or all(_is_of(one, schema.get("items", {})) for one in value)
