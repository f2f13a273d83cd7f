"""What the folder of a Space says, and what is wrong with one."""

from __future__ import annotations

SHORT = "Small models draft, larger ones verify, one text comes out"
NO_FRONT_MATTER = "README.md begins with no front matter; write the folder again"
NO_ZEROGPU = "requirements.txt lacks what ZeroGPU needs, torch below 2.12 and spaces; write the folder again"
_ABOUT = {
    "static": (
        "Everything that needs no engine: the opening, recorded runs, races, lessons, the Planner and results. "
        "It is made of plain files and asks nothing of any other host."
    ),
    "cpu": "The whole page with its engine on the CPU. Recorded runs, races and lessons need no engine.",
    "zerogpu": "The whole page. Recorded runs, races and lessons need no GPU.",
}


def readme(kind: str) -> str:
    """What stands behind the front matter."""
    return f"\n# HSD Explorer\n\nHierarchical speculative decoding, live and explained. {_ABOUT[kind]}\n"


def push(folder: str) -> str:
    """What to type next."""
    return f"to push it: hf auth login && hf upload YOUR-NAME/hsd-explorer {folder} . --type space"


def create(sdk: str) -> str:
    return f"before the first time: hf repos create YOUR-NAME/hsd-explorer --type space --sdk {sdk}"


def no_line(line: str) -> str:
    return f"front matter: {line!r} is not a key with a value; write it as key: value, once"


def unknown_key(name: str) -> str:
    return f"front matter: {name} is no key that a Space has; leave it out"


def missing_key(name: str) -> str:
    return f"front matter: {name} is missing; add it"


def bad_value(name: str, value: str) -> str:
    return f"front matter: {name} cannot be {value!r}; see the Hub's Spaces configuration reference"


def too_large(name: str, mb: float, most: float) -> str:
    return f"{name} has {mb:.1f} MB, and the Hub takes {most:g} MB in a plain file"


def no_link(link: str) -> str:
    return f"{link} is named, but is no file of the folder"


def other_version(version: str) -> str:
    return f"sdk_version is {version}, which is not the gradio that is installed; write the folder again"


def holds(folder: str, name: str) -> str:
    return f"{folder} holds {name!r}, which is of no Space written here; name an empty folder or a new one"
