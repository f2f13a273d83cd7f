"""What-if runs: the real engine over simulated levels without weights. Imports no torch until one is run.

The recursion, its events and its caches are the engine's; a level's tokens and times are simulated
(`simulated_levels`), following a profile of costs and acceptances. Every trace says so in its header.

The bundled profiles have costs from published sizes or ratios, and assumed acceptances; their `about` has
`simulated: true`, `title`, `source` (of the costs, shown with every result) and `note` (the assumptions).
"""

from __future__ import annotations

from pathlib import Path

from hsd_core.theory import Profile, ProfileError, read_profile
from hsd_core.typed.program_files import ASSETS

FOLDER = ASSETS / "whatif"
DEFAULT = "llama3"


def whatif_names(folder: Path = FOLDER) -> list[str]:
    """The bundled profiles' names."""
    return sorted(path.stem for path in folder.glob("*.json"))


def whatif_profile(name: str, folder: Path = FOLDER) -> Profile:
    """A bundled profile.

    Raises:
        ProfileError: there is none of that name, or its file cannot be read.
    """
    if name not in (names := whatif_names(folder)):
        raise ProfileError(f"unknown what-if profile {name!r}; there are {', '.join(names) or 'none'}")
    return read_profile(folder / f"{name}.json")
