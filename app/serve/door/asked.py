"""What Gradio is asked: each question is checked before Gradio reads it, whether an event is public or the page's own.

Gradio looks events, components and streams up by what the body says, and what is not there becomes a traceback, or an
answer that breaks off. Here it becomes a status and one sentence; and only the fields that are checked go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any
from urllib.parse import parse_qs

from app.serve.door.guard import API, CALLS, TOOLS, RequestRefused
from app.serve.door.kinds import check_kind
from app.words import page as says

DEEPEST = 40  # of nested JSON; a plan's question has 7
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
DIRECT = re.compile(rf"{API}/(?:run|api)/([^/]*)")  # of events that do not stand in Gradio's queue
_JOIN, _CANCEL, _RESET = (f"{API}/{name}" for name in ("queue/join", "cancel", "reset"))
_CALL = re.compile(rf"{API}/call/(?:v2/)?([^/]*)")
_HEARD = re.compile(rf"{API}/call/(?:v2/)?([^/]*)/([^/]*)")
_PAGE = re.compile(rf"{API}/heartbeat/([^/]*)")
_STREAM = f"{API}/queue/data"
_NO_SESSION = {"msg": "unexpected_error", "message": says.NO_SESSION, "success": False, "session_not_found": True}
ENDED = f"data: {json.dumps(_NO_SESSION)}\n\n".encode()  # what Gradio's client takes to open a new session
Fields = dict[str, Any]


class NoSession(Exception):
    """A stream is asked for that no event of this server writes to."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The checks of one page.

    Args:
        blocks: of the page, as Gradio serves it.
    """

    blocks: Any

    def body(self, path: str, body: bytes) -> bytes | None:
        """The body of a POST as Gradio may have it; None for as it came.

        Raises:
            Refused: it asks for what is not there, or a field is missing or of the wrong kind.
        """
        if path == TOOLS:
            _object(body)  # a file among a tool's arguments is that call's own fault
            return None
        if path == CALLS:
            return _json(self._server_function(_fields(body)))
        if path == _JOIN:
            fields = _fields(body)
            fn = self._event(fields.get("fn_index"))
            if not fn.queue:
                raise RequestRefused(404, says.NOT_QUEUED)
            return _json({**self._event_fields(fields, fn), "session_hash": _name(fields, "session_hash")})
        if path == _CANCEL:
            fields = _fields(body)
            self._event(fields.get("fn_index"))
            names = {name: _name(fields, name) for name in ("session_hash", "event_id")}
            return _json({**names, "fn_index": fields["fn_index"]})
        if path == _RESET:
            return _json({"event_id": _name(_fields(body), "event_id")})
        if found := DIRECT.fullmatch(path):
            return _json(self._direct(found[1], _fields(body)))
        if found := _CALL.fullmatch(path):
            return _json(self._call(found[1], _fields(body), named="/call/v2/" in path))
        return None

    def heard(self, path: str, query: bytes) -> None:
        """Check what a GET would listen to.

        Raises:
            Refused: there is no such call, or a name is none. NoSession: nothing is written to this session.
        """
        if path == _STREAM:
            session = parse_qs(query.decode("latin-1")).get("session_hash", [""])[-1]
            if not self._awaited(_name({"session_hash": session}, "session_hash"), ()):
                raise NoSession
        elif found := _HEARD.fullmatch(path):
            self._public(found[1])
            if not self._awaited(found[2], ("event_ids_to_events", "pending_event_ids_session")):
                raise RequestRefused(404, says.NO_CALL)
        elif found := _PAGE.fullmatch(path):
            _name({"session_hash": found[1]}, "session_hash")

    def _awaited(self, name: str, more: Sequence[str]) -> bool:
        """Whether something is written to a session, or to an event, of this name. These are Gradio's own tables; where
        a version has others, it answers by itself."""
        tables = [getattr(self.blocks._queue, table, None) for table in ("pending_messages_per_session", *more)]
        held = [list(table.values()) for table in tables[2:] if table is not None]  # sets of events, by session
        return None in tables or any(name in table for table in (*tables[:2], *(ids for one in held for ids in one)))

    def _index(self, fn: Any) -> int:
        fns: dict[int, Any] = self.blocks.fns
        return next(index for index, one in fns.items() if one is fn)

    def _server_function(self, fields: Fields) -> Fields:
        component = _whole(fields, "component_id")
        block = self.blocks.blocks.get(component)
        if block is None:
            raise RequestRefused(404, says.no_component(component))
        name = fields.get("fn_name")
        if name not in [fn.__name__ for fn in getattr(block, "server_fns", ())]:
            raise RequestRefused(404, says.no_function(str(name)[:40]))
        if "data" not in fields:
            raise RequestRefused(400, says.missing("data"))
        session = _name(fields, "session_hash")
        return {"data": fields["data"], "component_id": component, "fn_name": name, "session_hash": session}

    def _direct(self, name: str, fields: Fields) -> Fields:
        fn = self._public(name) if fields.get("fn_index") is None else self._event(fields["fn_index"])
        if fn.queue:
            raise RequestRefused(404, says.queued(fn.api_name if _is_public(fn) else "NAME"))
        session = fields.get("session_hash")
        named = {} if session is None else {"session_hash": _name(fields, "session_hash")}
        return {**self._event_fields(fields, fn), **named}

    def _call(self, name: str, fields: Fields, *, named: bool) -> Fields:
        if named:
            self.arguments(name, fields)
            return fields
        fn = self._public(name)
        session = fields.get("session_hash")
        known = {} if session is None else {"session_hash": _name(fields, "session_hash")}
        return {"data": _values(fields, fn), **known}

    def arguments(self, name: str, fields: Fields) -> None:
        """Check the arguments of a public event, given by name.

        Raises:
            Refused: there is no such event, or an argument is missing, unknown or of the wrong kind.
        """
        fn = self._public(name)
        _no_files(fields)
        parameters = _parameters(fn)
        for one in parameters:
            if one.default is one.empty and one.name not in fields:
                raise RequestRefused(400, says.missing(one.name))
        kinds = {one.name: block.api_info() for one, block in zip(parameters, fn.inputs, strict=True)}
        for key, value in fields.items():
            if key not in kinds:
                raise RequestRefused(400, says.no_parameter(key[:40], list(kinds)))
            check_kind(key, value, kinds[key])

    def _event_fields(self, fields: Fields, fn: Any) -> Fields:
        trigger = fields.get("trigger_id")
        if trigger is not None and _whole(fields, "trigger_id") not in self.blocks.blocks:
            raise RequestRefused(404, says.no_component(trigger))
        values = _values(fields, fn)
        return {
            "data": values,
            "event_data": fields.get("event_data"),
            "fn_index": self._index(fn),
            "trigger_id": trigger,
        }

    def _event(self, index: Any) -> Any:
        fns = self.blocks.fns
        found = fns.get(_whole({"fn_index": index}, "fn_index"))
        if found is None or not found.fn:
            raise RequestRefused(404, says.no_event(index))
        return found

    def _public(self, name: str) -> Any:
        """An event that is called by its name: the page's own have none for others."""
        found = next((fn for fn in self.blocks.fns.values() if fn.api_name == name and _is_public(fn)), None)
        if found is None:
            raise RequestRefused(404, says.no_endpoint(name[:40]))
        return found


def _is_public(fn: Any) -> bool:
    return bool(fn.api_visibility == "public")


def _fields(body: bytes) -> Fields:
    found = _object(body)
    _no_files(found)
    return found


def _object(body: bytes) -> Fields:
    try:
        found = json.loads(body)
        _within(found, DEEPEST)
    except (ValueError, RecursionError):
        raise RequestRefused(400, says.BROKEN_JSON) from None
    if not isinstance(found, dict):
        raise RequestRefused(400, says.NOT_FIELDS)
    return found


def _within(value: Any, room: int) -> None:
    """Nothing is nested too deeply."""
    for one in _parts(value):
        if room == 0:
            raise RequestRefused(400, says.too_deep(DEEPEST))
        _within(one, room - 1)


def _no_files(value: Any) -> None:
    """Nothing looks like a file of Gradio's, which this page has none of."""
    if isinstance(value, dict) and "path" in value and "meta" in value:
        raise RequestRefused(400, says.NO_FILES)
    for one in _parts(value):
        _no_files(one)


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _json(fields: Fields) -> bytes:
    return json.dumps(fields).encode()


def _name(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise RequestRefused(400, says.no_name(key))
    return value


def _whole(fields: Mapping[str, Any], key: str) -> int:
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise RequestRefused(400, says.no_number(key))
    return value


def _parameters(fn: Any) -> list[Parameter]:
    return list(signature(fn.fn).parameters.values())[: len(fn.inputs)]


def _values(fields: Fields, fn: Any) -> Sequence[Any]:
    """The arguments of an event, each of its kind; those at the end may be left out that have a default."""
    values = fields.get("data")
    if not isinstance(values, list):
        raise RequestRefused(400, says.NO_VALUES)
    parameters = _parameters(fn)
    defaults = [one.default for one in parameters[len(values) :]]
    if len(values) > len(fn.inputs) or Parameter.empty in defaults:
        names = ", ".join(one.name for one in parameters)
        raise RequestRefused(400, says.how_many_values(len(fn.inputs), len(values), names))
    for one, block, value in zip(parameters, fn.inputs, values, strict=False):
        check_kind(one.name, value, block.api_info())
    return [*values, *defaults]
