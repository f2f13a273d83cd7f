"""How the menu of recordings is arranged: groups by what they teach, and a line for each on what to see in it; and the
round of one of them that the page's opening tells.

All are data: `menu.json` beside the recordings. A recording without an entry stands among the others, at the end.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from hsd_core.trace.typed import Malformed, Wrong, decode

FILE = "menu.json"
log = logging.getLogger(__name__)


class ShelfPlace(msgspec.Struct, frozen=True):
    """Where a recording stands: its group ("" for none), its rank in the menu, what to see in it."""

    group: str = ""
    rank: int = 1_000
    see: str = ""


class _Group(msgspec.Struct):
    title: str
    recordings: dict[str, str]  # by name: what to see


class Opening(msgspec.Struct, frozen=True):
    """What the page's opening tells: a recording, and one of its rounds, counted from 1."""

    recording: str
    round: int


class _Menu(msgspec.Struct):
    groups: list[_Group]
    opening: Opening | None = None


_DECODER = msgspec.json.Decoder(_Menu)


def places(folder: Path) -> dict[str, ShelfPlace]:
    """Each recording's place, by name; none where the folder has no arrangement that can be read."""
    menu = _read(folder)
    entries = [(group.title, name, see) for group in menu.groups for name, see in group.recordings.items()]
    return {name: ShelfPlace(group, rank, see) for rank, (group, name, see) in enumerate(entries)}


def opening(folder: Path) -> Opening | None:
    """What the page's opening tells; None where the folder says nothing of one."""
    return _read(folder).opening


def _read(folder: Path) -> _Menu:
    try:
        return decode((folder / FILE).read_bytes(), _DECODER)
    except FileNotFoundError:
        pass
    except (OSError, Malformed, Wrong) as error:
        log.warning("%s is passed over: %s", folder / FILE, error)
    return _Menu([])
