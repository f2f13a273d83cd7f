"""What the levels write where they work one after another: the whole trace but its times, as it ever was."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from toys import toy_stack

import hsd_core
from hsd_core.models.sampling import Sampling
from hsd_core.trace.codec import to_dict

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0, top_p=0.9)
TIMES = {"t", "t0", "t1", "ns", "prefill_ns", "decode_ns", "versions"}
# stack, sampling -> the digest of its trace: of what was written before there were lanes, carried over to schema 2
WRITTEN = {
    "table": ("356508f3b42680e1", "0f7e474c029c4efd"),
    "table:3,table": ("c8ca7ab1324bcadf", "64a068fa5a5bed3d"),
    "ngram:4,table@bonus=0": ("ea436852e63ee7ec", "589700b3bf9eabe1"),
    "table:3@policy=adaptive,table@rule=block": ("42902e3b5a8f1a1d", "8f96c10fc8433f5a"),
    "ngram:2,table:4@policy=flush,table": ("b225f6f160cdf49e", "cefd1ff8c17b169d"),
    "table:2,table:3@bonus=0,table@rule=block": ("876f7ecd82e21e3b", "a24550f2b4e2bde0"),
    "table:3@tree=2.2.1,table:3,table": ("51d342853a74c654", "c3d81c5f7e925700"),
    "table:1,table:2@policy=confidence,table:3,table": ("f5a128455ebf1a3f", "d8e6c0487d6987ee"),
}


def timeless(value: Any) -> Any:
    """Without what a clock or a machine puts there, and without what was added to the schema since."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in TIMES | {"overlap"}}
    return [timeless(one) for one in value] if isinstance(value, (list, tuple)) else value


def digest(text: str, sampling: Sampling) -> str:
    stack = toy_stack(text, 6, seed=4)
    events = hsd_core.run(stack, [0, 1], sampling, 3, max_new_tokens=40, ends=frozenset({5}))
    return sha256(repr([timeless(to_dict(event)) for event in events]).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("text", "greedy"), [(text, greedy) for text in WRITTEN for greedy in (True, False)])
def test_sync_traces_did_not_change(text: str, greedy: bool) -> None:
    assert digest(text, GREEDY if greedy else SAMPLED) == WRITTEN[text][not greedy]
