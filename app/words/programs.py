"""What programs are told that call the server."""

from __future__ import annotations

WHICH_TRACE = "give the name of a recording or a file, one of the two; the endpoint recordings lists the names"
KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
    "object": "an object of fields",
}


WRONG_ID = "the id of a request must be a text or a whole number"
NO_STREAM = "the server says nothing unasked; post messages here"


def wrong_kind(name: str, wanted: str, given: str) -> str:
    return f"{name} must be {wanted}, not {given}; /gradio_api/info lists the parameters"


def no_tool(given: str, known: str) -> str:
    return f"there is no tool {given!r}; the tools are {known}"
