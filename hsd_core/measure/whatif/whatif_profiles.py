"""The bundled what-if profiles: costs from published sizes or ratios, acceptances assumed. Torch-free.

A file is a profile whose `about` holds `simulated: true`, `title`, `source` (of the costs, to be named wherever it is
shown) and `note` (what is assumed).
"""

from __future__ import annotations

from pathlib import Path

from hsd_core.theory import Profile, ProfileError, read_profile

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "whatif"
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
