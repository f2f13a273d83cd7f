"""The keys that several schedulers have: how far a drafter runs ahead."""

from __future__ import annotations

from hsd_core.grammar.key import VERIFIER, Whole
from hsd_core.grammar.keys import MAX_BLOCK

AHEAD = Whole(name="ahead", place=32, counts=VERIFIER, usual=0, low=0, high=MAX_BLOCK, noted="{} ahead")
LEAST = Whole(name="least", place=33, counts=VERIFIER, usual=1, low=1, high=MAX_BLOCK, noted="at least {}")
