"""What a page without a server says of that."""

from __future__ import annotations

NO_ENGINE = (
    "this copy of the page has no engine: it replays what was recorded; to run prompts of your own, start the program: "
    "python app.py"
)
NO_SERVER = "this copy of the page has no engine; for that start the program: python app.py"
NOT_AHEAD = (
    "this copy of the page has prices of recorded, ready-made and planned stacks alone; for others start the program: "
    "python app.py"
)
OPENING = "Opening the page…"
FAILED = "This part of the page could not be opened."
NO_SCRIPT = "This page needs JavaScript, which is off here."


def too_large(mb: float, most: float) -> str:
    return f"the page would take {mb:.1f} MB, and at most {most:g} are allowed"


def holds(folder: str, name: str) -> str:
    return f"{folder} holds {name!r}, which is of no page; name an empty folder or a new one"


def no_answer(path: str, code: int) -> str:
    return f"{path} is answered with {code}"
