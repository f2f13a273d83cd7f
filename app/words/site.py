"""What a page without a server says of that."""

from __future__ import annotations

NO_ENGINE = (
    "this copy of the page has no engine: it replays what was recorded; start the program on your own machine to run "
    "prompts of your own"
)
NO_SERVER = "this copy of the page has no server; start the program on your own machine for that"
OPENING = "Opening the page…"
FAILED = "This part of the page could not be opened."
NO_SCRIPT = "This page needs JavaScript, which is off here."
