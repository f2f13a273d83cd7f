"""What comes in from the network: routes, origins and bodies are refused before Gradio sees them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pagekit import awaited

from app.kit.static import files
from app.page import build, launch_options
from app.serve.door.guard import API, CALLS, LOCAL, MAX_BODY, Guard, RequestRefused, names
from app.serve.door.policy import SPACES, SecurityPolicy, content_policy
from app.serve.door.proxied import space_id
from app.tabs.explore.recordings import MAX_CALL
from app.tabs.planner.profiles.engine_outputs import MAX_OUTPUT, MAX_REQUEST
from app.words import page as page_says
from hsd_core.pipeline import Pipeline

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def served(recordings: Path) -> Iterator[httpx.Client]:
    """The real page, which answers to this machine's names only."""
    demo = build(Pipeline, recordings)
    options = {**launch_options(hosts=LOCAL), "quiet": True}
    _, address, _ = demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, **options)
    with httpx.Client(base_url=address.rstrip("/"), timeout=60) as client:
        yield client
    demo.close()


def call(served: httpx.Client, name: str, data: Any, **headers: str) -> httpx.Response:
    components = served.get("/config").json()["components"]
    stage = next(x["id"] for x in components if x["props"].get("elem_id") == "stage")
    body = {"data": data, "component_id": stage, "session_hash": "s", "fn_name": name}
    return served.post(CALLS, content=json.dumps(body), headers={**JSON, **headers})


@pytest.mark.parametrize(
    "path",
    [
        "/monitoring",
        "/monitoring/summary",
        f"{API}/file=/etc/passwd",
        f"{API}/proxy=https://x.hf.space/",
        f"{API}/stream/a/b/1/playlist.m3u8",
        f"{API}/deep_link?session_hash=a",
        f"{API}/runs",
        f"{API}/dev/reload",
        f"{API}/token",
        f"{API}/vibe-code",
        f"{API}/custom_component/a/client/b/c",
        "/login",
        "/docs",
    ],
)
def test_what_the_page_does_not_use_is_not_there(served: httpx.Client, path: str) -> None:
    answer = served.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is no such address on this server"}


def test_nothing_can_be_uploaded(served: httpx.Client) -> None:
    for path in ("upload", "process_recording"):
        assert served.post(f"{API}/{path}", files={"files": ("a.txt", b"x")}).status_code == 404


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("path", "limit"), [(CALLS, MAX_CALL), (f"{API}/queue/join", MAX_BODY), ("/", MAX_BODY)])
def test_a_body_that_is_too_large_is_refused(served: httpx.Client, path: str, limit: int, chunked: bool) -> None:
    piece = b" " * 2**16
    pieces = (piece for _ in range(limit // len(piece) + 2))
    sent = pieces if chunked else piece * (limit // len(piece) + 2)
    answer = served.post(path, content=sent, headers=JSON)
    assert answer.status_code == 413
    assert f"larger than {limit / 2**20:.3g} MB" in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # a program
        ({"origin": "{own}"}, 200),
        ({"origin": "https://x.hf.space", "x-forwarded-host": "x.hf.space"}, 200),
        ({"origin": "https://mine.example", "sec-fetch-site": "same-origin"}, 200),  # a proxy that changes Host
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "{own}", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://localhost:1", "sec-fetch-site": "same-site"}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403),  # a name of theirs that leads here
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
    ],
)
def test_only_the_page_and_programs_may_call(served: httpx.Client, headers: dict[str, str], status: int) -> None:
    own = str(served.base_url).rstrip("/")
    answer = call(served, "stop", {"run": "a" * 32}, **{k: v.replace("{own}", own) for k, v in headers.items()})
    assert answer.status_code == status


FOREIGN_PAGES = (
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
)


@pytest.mark.parametrize("foreign", FOREIGN_PAGES)
def test_foreign_pages_may_lead_here_and_read_nothing(served: httpx.Client, foreign: dict[str, str]) -> None:
    routes = [route.path for route in launch_options()["app_kwargs"]["routes"]]
    assert len(routes) > 15
    own = [path.replace("{name}", "00-toy") for path in routes if "{version}" not in path]
    for path in ("/config", "/", f"{API}/info", f"{API}/queue/data?session_hash=a", *own):
        assert served.get(path, headers=foreign).status_code == 403, path
    assert served.options("/hx/results", headers=foreign).status_code == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert served.get("/", headers=link).status_code == 200
    assert served.get(f"{files().route}/css/first.css", headers=foreign).status_code == 200, "the same for everybody"


def test_a_text_for_the_doctor_may_have_two_megabytes(served: httpx.Client) -> None:
    for size, status in ((MAX_OUTPUT, 422), (MAX_OUTPUT + 1, 422)):
        text = (f"{'prose ' * 20}\n" * (size // 120))[:size]
        answer = served.post("/hx/planner/doctor", json={"texts": [{"name": "", "text": text}]})
        assert answer.status_code == status
        assert ("more than 2 MB" in answer.json()["error"]) == (size > MAX_OUTPUT), answer.text
    assert served.post("/hx/planner/doctor", content=b" " * (MAX_REQUEST + 1), headers=JSON).status_code == 413


def test_the_doctor_says_the_best_draft_length_of_each_kind_of_text(served: httpx.Client) -> None:
    run = {"engine": "vllm", "rounds": 1000, "drafted": 4000, "accepted": 1400, "k": 4, "kept": [700, 400, 200, 100]}
    times = {"decode_ms": 30_000, "timed_tokens": 2400, "timed_passes": 1000, "draft_ms": 8000, "draft_timed": 4000}
    texts = [{"name": "runs", "text": json.dumps({"format": "hsd-doctor-runs", "runs": [run | times]})}]

    def asked(categories: Any) -> Any:
        question = {"texts": texts, "plain_ms": 20, "categories": categories}
        return served.post("/hx/planner/doctor", json=question).json()

    answer = asked("coding=4.4, chat=2")
    coding, chat = answer["by_category"]
    assert (coding["category"], chat["category"]) == ("coding", "chat") and coding["k"] > chat["k"]
    assert f'"num_speculative_tokens": {chat["k"]}' in chat["setting"]
    assert answer["categories"] == "coding=4.4, chat=2" and asked("")["by_category"] == []
    for wrong, said in (("coding", "write coding=3.1"), ("coding=9", "more than drafts of 4 can give"), (3, "such as")):
        refused = asked(wrong)
        assert said in refused["error"]


def test_the_public_endpoint_answers_to_programs(served: httpx.Client) -> None:
    gradio_client = pytest.importorskip("gradio_client")
    client = gradio_client.Client(str(served.base_url), verbose=False)
    answer = client.predict("hi", "table:2@id=order1,table@id=order6", "toy", max_new_tokens=3, api_name="/run_stack")
    assert answer["totals"]["footer"]["committed"] == 3


def test_the_page_s_policy_names_each_script_in_it_and_no_other_origin(served: httpx.Client) -> None:
    answer = served.get("/")
    policy = answer.headers["content-security-policy"]
    script = answer.text.split("<script>")[1].split("</script>")[0]
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    for part in ("default-src 'self'", "object-src 'none'", "base-uri 'self'", "frame-ancestors 'self'"):
        assert part in policy.split("; ")
    assert "http" not in policy
    for path in ("/", f"{files().route}/js/tabs/explore/explore.js", "/nothing"):
        headers = served.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_a_space_may_be_framed_by_the_hub_and_by_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert content_policy([], SPACES).endswith("frame-ancestors 'self' https://huggingface.co https://*.hf.space")

    def frames() -> Any:
        middleware = launch_options()["app_kwargs"]["middleware"]
        return next(x.kwargs["frames"] for x in middleware if x.cls is SecurityPolicy)

    monkeypatch.delenv("SPACE_ID", raising=False)
    assert frames() == ()
    monkeypatch.setenv("SPACE_ID", "someone/hsd-explorer")
    assert frames() == SPACES


def test_a_space_can_be_duplicated_from_its_page_and_from_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for space, link in (
        ("", ""),
        ("someone/hsd-explorer", "https://huggingface.co/spaces/someone/hsd-explorer?duplicate=true"),
        ('"><script>', ""),
    ):
        monkeypatch.setenv("SPACE_ID", space)
        foot = page_says.footer("hx/reference.html", space_id())
        assert ("Duplicate this Space" in foot) == bool(link) and link in foot and "<script" not in foot
    assert "_blank" in page_says.footer("hx/reference.html", "a/b"), "the Hub's pages do not open in its frame"


def test_names_a_server_answers_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SHARE"):
        monkeypatch.delenv(name, raising=False)
    assert names(None, share=False) == names("127.0.0.1", share=False) == LOCAL
    assert names(None, share=True) is None
    assert names("0.0.0.0", share=False) is None
    assert names(None, share=False, allowed=["My.example"]) == LOCAL | {"my.example"}
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")  # as on a Space
    assert names(None, share=False) is None


def test_a_websocket_is_closed() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    awaited(Guard(None, larger={})({"type": "websocket"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


def sent_to(guard: Guard, *parts: int, ends: bool = True) -> list[Any]:
    """What the guard answers to a POST whose body comes in parts of so many bytes, and may break off."""
    messages = [{"type": "http.request", "body": bytes(n), "more_body": True} for n in parts]
    messages.append({"type": "http.request", "more_body": False} if ends else {"type": "http.disconnect"})
    answered: list[Any] = []
    path = CALLS.encode()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": CALLS, "raw_path": path, "headers": headers}

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        answered.append(message)

    awaited(guard(scope, receive, send))
    return answered


@pytest.mark.parametrize("how", ["whole", "broken off", "too large", "refused by the page"])
def test_what_one_large_call_held_is_free_again_however_it_ends(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Only so much of large calls is held together: what were kept would be taken from all that come later."""
    most = 2**20
    monkeypatch.setattr("app.serve.door.guard.MAX_HELD", most)
    seen: list[int] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        seen.append(len((await receive())["body"]))
        if how == "refused by the page":
            raise RequestRefused(400, "no")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(page, larger={CALLS: MAX_BODY + most})
    parts = [MAX_BODY, most // 2, most // 2]
    for _ in range(3):
        sent_to(guard, *parts, *([1] if how == "too large" else []), ends=how != "broken off")
    how = "whole"
    (start, _) = sent_to(guard, *parts)
    assert start["status"] == 200 and seen[-1] == sum(parts)


def test_calls_beyond_what_is_held_together_are_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.serve.door.guard.MAX_HELD", 100)
    start, body = sent_to(Guard(None, larger={CALLS: 2 * MAX_BODY}), MAX_BODY, 101)
    assert start["status"] == 503 and b"others are sending" in body["body"]
