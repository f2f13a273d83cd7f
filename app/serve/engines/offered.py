"""What an operator offers, as it crosses to an engine in another process."""

from __future__ import annotations

from pathlib import Path

from app.serve.engines.messages import VERSION, Hello
from app.serve.offer import ServerOffer
from hsd_core.stacks.targets import unread_preset


def hello_of(offer: ServerOffer) -> Hello:
    """The page's first word."""
    return Hello(
        VERSION,
        targets=[one.target.id for one in offer.targets],
        models=str(offer.models or ""),
        prompt_tokens=offer.prompt_tokens,
        device=offer.device,
        dtype=offer.dtype,
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
