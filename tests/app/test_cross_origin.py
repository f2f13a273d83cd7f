"""Pages of other origins: those that the operator names may call, and show the page; all others are refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gradio
import httpx
import pytest
from pagekit import awaited, launched

from app.options import command_line, parse
from app.page import launch_options
from app.serve.door.cross_origin import CrossOrigin, named_origins
from app.serve.door.guard import API, Guard
from app.serve.door.policy import OriginError
from hsd_core.pipeline import Pipeline

NAMED, OTHER = "https://lab.example", "https://evil.example"
BROWSER = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
CORS = "access-control-allow-origin"
PAGE = '<!doctype html><title>elsewhere</title><script type="module" src="/gradio.js"></script><gradio-app src="%s">'


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """An answer with Gradio's own headers, as it gives them on a public host."""
    said = [(b"access-control-allow-origin", b"*"), (b"Access-Control-Allow-Credentials", b"true")]
    await send({"type": "http.response.start", "status": 200, "headers": said})
    await send({"type": "http.response.body", "body": b"{}"})


def asked(method: str, path: str, origin: str, **headers: str) -> httpx.Response:
    """What a browser hears that shows a page of this origin."""
    app = CrossOrigin(Guard(inner, larger={}, allowed=(NAMED,)), origins=(NAMED,))

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            content = "{}" if method == "POST" else None
            given = {"origin": origin, **BROWSER, **headers}
            return await client.request(method, path, headers=given, content=content)

    answer: httpx.Response = awaited(ask())
    return answer


def test_a_named_page_may_call_and_carries_no_cookies() -> None:
    for method, path in (("GET", "/config"), ("POST", f"{API}/queue/join"), ("GET", f"{API}/queue/data")):
        answer = asked(method, path, NAMED, **{"content-type": "application/json"})
        assert (answer.status_code, answer.headers[CORS]) == (200, NAMED), path
        assert answer.headers["vary"] == "origin" and "access-control-allow-credentials" not in answer.headers
    ahead = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    answer = asked("OPTIONS", f"{API}/queue/join", NAMED, **ahead)
    assert (answer.status_code, answer.headers[CORS]) == (204, NAMED)
    assert answer.headers["access-control-allow-headers"] == "content-type"
    refused = asked("GET", "/nothing", NAMED)
    assert (refused.status_code, refused.headers[CORS]) == (404, NAMED), "and reads why it is refused"


@pytest.mark.parametrize("origin", [OTHER, "null", f"{NAMED}.evil.example", NAMED.replace("https", "http")])
def test_every_other_page_is_refused(origin: str) -> None:
    for method, path in (("GET", "/config"), ("POST", f"{API}/queue/join"), ("OPTIONS", f"{API}/queue/join")):
        answer = asked(method, path, origin, **{"content-type": "application/json"})
        assert answer.status_code == 403 and CORS not in answer.headers


def test_origins_are_named_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named_origins(f"{NAMED}/, https://B.example:8443") == (NAMED, "https://b.example:8443")
    for wrong in ("lab.example", "https://*.example", "*"):
        with pytest.raises(OriginError, match="https://teaching"):
            named_origins(wrong)
    monkeypatch.setenv("HSD_ALLOW_ORIGIN", OTHER)
    assert command_line().parse_args([]).allow_origin == OTHER
    assert parse(["--allow-origin", NAMED, "--allow-origin", "https://b.example"]).callers == (
        NAMED,
        "https://b.example",
    )
    guards = [one.cls for one in launch_options(callers=(NAMED,))["app_kwargs"]["middleware"]]
    assert guards.index(CrossOrigin) < guards.index(Guard)
    assert CrossOrigin not in [one.cls for one in launch_options()["app_kwargs"]["middleware"]]


@contextmanager
def elsewhere(page: dict[str, str]) -> Iterator[str]:
    """The address of a host that has what stands in `page`, and Gradio's web component as its own."""

    class Host(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page["text"].encode())

        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    frontend = str(Path(gradio.__file__).parent / "templates" / "frontend")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=frontend))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.everything
@pytest.mark.parametrize("named", [True, False])
def test_the_web_component_shows_the_page_to_a_named_origin_alone(browser: Any, named: bool) -> None:
    context, page = browser.new_context(), {"text": ""}
    with elsewhere(page) as host, launched(Pipeline, callers=(host,) if named else ()) as address:
        page["text"] = PAGE % address
        tab = context.new_page()
        with tab.expect_response(f"{address}/config") as config:
            tab.goto(host)
        assert config.value.status == (200 if named else 403)
        if named:
            tab.locator("gradio-app .hx-flow .hx-tok").first.wait_for(timeout=90_000)
            tab.wait_for_function("getComputedStyle(document.querySelector('.hx-foot')).textAlign === 'center'")
        else:
            assert not tab.locator("gradio-app [role=tab]").count()
    context.close()
