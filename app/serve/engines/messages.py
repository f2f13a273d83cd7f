"""The protocol between the page and an engine in another process: every message, with its fields.

Messages are MessagePack maps with a `type`, each a frame of its own (`frames`). The page speaks first: `Hello`; the
engine answers `Ready`. From then on the page asks (`Fetch`, `Begin`, `Stop`) and the engine tells (`Told`, `Sent`,
`Over`, `Lost`), each by the name of the run that it is about, and says every `BEAT_S` that it lives (`Beat`), from its
start on. Either side ends when its pipe does; an engine that knows why says so first (`Ends`). An engine of one place
works on runs one after another, in the order in which they are begun; weights are fetched beside them. Of what a run
has written each record crosses once.

An engine has one page: what it is spoken to over are two pipes without a name, made for it by the page that starts it
and passed on to nobody, so that no other page can reach them, and no port or file stands open for one to try.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from app.serve.offer import ServerOffer
from hsd_core.stacks.targets import unread_preset
from hsd_core.typed import message_decoder

VERSION = 4  # of the protocol: an engine of another one is not spoken to
BEAT_S = 1.0


class Message(Struct, frozen=True, tag=True):
    """Anything that crosses."""


class Hello(Message, frozen=True):
    """The page's first word, and what the operator offers, as in `ServerOffer`: targets by what a command line calls
    them, the folder of models, "" for none. batch: how many runs' passes are joined."""

    version: int
    targets: list[str] = []
    models: str = ""
    prompt_tokens: int | None = None
    device: str | None = None
    dtype: str | None = None
    batch: int = 1


class Fetch(Message, frozen=True):
    """Have the weights that a run needs on the disk; `Told` says how far that is, `Over` that they are there."""

    run: str
    job: str
    request: msgspec.Raw


class Begin(Message, frozen=True):
    """Do a job: `job` is its name, `request` what is asked of it; `alone`: while no other run is worked on."""

    run: str
    job: str
    request: msgspec.Raw
    alone: bool = False


class Stop(Message, frozen=True):
    """End a run at its next forward, or its fetching the next time that it tells how far it is."""

    run: str


class Ready(Message, frozen=True):
    """It can be asked. places: how many runs it works on at a time."""

    version: int
    pid: int
    places: int = 1


class Told(Message, frozen=True):
    """What a run says of itself between its payloads. loading: seconds of its turn for which weights were fetched and
    opened."""

    run: str
    state: dict[str, Any]
    loading: float = 0.0


class Sent(Message, frozen=True):
    """A payload of a run: the records that it has written since the last one."""

    run: str
    records: list[dict[str, Any]]
    final: bool
    state: dict[str, Any]
    loading: float = 0.0


class Over(Message, frozen=True):
    """A run has ended, or its weights are there; nothing more is told of it. fault: why they are not, "" if they are.
    of: whether it was `Fetch` or `Begin` that is over."""

    run: str
    of: str
    fault: str = ""


class Lost(Message, frozen=True):
    """What worked on a run has ended, while the engine lives on. why: in words."""

    run: str
    why: str


class Ends(Message, frozen=True):
    """The engine ends. why: in words."""

    why: str


class Beat(Message, frozen=True):
    """The engine lives. still: seconds since a run at work last made a step, None while none is at work or it loads;
    longest: the longest step of these runs, in seconds; memory: of the process, in bytes; model: the preset that it
    opened last, "" for none."""

    still: float | None
    longest: float
    memory: int
    model: str = ""


FromPage = Hello | Fetch | Begin | Stop
FromEngine = Ready | Told | Sent | Over | Lost | Ends | Beat

pack = msgspec.msgpack.Encoder().encode
_from_page: msgspec.msgpack.Decoder[FromPage] = message_decoder(FromPage)  # type: ignore[arg-type]
_from_engine: msgspec.msgpack.Decoder[FromEngine] = message_decoder(FromEngine)  # type: ignore[arg-type]


def from_page(body: bytes) -> FromPage:
    """
    Raises:
        msgspec.DecodeError: it is no message of this protocol.
    """
    return _from_page.decode(body)


def from_engine(body: bytes) -> FromEngine:
    """
    Raises:
        msgspec.DecodeError: it is no message of this protocol.
    """
    return _from_engine.decode(body)


# ---- What an operator offers, as it crosses to an engine in another process


def hello_of(offer: ServerOffer, batch: int = 1) -> Hello:
    """The page's first word. batch: see `Hello`."""
    return Hello(
        VERSION,
        targets=[one.target.id for one in offer.targets],
        models=str(offer.models or ""),
        prompt_tokens=offer.prompt_tokens,
        device=offer.device,
        dtype=offer.dtype,
        batch=batch,
    )


def offer_of(hello: Hello) -> ServerOffer:
    """What it says."""
    return ServerOffer(
        targets=tuple(map(unread_preset, hello.targets)),
        models=Path(hello.models) if hello.models else None,
        prompt_tokens=hello.prompt_tokens,
        device=hello.device,
        dtype=hello.dtype,
    )
