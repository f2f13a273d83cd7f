"""The run that the page's opening tells: as much of a recording as the story shows. It lies in the page itself, so that
nothing has to be fetched before its first frame."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from hsd_core.export.run_page import page_records
from hsd_core.trace import file as tracefile
from hsd_core.typed import Malformed, Wrong, decode, json_decoder
from hsd_core.typed.program_files import ASSETS

FILE = "opening.json"
_NOT_TOLD = frozenset({"gauge", "kv", "report", "rollback"})  # records
_ROWS = ("p_row", "q_row", "residual")  # of a verdict: most of it
log = logging.getLogger(__name__)


class _Opening(msgspec.Struct):
    """A recording beside the file, and one of its rounds, counted from 1."""

    recording: str
    round: int


_DECODER = json_decoder(_Opening)


@cache
def opening(folder: Path = ASSETS / "opening") -> dict[str, Any] | None:
    """What the page's opening tells: a round, counted from 1, and the run's records; None where the folder has none."""
    try:
        asked = decode((folder / FILE).read_bytes(), _DECODER)
        run = page_records(tracefile.read(folder / asked.recording))
    except FileNotFoundError:
        return None
    except (OSError, Malformed, Wrong, tracefile.TraceError) as error:
        log.warning("the page has no opening, %s: %s", folder, error)
        return None
    return {"round": asked.round, "ev": told(run)}


def told(run: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of a run without what the story does not show: rows of probabilities, caches and levels' figures."""
    kept = [_bare(record) for record in run if record["event"] not in _NOT_TOLD]
    return [{**one, "checks": [_bare(check) for check in one["checks"]]} if "checks" in one else one for one in kept]


def _bare(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in _ROWS}
