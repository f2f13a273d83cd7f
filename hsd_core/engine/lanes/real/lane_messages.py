"""What crosses between a driver and a lane's process: MessagePack maps with a `type`, and tensors behind them.

The driver asks, the lane answers each question once and in order, by its number. A lane's process belongs to one
driver: what it is spoken to over are two pipes without a name. It ends when its questions end.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from msgspec import Struct
from torch import Tensor

from hsd_core.levels.declared.preset import Preset
from hsd_core.models.sampling import Sampling
from hsd_core.trace import Copied, Span
from hsd_core.trace.typed import message_decoder

_HEAD = struct.Struct("!I")
_DTYPES = {"float32": torch.float32, "float64": torch.float64}


class Message(Struct, frozen=True, tag=True):
    """Anything that crosses. number: of the question, and of its answer."""

    number: int


class Hello(Message, frozen=True):
    """The first question: what the levels are made of, and the core to work on (None: any)."""

    preset: Preset
    device: str
    dtype: str | None
    models: Path | None
    kind: str
    core: int | None


class Begin(Message, frozen=True):
    """A run: of a stack's levels those from `first` to before `end` are kept here, over a context of at most `capacity`
    tokens and trees of at most `nodes` behind it. positions: see `SharedState`. heads: see `run`."""

    stack: str
    first: int
    end: int
    capacity: int
    nodes: int
    positions: int | None
    sampling: Sampling
    seed: int
    ends: frozenset[int]
    heads: int


class Draft(Message, frozen=True):
    """`DraftRequest`, with the whole context."""

    level: int
    ids: list[int]
    limit: int
    epoch: int
    theta: float | None


class Score(Message, frozen=True):
    """`ScoreRequest`, with the whole context."""

    level: int
    ids: list[int]
    tree: list[int]
    parents: tuple[int, ...] | None = None
    unread: frozenset[int] = frozenset()


class Keep(Message, frozen=True):
    """`LevelRun.keep`."""

    level: int
    start: int
    path: tuple[int, ...]


class Observe(Message, frozen=True):
    """The outcome `CommittedIds`."""

    level: int
    ids: list[int]


class Heed(Message, frozen=True):
    """The outcome `Verified`; the rows come behind it, or are one-hot and known by `tokens`."""

    level: int
    start: int
    tokens: list[int] | None = None


class Loop(Message, frozen=True):
    """Run a level's pass over and over; see `looped`."""

    level: int
    ids: list[int]
    rows: int
    seconds: float


class Done(Message, frozen=True):
    """Answer: it was done. cached: of each level that is kept there, as it stands then."""

    cached: list[int]


class Ready(Done, frozen=True):
    """Answer to `Hello`. at: of the machine's clock, in ns."""

    pid: int
    at: int


class Scored(Done, frozen=True):
    """Answer to `Score`; the logits come behind it. work: forwards, rows, catch-up. t0, t1: of the machine's clock."""

    work: tuple[int, int, int]
    ran: tuple[Span, ...]
    t0: int
    t1: int


class Drafted(Scored, frozen=True):
    """Answer to `Draft`: a `Proposal`. The rows come behind it if there are any (`drawn`), and the logits unless what
    the driver reads of them is in `ranked`: `logits` says how many there are, (rows, V)."""

    ids: tuple[int, ...]
    sources: tuple[str, ...]
    parents: tuple[int, ...] | None
    offered: tuple[tuple[int, int | None], ...] | None
    repeats: bool
    copied: tuple[Copied | None, ...]
    theta: float | None
    keys: tuple[int, ...]
    silent: int
    drawn: bool
    logits: tuple[int, int] | None
    ranked: list[list[tuple[int, float]]] | None
    sound: bool


class Counted(Done, frozen=True):
    """Answer to `Observe`: what the level counted, if it counts."""

    counts: dict[str, Any] | None


class Looped(Done, frozen=True):
    """Answer to `Loop`: ms of every pass."""

    ms: list[float]


class Failed(Message, frozen=True):
    """Answer: it could not be done. why: in words."""

    why: str


Question = Hello | Begin | Draft | Score | Keep | Observe | Heed | Loop
Answer = Ready | Done | Scored | Drafted | Counted | Looped | Failed


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _typed(wanted: type, value: Any) -> Any:
    if wanted is Path:
        return Path(value)
    raise NotImplementedError(wanted)


_encode = msgspec.msgpack.Encoder(enc_hook=_plain).encode
_question: msgspec.msgpack.Decoder[Question] = message_decoder(Question, _typed)  # type: ignore[arg-type]
_answer: msgspec.msgpack.Decoder[Answer] = message_decoder(Answer)  # type: ignore[arg-type]
_shapes = message_decoder(list[tuple[str, tuple[int, ...]]])


def pack(message: Message, tensors: Sequence[Tensor] = ()) -> bytes:
    """A message and tensors of it, in float32 at the least."""
    raised = [(one.float() if one.element_size() < 4 else one).contiguous() for one in tensors]
    body = _encode(message)
    shapes = _encode([(str(one.dtype).removeprefix("torch."), tuple(one.shape)) for one in raised])
    heads = (_HEAD.pack(len(body)), body, _HEAD.pack(len(shapes)), shapes)
    return b"".join((*heads, *(one.numpy().tobytes() for one in raised)))


def question(body: bytes) -> tuple[Question, list[Tensor]]:
    """
    Raises:
        msgspec.DecodeError: it is none.
    """
    said, tensors = _parts(body)
    return _question.decode(said), tensors


def answer(body: bytes) -> tuple[Answer, list[Tensor]]:
    """
    Raises:
        msgspec.DecodeError: it is none.
    """
    said, tensors = _parts(body)
    return _answer.decode(said), tensors


def _parts(body: bytes) -> tuple[memoryview, list[Tensor]]:
    view, at = memoryview(body), 0
    found = []
    for _ in range(2):
        if len(view) < at + _HEAD.size:
            raise msgspec.DecodeError("the message is cut off")
        length = _HEAD.unpack_from(view, at)[0]
        found.append(view[at + _HEAD.size : at + _HEAD.size + length])
        at += _HEAD.size + length
    tensors = []
    for name, shape in _shapes.decode(found[1]):
        dtype, count = _DTYPES.get(name), 1
        for size in shape:
            count *= size
        if dtype is None or count < 0 or len(view) < at + count * dtype.itemsize:
            raise msgspec.DecodeError(f"{name} {shape} is no tensor of this message")
        # a copy: what comes is read-only
        flat = torch.frombuffer(bytearray(view[at : at + count * dtype.itemsize]), dtype=dtype) if count else None
        tensors.append(torch.empty(shape, dtype=dtype) if flat is None else flat.reshape(shape))
        at += count * dtype.itemsize
    return found[0], tensors
