"""An HTML file of ours: its head, with the policy that lets nothing in from elsewhere."""

from __future__ import annotations

import base64
import hashlib

from hsd_core.typed import encode


def document(policy: str, *, title: str, head: str, marks: str, body: str) -> str:
    """The text of a file. It names an empty icon, as a browser asks the host for one otherwise.

    Args:
        policy: which scripts, styles and images are let in; nothing else is.
        head: elements behind the title. marks: attributes of the body. body: what is in it.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
{head}
</head>
<body {marks}>
{body}
</body>
</html>
"""


def hashed(text: bytes) -> str:
    """The source expression by which a policy knows a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"


def inside(value: object) -> str:
    """JSON that may stand inside a script element."""
    return encode(value).decode().replace("<", "\\u003c")
