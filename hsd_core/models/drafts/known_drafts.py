"""Which trained drafts come with a preset: files in assets/drafts whose header names it. Listing imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hsd_core.models.drafts.draft_file import DraftInfo

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "drafts"
LENS = "lens"  # the id that asks for the untrained read-out where a trained draft would be taken


def shipped(preset: str, folder: Path = FOLDER) -> tuple[DraftInfo, ...]:
    """A preset's drafts, shallowest first; at one depth those that read features come first, and of these those that
    are fed the last state alone and say one token in a pass."""
    from hsd_core.models.drafts.draft_file import list_drafts

    own = [draft for draft in list_drafts(folder) if draft.preset == preset]
    return tuple(sorted(own, key=lambda draft: (draft.at, not draft.fed, draft.ahead, draft.joins, draft.name)))


def file_of(name: str) -> Path | None:
    """The file that a level's `@id=` names, shipped or of one's own; None where there is none."""
    files = FOLDER / f"{name}.safetensors", Path(name)
    return next((path for path in files if path.suffix == ".safetensors" and path.is_file()), None)


def ahead_of(path: Path) -> int:
    """How many tokens a draft says in one pass; 1 of what is no draft, which is refused when it is opened."""
    from hsd_core.models.drafts.draft_file import DraftError, read_info

    try:
        return read_info(path).ahead
    except (DraftError, OSError):
        return 1
