"""The words that names of stacks are made of: what a kind calls itself there, and what stands between the levels.

`hsd_core.grammar.stack_names` puts them together here, `assets/js/levels/stack-names.js` on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

NONE: Mapping[str, str] = MappingProxyType({})


class NameForms(NamedTuple):
    """What a level of a kind is called within the name of a stack: "an 8-bit copy".

    Attributes:
        forms: the first one is taken whose keys, written {key}, the level was all given; none: the kind's title.
        around: by a key that the level was given, what then stands around that, written {level}.
        terms: words for values of keys, where they are this kind's own.
    """

    forms: tuple[str, ...] = ()
    around: Mapping[str, str] = NONE
    terms: Mapping[str, str] = NONE


# Between levels; for a level that is called as the one below it; behind one, what tells it from its like.
JOINTS: Mapping[str, str] = MappingProxyType(
    {
        "then": ", then ",
        "alone": "{level} alone",
        "again": "one more",
        "aside": "{level} ({notes})",
        "tokens": "{n} tokens",
        "token": "1 token",
    }
)
