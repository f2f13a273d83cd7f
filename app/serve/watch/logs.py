"""A structured log: a JSON object a line, for programs that collect logs. What visitors write is in none of them."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from typing import Any, TextIO

from app.words import watch as says

VARIABLE = "HSD_LOG"  # by which the engine's process knows
FORMATS = ("text", "json")
_RUNS = "hsd.runs"
_MCP = re.compile(r"[/\\]site-packages[/\\]mcp[/\\]")


class JsonLines(logging.Formatter):
    """time (UTC), level, logger, message; the fields of a run that ended; the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        said: dict[str, Any] = {
            "time": f"{at}.{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said)


def structured(stream: TextIO = sys.stderr) -> None:
    """Log so from now on, runs that end included."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger(_RUNS).setLevel(logging.INFO)


def hide_messages() -> None:
    """The package `mcp` logs what its clients send: from now on, only where in it a message was not served."""
    logging.setLogRecordFactory(_without_message)


def _without_message(*given: Any, **more: Any) -> logging.LogRecord:
    record = logging.LogRecord(*given, **more)
    if _MCP.search(record.pathname):
        record.msg, record.args, record.exc_info = says.MCP_REFUSED, (record.module, record.lineno), None
    return record


def log_run(**fields: Any) -> None:
    """A run has ended; what is said of it holds no text of a visitor."""
    logging.getLogger(_RUNS).info("run ended", extra={"fields": fields})
