"""What may be sent to all screens: an address of the page, as its links have it, and nothing else."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from app.words.room import workshop as says

LONGEST = 32_500  # characters; a link that holds a whole run has 32,000
OWN_SCREEN = frozenset(("room", "workshop", "notes", "present", "embed", "story", "scene"))  # parameters of one screen
_ADDRESS = re.compile(r"\?[A-Za-z0-9*._+&=%-]*(#run=[A-Za-z0-9._-]+)?")  # as browsers write parameters


class NotSent(ValueError):
    """What was to be sent is no address of the page; the message names the cure."""


def checked(address: str) -> str:
    """The address, if it can be sent.

    Raises:
        NotSent: it is too long, leads elsewhere, or sets what belongs to one screen.
    """
    if len(address) > LONGEST:
        raise NotSent(says.too_long(LONGEST))
    if not _ADDRESS.fullmatch(address):
        raise NotSent(says.NO_ADDRESS)
    for name, _ in parse_qsl(address[1:].partition("#")[0], keep_blank_values=True):
        if name in OWN_SCREEN or name.startswith("__"):
            raise NotSent(says.not_sent(name[:40]))
    return address
