"""Connections that cost: how long one may be silent, and how many may be open.

uvicorn waits without end for the first byte, for the end of a request's header, and for a client that takes no answer;
and it opens as many connections as come. Here each of them has its time, and an address has a part of the places. When
they are taken, the connection that has been silent for the longest makes room, else the oldest stream that waits for
news, of the address that has the most.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

HEADER_S = 20.0  # for a whole header, from the connection's begin or the end of the answer before
IDLE_S = 15.0  # behind an answer: longer than programs keep a connection, so that none is closed as they ask on it
STALLED_S = 60.0  # for a client to take anything of an answer that waits for it
MOST = 600  # connections: a page holds one all the time, one more while it runs something, and six while it loads
OF_AN_ADDRESS = 400  # of them: a class of 60 pages behind one address loads at once
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def limit(
    server: Any,
    *,
    most: int | None = None,
    of_an_address: int | None = None,
    header_s: float = HEADER_S,
    stalled_s: float = STALLED_S,
) -> None:
    """Have a running uvicorn server bound the connections that it accepts from now on.

    Args:
        server: has a `config` with the class of its HTTP/1.1 protocol.
        most: connections that may be open; by default `MOST`, or half of the files that this process may open.
        of_an_address: of them, of one address; by default the share that `OF_AN_ADDRESS` is of `MOST`.
    """
    base: Any = server.config.http_protocol_class
    silent: dict[Any, None] = {}  # connections that wait for a header, the longest first
    at_work: dict[Any, None] = {}  # connections whose request is being answered, the oldest request first
    room = most or _most()
    share = of_an_address or max(1, room * OF_AN_ADDRESS // MOST)

    def makes_room(candidates: Sequence[Any]) -> Any:
        """The one of them that ends for another; None where all are needed."""
        among = set(candidates)
        if (longest := next((one for one in silent if one in among), None)) is not None:
            return longest
        held = Counter(one.address for one in candidates)
        idle = [one for one in at_work if one in among and one.idle]
        return max(idle, key=lambda one: held[one.address], default=None)  # the first of equals

    class Limited(base):  # type: ignore[misc]
        """A connection whose silence ends it."""

        _refused = False
        _timer: asyncio.TimerHandle | None = None  # while it waits for a header
        _stalled: asyncio.TimerHandle | None = None  # while its client is to take more of an answer

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            everybody = [one for one in self.connections if isinstance(one, Limited)]  # some came before the limit
            own = [one for one in everybody if one.address == self.address]
            if len(own) > share or len(everybody) > room:
                ends = makes_room([one for one in (own if len(own) > share else everybody) if one is not self])
                if ends is None:
                    self._refused = True
                    transport.write(_FULL)
                    transport.close()
                    return
                ends.transport.abort()
                ends.forgotten()
            self._look()

        @property
        def address(self) -> str:
            """Whose it is: the client of its request, as a trusted proxy names it, else who is connected."""
            client = self.cycle.scope.get("client") if self in at_work else self.client
            return str(client[0]) if client else ""

        @property
        def idle(self) -> bool:
            """Whether its answer is a stream that has begun, or its body has yet to come."""
            return bool(self.cycle.response_started or self.cycle.more_body)

        def data_received(self, data: bytes) -> None:
            if not self._refused:
                super().data_received(data)
                self._look()

        def on_response_complete(self) -> None:
            at_work.pop(self, None)
            super().on_response_complete()
            self._look()

        def connection_lost(self, error: Exception | None) -> None:
            self.forgotten()
            self.resumed()
            super().connection_lost(error)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch()

        def resume_writing(self) -> None:
            self.resumed()
            super().resume_writing()

        def heard(self) -> None:
            """It no longer waits for a header."""
            silent.pop(self, None)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def forgotten(self) -> None:
            """It has ended, or ends for another."""
            self.heard()
            at_work.pop(self, None)

        def resumed(self) -> None:
            """Its client takes what it is sent."""
            if self._stalled is not None:
                self._stalled.cancel()
                self._stalled = None

        def _look(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:
                self.heard()
                at_work[self] = None
            elif self._timer is None and self in self.connections:  # a websocket is none of them any more
                silent[self] = None
                self._timer = self.loop.call_later(header_s, self._late)

        def _late(self) -> None:
            if self.transport.get_write_buffer_size():  # it is still being sent its last answer
                self._timer = self.loop.call_later(header_s, self._late)
                if self._stalled is None:
                    self._watch()
            else:
                self.transport.abort()

        def _watch(self, before: int | None = None) -> None:
            left = self.transport.get_write_buffer_size()
            if left == before:
                self.transport.abort()
            elif left:
                self._stalled = self.loop.call_later(stalled_s, self._watch, left)
            else:
                self._stalled = None

    server.config.http_protocol_class = Limited
    server.config.timeout_keep_alive = min(IDLE_S, header_s)


def _most() -> int:
    with suppress(ImportError, OSError, ValueError):
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files != resource.RLIM_INFINITY:
            return max(32, min(MOST, files // 2))
    return MOST
