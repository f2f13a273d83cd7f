"""The frame of the page, and what the server answers where it refuses a request."""

from __future__ import annotations

from collections.abc import Sequence

TITLE = "HSD Explorer"
WHY = (
    "Hierarchical speculative decoding: the same text, sooner. Small levels guess ahead, "
    "larger ones check many guesses at once."
)
OPENING_PAGE = "Opening the page…"
SANDBOXED = (
    "This frame keeps the page from its own files: its sandbox lacks allow-same-origin. "
    "Add that to the frame, or open the page in a window of its own."
)
NO_SCRIPTS = "The page needs scripts. Where a frame shows it, its sandbox needs allow-scripts and allow-same-origin."
NO_SCRIPT = "A script of the page could not be loaded: "  # and why
REFERENCE = "Reference"
DUPLICATE = "Duplicate this Space"
NO_REFERENCE = "The reference cannot be made now. Write it with: python -m hsd_core reference --out FILE"
NO_LINK = "no link was given"
CLOSING = "the server is closing"
NO_SUCH_ADDRESS = "there is no such address on this server"
FOREIGN = (
    "called from a page of another origin; open this server's own page, or use its API; where a proxy serves the page, "
    "start it with --root-path https://HOST/PATH"
)
NOT_JSON = "the body must be JSON; send it as Content-Type: application/json"
OTHERS_SEND = "others are sending large files; try again in a minute"

BROKEN_JSON = "the body is not valid JSON; send an object of fields"
NOT_FIELDS = "the body must be a JSON object of fields"
NO_FILES = "this page does not accept paths on the server; send the file itself"
NO_VALUES = "the field data must be a list of values; send [] where the event takes none"
NOT_QUEUED = "this event is not queued; post it to /gradio_api/run/predict"
NO_CALL = "there is no such call, or its answer was already fetched; post the call again and ask for its answer at once"
NO_SESSION = "nothing runs in this session; reload the page"


def footer(reference: str, space: str = "") -> str:
    """reference: its address from the page's. space: OWNER/NAME of the Space that serves the page, or "". The Hub shows
    a Space in a frame, in which its own pages do not open."""
    copied = f"https://huggingface.co/spaces/{space}?duplicate=true"
    duplicate = f' <a target="_blank" rel="noopener" href="{copied}">{DUPLICATE}</a>' if space else ""
    return f'<footer class="hx-foot"><a href="{reference}">{REFERENCE}</a>{duplicate}</footer>'


def too_deep(most: int) -> str:
    return f"the body is nested deeper than {most} levels; send a flatter one"


def missing(field: str) -> str:
    return f"the field {field} is missing; send it"


def no_name(field: str) -> str:
    return f"{field} must be 1 to 64 letters, digits, hyphens and underscores"


def no_number(field: str) -> str:
    return f"{field} must be a whole number from 0 up; /config lists the valid ones"


def no_component(number: object) -> str:
    return f"the page has no component {number}; reload the page, or take a number from /config"


def no_function(name: str) -> str:
    return f"this component has no function {name!r}; /config lists its functions"


def no_event(number: object) -> str:
    return f"the page has no event {number}; reload the page, or take a number from /config"


def no_endpoint(name: str) -> str:
    return f"there is no endpoint {name!r}; /gradio_api/info lists the endpoints"


def queued(name: str) -> str:
    return f"this event is queued; post it to /gradio_api/call/{name} and ask there for its answer"


def no_parameter(given: str, known: Sequence[str]) -> str:
    taken = f"the parameters are {', '.join(known)}" if known else "there are none here"
    return f"there is no parameter {given!r}; {taken}"


def how_many_values(wanted: int, given: int, names: str) -> str:
    return f"data has {given} values where the event takes {wanted}{f': {names}' if names else ''}"


def own_figures(most: int) -> str:
    return f"{most} others at your address are already waiting for figures. Choose the run again in a moment."


def all_figures(most: int) -> str:
    return f"{most} others are already waiting for figures. Choose the run again in a moment."


def waited(seconds: float) -> str:
    return f"{seconds:g} s passed before it was your turn; try again in a moment"


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


FIRST_GPU = "A GPU: there is none here."


def first_weights(title: str, reason: str) -> str:
    return f"The weights of {title}: {reason}."
