"""The trained drafts of a preset: files in assets/drafts whose header names it. Listing imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.typed.program_files import ASSETS

if TYPE_CHECKING:
    from hsd_core.models.drafts.draft_file import DraftInfo

FOLDER = ASSETS / "drafts"
LENS = "lens"  # the id of the untrained read-out


def shipped(preset: str, folder: Path = FOLDER) -> tuple[DraftInfo, ...]:
    """A preset's drafts, shallowest first; at one depth feature-fed ones come first, and of these the ones with the
    last state only and one token a pass."""
    from hsd_core.models.drafts.draft_file import list_drafts

    own = [draft for draft in list_drafts(folder) if draft.preset == preset]
    return tuple(sorted(own, key=lambda draft: (draft.at, not draft.fed, draft.ahead, draft.joins, draft.name)))


def file_of(name: str) -> Path | None:
    """The file that a level's `@id=` names, shipped or the user's, or None."""
    files = FOLDER / f"{name}.safetensors", Path(name)
    return next((path for path in files if path.suffix == ".safetensors" and path.is_file()), None)


def ahead_of(path: Path) -> int:
    """The tokens that a draft drafts in one pass; 1 for a file that is no draft and is refused later."""
    from hsd_core.models.drafts.draft_file import DraftError, read_info

    try:
        return read_info(path).ahead
    except (DraftError, OSError):
        return 1
