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
# stack, sampling -> the digest of its trace, taken before there were lanes
WRITTEN = {
    "table": ("3c25601318c444ff", "792e745169ebbde0"),
    "table:3,table": ("f2ce1958ed78d33d", "3d5726b4ccdc0405"),
    "ngram:4,table@bonus=0": ("cfc736a460f0911f", "129094e9bbf52ef5"),
    "table:3@policy=adaptive,table@rule=block": ("8122a88b031a59ed", "412ea4f09f6b2a5e"),
    "ngram:2,table:4@policy=flush,table": ("d3dc0f3a29d348f4", "23daf04e51514d5a"),
    "table:2,table:3@bonus=0,table@rule=block": ("1e40e6b7ac44d4b8", "173fbb2b01300a3e"),
    "table:3@tree=2.2.1,table:3,table": ("0dccf7518809c6ae", "f9dc77bf0215474a"),
    "table:1,table:2@policy=confidence,table:3,table": ("bc509d07ef1de1f3", "99914663140236f2"),
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
