"""The keys that several schedulers have: how far a drafter runs ahead, and how many candidates it keeps ready."""

from __future__ import annotations

from hsd_core.grammar.key import TOPMOST, VERIFIER, Whole
from hsd_core.grammar.keys import MAX_BLOCK, MAX_GUESS

AHEAD = Whole(name="ahead", place=32, counts=VERIFIER, usual=0, low=0, high=MAX_BLOCK, noted="{} ahead")
LEAST = Whole(name="least", place=33, counts=VERIFIER, usual=1, low=1, high=MAX_BLOCK, noted="at least {}")
WIDTH = Whole(name="width", place=34, counts=TOPMOST, usual=2, low=2, high=MAX_GUESS, noted="{} wide")
