"""Headers that tell a browser what the page may do: its own scripts, no plugins, no foreign frames around it.

Gradio writes a few scripts into the page itself; they are allowed by their hashes, so that no other inline script and
no inline event handler runs. `'unsafe-eval'` has to stay: Gradio makes functions out of a component's template.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from app.kit.static import ROUTE, files
from app.serve.door.first import FirstPaint
from app.serve.door.guard import Message, Receive, Send
from app.serve.door.presence import Watch

SPACES = ("https://huggingface.co", "https://*.hf.space")  # they show a Space in a frame
_ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?")
_INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_FIXED = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class OriginError(ValueError):
    """No origin of a page; the message names the cure."""


def origins(text: str) -> tuple[str, ...]:
    """Origins out of "https://a.example,https://*.b.example".

    Raises:
        OriginError: one of them is none.
    """
    found = tuple(part.strip().rstrip("/") for part in text.split(",") if part.strip())
    for one in found:
        if not _ORIGIN.fullmatch(one):
            raise OriginError(f"{one[:80]!r} is not an origin of a page; write it as https://teaching.example")
    return found


class SecurityPolicy:
    """ASGI middleware. `frames`: origins that may show the page in a frame, besides its own."""

    def __init__(self, app: Any, *, frames: Sequence[str] = ()) -> None:
        self._app, self._frames = app, tuple(frames)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        page: list[Message] = []  # an answer in HTML waits here until its scripts are known

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if dict(message["headers"]).get(b"content-type", b"").startswith(b"text/html"):
                    page.append(message)
                    return
                message = self._headed(message, ())
            elif page and message["type"] == "http.response.body":
                page.append(message)
                if message.get("more_body", False):
                    return
                start, *parts = page
                page.clear()
                body = b"".join(part.get("body", b"") for part in parts)
                await send(self._headed(start, _INLINE.findall(body)))
                message = {"type": "http.response.body", "body": body}
            await send(message)

        await self._app(scope, receive, with_headers)

    def _headed(self, start: Message, scripts: Sequence[bytes]) -> Message:
        policy = content_policy(scripts, self._frames).encode()
        return {**start, "headers": [*start["headers"], *_FIXED, (b"content-security-policy", policy)]}


def content_policy(scripts: Sequence[bytes], frames: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of a page with these inline scripts that these origins may frame."""
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in scripts if text]
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self' 'unsafe-eval'", *hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-src 'none'",
            " ".join(("frame-ancestors 'self'", *frames)),
        )
    )


# ---- The web application around Gradio's: our routes, and what every request passes on its way in and out


def app_options(
    more: Sequence[BaseRoute] = (),
    guards: Sequence[Middleware] = (),
    *,
    held: bool = False,
    story: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What the web application needs to serve them: routes (`more` are those of the tabs), and headers on the page.
    `guards` stand before all of it; `held`, `story`: as in `FirstPaint`."""
    route = Route(f"{ROUTE}/{{version}}/{{name:path}}", files().__call__, methods=["GET"])
    middleware = [
        *guards,
        Middleware(Watch),
        Middleware(PageHeaders, links=files().links()),
        Middleware(FirstPaint, files=files().route[1:], story=story, held=held),
    ]
    return {"routes": [*more, route], "middleware": middleware}


class PageHeaders:
    """ASGI middleware: `Link` headers on the page; `Cache-Control: no-cache` (revalidate by ETag) on what of ours says
    nothing else."""

    def __init__(self, app: Any, *, links: str) -> None:
        self.app, self._links = app, links.encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope.get("path", "") if scope["type"] == "http" else None
        if path == "/":
            extra = (b"link", self._links)
        elif path is not None and f"{ROUTE}/" in path:
            extra = (b"cache-control", b"no-cache")
        else:
            await self.app(scope, receive, send)
            return

        async def send_with_header(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if extra[0] not in dict(headers):
                    message = {**message, "headers": [*headers, extra]}
            await send(message)

        await self.app(scope, receive, send_with_header)
