"""The frame of the page, and what the server answers where it refuses a request."""

from __future__ import annotations

TITLE = "HSD Explorer"
WHY = (
    "The same text, sooner: small levels guess ahead, the large one checks many guesses at once. "
    "Colour says who wrote what."
)
OPENING_PAGE = "Opening the page…"
NO_PAGE_SCRIPT = "The page's script could not be loaded: "  # and why
NO_SCRIPT = "The script of this tab could not be loaded: "  # and why
NO_LINK = "no link was given"
CLOSING = "the server is closing"
NO_SUCH_ADDRESS = "this page has no such address"
FOREIGN = "called by a page of another origin; open this server's own page, or use its API"
NOT_JSON = "the body must be JSON; send it as Content-Type: application/json"
OTHERS_SEND = "others are sending large files; try again in a minute"


def opening(what: str) -> str:
    return f"Opening the {what}…"


def link_too_long(most: int) -> str:
    return f"a code holds a link of at most {most} characters"


def wrong_host(host: str) -> str:
    return f"this server does not answer to {host!r}; start it with --allow-host {host}"


def wrong_method(method: str) -> str:
    return f"{method} is not used here; use GET or POST"


def too_slow(seconds: float) -> str:
    return f"the request took longer than {seconds:.0f} s to arrive; try again"


def too_large(mb: float) -> str:
    return f"the request is larger than {mb:.3g} MB; send less"
