"""Connections that are silent, slow or too many: they end, and those that are used go on."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from pagekit import launched

from app import page
from app.serve.door.connections import limit
from hsd_core.pipeline import Pipeline

GET = b"GET /%s HTTP/1.1\r\nhost: x\r\n\r\n"
LARGE = 2**24  # bytes: more than the system keeps for a client that takes none
SOON_S = 0.2


async def answers(scope: Any, receive: Any, send: Any) -> None:
    """ "/quick" at once; "/slow" after more than a connection may be silent; "/large" with much; "/stream" no end."""
    if scope["type"] != "http":
        return
    if scope["path"] == "/stream":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"answered", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    if scope["path"] == "/slow":
        await asyncio.sleep(4 * SOON_S)
    body = bytes(LARGE) if scope["path"] == "/large" else b"answered"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def served(trusted: str = "", *, late: bool = False, **options: Any) -> Iterator[Callable[..., socket.socket]]:
    """Opens connections to a limited server, from an address of this machine; they are closed at the end.

    late: one of them, a stream, came before the limit.
    """
    config = uvicorn.Config(answers, port=0, log_level="error", lifespan="off", forwarded_allow_ips=trusted)
    server = uvicorn.Server(config)
    server.config.load()
    if not late:
        limit(server, **{"header_s": SOON_S, **options})
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with ExitStack() as opened:

        def connected(come_from: str = "127.0.0.1") -> socket.socket:
            one = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(come_from, 0))
            return opened.enter_context(closing(one))

        if late:
            early = connected()
            assert asks(early, b"stream")
            limit(server, **options)
        try:
            yield connected
        finally:
            server.should_exit = server.force_exit = True
    thread.join(30)


def rest(one: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    parts = bytearray()
    try:
        while part := one.recv(2**16):
            parts += part
    except ConnectionError:
        pass
    return bytes(parts)


def answered(one: socket.socket) -> bool:
    """Whether the quick answer comes, before the connection ends."""
    found = b""
    while b"answered" not in found and (part := one.recv(2**16)):
        found += part
    return b"answered" in found


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: "])
def test_a_connection_that_says_nothing_or_half_a_header_is_closed(said: bytes) -> None:
    with served() as connected:
        one = connected()
        one.sendall(said)
        assert rest(one) == b""


def test_a_header_that_comes_letter_by_letter_wins_no_time() -> None:
    with served() as connected:
        one = connected()
        one.settimeout(0.02)
        for _ in range(3000):
            try:
                one.sendall(b"x")
                if one.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("a minute of single letters, and the connection is open still")


def test_half_a_header_behind_an_answer_is_closed_too() -> None:
    with served() as connected:
        one = connected()
        one.sendall(GET % b"quick" + b"GET /quick HTTP/1.1\r\nhost")
        assert rest(one).count(b"answered") == 1


def test_a_connection_outlasts_those_that_programs_keep_and_no_more() -> None:
    with served() as connected:  # a server whose header has less time
        one = connected()
        one.sendall(GET % b"quick")
        assert answered(one) and rest(one) == b""
    config = uvicorn.Config(answers)
    usual = config.timeout_keep_alive  # as long as httpx keeps one: some would be closed as they are used
    config.load()
    limit(uvicorn.Server(config))
    assert config.timeout_keep_alive >= 2 * usual


def test_an_answer_may_take_longer_than_silence_may() -> None:
    with served() as connected:
        one = connected()
        one.sendall(GET % b"slow" * 2)  # the second one waits behind the first
        assert rest(one).count(b"answered") == 2


def test_a_client_that_takes_nothing_of_its_answer_is_let_go() -> None:
    with served(stalled_s=SOON_S) as connected:
        one = connected()
        one.sendall(GET % b"large")
        with served(stalled_s=60.0) as patiently:
            other = patiently()
            other.sendall(GET % b"large")
            threading.Event().wait(4 * SOON_S)  # neither takes anything
            assert len(rest(one)) < LARGE
            assert len(rest(other)) > LARGE


def test_where_all_places_are_taken_the_longest_silent_connection_makes_room() -> None:
    with served(most=3, of_an_address=3, header_s=60.0) as connected:
        silent = [connected() for _ in range(3)]
        for _ in range(5):
            one = connected()
            one.sendall(GET % b"quick")
            assert answered(one)
            one.close()
        assert rest(silent[0]) == b""
        silent[2].sendall(GET % b"quick")
        assert answered(silent[2]), "only as many went as were needed"


def test_where_all_are_at_work_one_more_is_told_to_come_again() -> None:
    with served(most=2, of_an_address=2) as connected:
        busy = [connected() for _ in range(2)]
        for one in busy:
            one.sendall(GET % b"slow")
        threading.Event().wait(SOON_S)
        assert rest(connected()).startswith(b"HTTP/1.1 503 ")
        assert all(b"answered" in rest(one) for one in busy)


def asks(one: socket.socket, path: bytes, *headers: bytes) -> bool:
    """Whether an answer begins."""
    one.sendall(b"\r\n".join((b"GET /%s HTTP/1.1" % path, b"host: x", *headers, b"", b"")))
    return answered(one)


def ended(one: socket.socket) -> bool:
    """Whether the server has ended a stream."""
    one.settimeout(0.05)
    try:
        return one.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="this machine has one address of its own")
def test_one_address_cannot_take_all_places() -> None:
    with served(most=8, of_an_address=5) as connected:
        other = connected("127.0.0.2")
        assert asks(other, b"stream")
        many = []
        for _ in range(12):
            many.append(connected())
            assert asks(many[-1], b"stream"), "who comes last is served, at the cost of its own"
        assert [ended(one) for one in many] == [True] * 7 + [False] * 5
        assert asks(connected("127.0.0.3"), b"quick") and not ended(other)


@pytest.mark.skipif(sys.platform != "linux", reason="this machine has one address of its own")
def test_where_all_are_streams_the_oldest_of_the_busiest_address_makes_room() -> None:
    with served(most=4, of_an_address=4) as connected:
        first, *busiest = (connected(f"127.0.0.{end}") for end in (2, 3, 3, 3))
        assert all(asks(one, b"stream") for one in (first, *busiest))
        assert asks(connected(), b"quick")
        assert [ended(one) for one in (first, *busiest)] == [False, True, False, False]


def test_a_connection_that_came_before_the_limit_is_no_hindrance() -> None:
    with served(late=True, most=3, of_an_address=2) as connected:
        streams = []
        for _ in range(4):
            streams.append(connected())
            assert asks(streams[-1], b"stream")
        assert [ended(one) for one in streams] == [True, True, False, False]


def test_behind_a_trusted_proxy_addresses_are_those_that_it_names() -> None:
    with served("127.0.0.1", most=4, of_an_address=2) as connected:
        streams = []
        for number in (1, 1, 2, 3):
            streams.append(connected())
            assert asks(streams[-1], b"stream", b"x-forwarded-for: 192.0.2.%d" % number)
        assert not any(ended(one) for one in streams)
        assert asks(connected(), b"quick", b"x-forwarded-for: 192.0.2.9")
        assert [ended(one) for one in streams] == [True, False, False, False]


def test_the_page_is_served_with_these_limits(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited: list[Any] = []
    monkeypatch.setattr(page, "limit", limited.append)
    with launched(Pipeline, traces=recordings):
        (server,) = limited
        assert isinstance(server, uvicorn.Server)
    assert "serve(demo" in (Path(__file__).parents[2] / "app.py").read_text(encoding="utf-8")
