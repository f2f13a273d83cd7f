"""A structured log: a JSON object a line, for programs that collect logs. What visitors write is in none of them."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

VARIABLE = "HSD_LOG"  # by which the engine's process knows
FORMATS = ("text", "json")
_RUNS = "hsd.runs"


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


def log_run(**fields: Any) -> None:
    """A run has ended; what is said of it holds no text of a visitor."""
    logging.getLogger(_RUNS).info("run ended", extra={"fields": fields})
