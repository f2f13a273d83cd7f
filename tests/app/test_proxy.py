"""The page below a path of another host: a real nginx with its default headers stands before the server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import first_always
from pagekit import SEEN, UNFOLDED, at_tools, awaited, launched, slowed
from test_page import finished, generate

from app.options import parse
from app.serve.door.guard import LOCAL, names
from app.serve.door.proxied import Proxied, Public, public
from app.workshop.room_routes import announce, new_room
from hsd_core.pipeline import Pipeline

CONFIG = """
daemon off; master_process off; error_log stderr; pid nginx.pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  ssl_certificate cert.pem; ssl_certificate_key key.pem;
  server {{ listen 127.0.0.1:{stripped} ssl; location /hsd/ {{ proxy_pass {server}/; }} }}
  server {{ listen 127.0.0.1:{kept} ssl; location /hsd/ {{ proxy_pass {server}; }} }}
}}
"""
TABS = ("Race", "Planner", "Learn", "Results", "Atlas", "Explore")


@dataclass
class Nginx:
    """`pages`: the addresses of the page, where the prefix is taken off and where it is passed on."""

    folder: Path
    pages: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")])
        host, port = self.pages["kept"].split("/")[2].split(":")
        for _ in range(200):
            try:
                socket.create_connection((host, int(port)), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail("nginx does not answer")

    def stop(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@contextmanager
def before(server: str, folder: Path) -> Iterator[Nginx]:
    """A running nginx before this server, with TLS; its answers come from `localhost`."""
    missing = [name for name in ("nginx", "openssl") if shutil.which(name) is None]
    if missing:
        reason = f"no {' and no '.join(missing)}: apt-get install {' '.join(missing)}"
        pytest.fail(reason) if os.environ.get("HSD_REQUIRE_BROWSER") else pytest.skip(reason)
    made = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run(made.split(), cwd=folder, check=True, capture_output=True)
    with socket.socket() as one, socket.socket() as other:
        ports = []
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    config = CONFIG.format(server=server, stripped=ports[0], kept=ports[1])
    (folder / "nginx.conf").write_text(config, encoding="utf-8")
    pages = {name: f"https://localhost:{port}/hsd/" for name, port in zip(("stripped", "kept"), ports, strict=True)}
    nginx = Nginx(folder, pages)
    nginx.start()
    try:
        yield nginx
    finally:
        nginx.stop()


@pytest.fixture(scope="module")
def nginx(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """Before the page with its tools, as a server for this machine alone has them."""
    options = {"traces": recordings, "hosts": LOCAL, "mcp": True, "public": Public("/hsd")}
    with launched(slowed(Pipeline), **options) as server, before(server, tmp_path_factory.mktemp("nginx")) as nginx:
        yield nginx


@pytest.fixture
def outside(browser: Any, nginx: Nginx) -> Iterator[Any]:
    """A page that does not mind nginx's certificate; its test fails if it asks for anything that is not below the
    prefix, or that is not there, or says anything on the console."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, accept_downloads=True, ignore_https_errors=True
    )
    context.add_init_script(SEEN)
    context.add_init_script(UNFOLDED)
    page, faults = context.new_page(), []
    pages = tuple(nginx.pages.values())
    page.set_default_timeout(90_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("request", lambda one: None if one.url.startswith((*pages, "data:", "blob:")) else faults.append(one.url))
    page.on("response", lambda one: faults.append(f"{one.status} {one.url}") if one.status >= 400 else None)
    page.faults = faults
    yield page
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("prefix", ["stripped", "kept"])
@pytest.mark.everything
def test_all_that_the_page_asks_for_lies_below_the_prefix(nginx: Nginx, outside: Any, prefix: str) -> None:
    page, here = outside, nginx.pages[prefix]
    page.goto(f"{here}?preset=toy&max_new_tokens=24&stack=table:4@id=order1,table@id=order6")
    page.locator("#hx-first").wait_for(state="detached")
    for name in TABS:
        page.get_by_role("tab", name=name, exact=True).click()
        page.wait_for_function("(url) => location.href.startsWith(url)", arg=here)
        page.wait_for_timeout(300)
    generate(page, "The tower never")
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    with page.expect_download():
        page.get_by_role("button", name="download the trace").click()
    page.get_by_role("button", name="Recordings").click()
    page.locator(".hx-shelf-item").filter(has_text="A toy tower").first.click()
    page.wait_for_selector(".hx-status[data-mode='recorded']")
    page.get_by_role("button", name="Share", exact=True).click()
    link = page.get_by_role("textbox", name="This moment").input_value()
    assert link.startswith(f"{here}?recording=00-toy")
    page.get_by_role("button", name="Code: This moment").click()
    page.get_by_role("dialog", name="QR code: This moment").get_by_role("img", name="QR code").wait_for()
    page.goto(link)
    page.get_by_role("heading", name="A toy tower").wait_for()
    assert page.faults == []


@pytest.mark.browser
@pytest.mark.everything
def test_a_connection_that_is_cut_takes_its_run_up_again(nginx: Nginx, outside: Any) -> None:
    page = outside
    query = "preset=toy&max_new_tokens=512&baseline=0&stack=table:3@id=order1,table@id=order6"
    page.goto(f"{nginx.pages['stripped']}?{query}")
    page.locator("#hx-first").wait_for(state="detached")
    generate(page, "The small level drafts")
    page.wait_for_selector(".hx-status[data-mode='live']")
    nginx.stop()
    page.wait_for_timeout(8000)
    with page.expect_navigation():
        nginx.start()
    page.wait_for_selector(".hx-status[data-mode='live']")
    finished(page)
    assert "stopped" not in page.locator(".hx-status").inner_text()
    assert page.locator("#hx-prompt").input_value() == "The small level drafts"


@first_always("prefix", ["kept", "stripped"])
def test_a_client_of_the_tools_and_gradio_s_own_speak_through_the_proxy(
    nginx: Nginx, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradio_client, here = pytest.importorskip("gradio_client"), nginx.pages[prefix]
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.folder / "cert.pem"))
    client = gradio_client.Client(here, verbose=False, ssl_verify=False)
    found = client.predict("hi", "table:2@id=order1,table@id=order6", "toy", max_new_tokens=3, api_name="/run_stack")
    assert found["totals"]["footer"]["committed"] == 3

    async def asks() -> Any:
        async with at_tools(here.rstrip("/")) as session:
            return await session.call_tool("recordings")

    assert "A toy tower" in str(awaited(asks()).content)


@pytest.mark.everything
def test_a_class_finds_its_room_below_the_prefix(recordings: Path, tmp_path: Path) -> None:
    room = new_room()
    announce(room, "127.0.0.1", 7860, public("https://localhost/hsd"))
    assert room.address == "https://localhost/hsd/"
    options = {"traces": recordings, "hosts": LOCAL, "public": Public("/hsd"), "room": room}
    with launched(Pipeline, **options) as server, before(server, tmp_path) as nginx:
        for here in nginx.pages.values():
            with httpx.Client(base_url=here, verify=False, timeout=60.0) as client:
                assert client.post("hx/room/enter", json={"code": room.members.code}).json() == {"leads": False}
                assert client.get("hx/room/now").status_code == 200
                foreign = client.post("hx/room/enter", json={}, headers={"sec-fetch-site": "cross-site"})
                assert foreign.status_code == 403


# ---- the option, and the middleware alone


def test_the_option_takes_a_path_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HSD_ROOT_PATH", raising=False)
    assert parse([]).public == Public()
    assert parse(["--root-path", "/hsd/"]).public == Public("/hsd")
    found = parse(["--root-path", "https://Lab.example:8443/user/ada%40x/hsd"]).public
    assert (found.path, found.origin, found.host) == ("/user/ada%40x/hsd", "https://lab.example:8443", "lab.example")
    monkeypatch.setenv("HSD_ROOT_PATH", "https://lab.example")
    assert parse([]).public.address == "https://lab.example"


@pytest.mark.parametrize("given", ["hsd", "//hsd", "/a b", "ftp://a/b", "https://", "/hsd?x=1", "https://a b/", "/#a"])
def test_what_is_no_path_is_refused_with_the_cure(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--root-path", given])
    assert "write it as /hsd or https://host/hsd" in capsys.readouterr().err


def test_a_local_server_answers_to_the_name_in_the_address() -> None:
    assert names(None, share=False, public="lab.example") == LOCAL | {"lab.example"}
    assert names("0.0.0.0", share=False, public="lab.example") is None


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/hsd/", "/"),
        ("/hsd/hx/a.js", "/hx/a.js"),
        ("/hx/a.js", "/hx/a.js"),  # the proxy has taken the prefix off
        ("/hsdx/", "/hsdx/"),
        ("/hsd/hsd/", "/hsd/"),
    ],
)
def test_the_server_sees_paths_without_the_prefix_and_leads_back_below_it(path: str, seen: str) -> None:
    scope, sent = _through(path, [(b"location", b"http://here:1/gradio_api/mcp/?a=b")])
    assert (scope["path"], scope["root_path"]) == (seen, "")
    assert dict(sent[0]["headers"])[b"location"] == b"/hsd/gradio_api/mcp/?a=b"


@pytest.mark.parametrize("there", [b"https://elsewhere/x", b"../a/b", b"http://here:10/x"])
def test_what_leads_elsewhere_is_left(there: bytes) -> None:
    _, sent = _through("/hsd/x", [(b"location", there)])
    assert dict(sent[0]["headers"])[b"location"] == there


def test_the_prefix_alone_leads_to_the_page() -> None:
    scope, sent = _through("/hsd", [])
    assert scope == {} and sent[0]["status"] == 308 and dict(sent[0]["headers"])[b"location"] == b"/hsd/"


def test_event_streams_ask_the_proxy_not_to_hold_them_back() -> None:
    _, sent = _through("/hsd/x", [(b"content-type", b"text/event-stream; charset=utf-8")])
    assert dict(sent[0]["headers"])[b"x-accel-buffering"] == b"no"
    _, sent = _through("/hsd/x", [(b"content-type", b"application/json")])
    assert b"x-accel-buffering" not in dict(sent[0]["headers"])


def _through(path: str, headers: list[tuple[bytes, bytes]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the server sees of a request, and what is sent where it answers with these headers."""
    seen: dict[str, Any] = {}
    sent: list[dict[str, Any]] = []

    async def server(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "root_path": "/hsd", "headers": [(b"host", b"here:1")]}
    awaited(Proxied(server, path="/hsd")(scope, None, send))  # type: ignore[arg-type]
    return seen, sent
