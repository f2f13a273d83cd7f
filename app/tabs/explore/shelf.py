"""How the menu of recordings is arranged: groups by what they teach, and a line for each on what to see in it.

Both are data: `menu.json` beside the recordings. A recording without an entry stands among the others, at the end.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from hsd_core.typed import Malformed, Wrong, decode, json_decoder

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


class _Menu(msgspec.Struct):
    groups: list[_Group]


_DECODER = json_decoder(_Menu)


def places(folder: Path) -> dict[str, ShelfPlace]:
    """Each recording's place, by name; none where the folder has no arrangement that can be read."""
    try:
        menu = decode((folder / FILE).read_bytes(), _DECODER)
    except FileNotFoundError:
        return {}
    except (OSError, Malformed, Wrong) as error:
        log.warning("%s is passed over: %s", folder / FILE, error)
        return {}
    entries = [(group.title, name, see) for group in menu.groups for name, see in group.recordings.items()]
    return {name: ShelfPlace(group, rank, see) for rank, (group, name, see) in enumerate(entries)}
