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
SINCE = {"schema", "overlap", "lane", "reckoned"}  # fields that came, went or changed with versions of the format
# stack, sampling -> the digest of its trace: of what was written before there were lanes, but that a token behind the
# first rejected one, which nobody judged, has no row of the verifier
WRITTEN = {
    "table": ("737630fc5eef1036", "bcc3d47110fe75e5"),
    "table:3,table": ("00277ba85a145ad0", "84248e44a2d92616"),
    "ngram:4,table@bonus=0": ("fe512f0e68d02a8f", "13b55264c75ecfa7"),
    "table:3@policy=adaptive,table@rule=block": ("00475403e178ce1f", "5dce3cedd565cab0"),
    "ngram:2,table:4@policy=flush,table": ("3a69b5d61daf98d9", "19bf860be5d24475"),
    "table:2,table:3@bonus=0,table@rule=block": ("bb5bf050aa6f3deb", "387228bbbaf8b5a5"),
    "table:3@tree=2.2.1,table:3,table": ("5fd5f768b73eeba6", "646e08940031a45a"),
    "table:1,table:2@policy=confidence,table:3,table": ("2c990fb56fb4ee4d", "c417ebd4e6d8bb53"),
}


def timeless(value: Any) -> Any:
    """Without what a clock or a machine puts there, and without `SINCE`."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in TIMES | SINCE}
    return [timeless(one) for one in value] if isinstance(value, (list, tuple)) else value


def digest(text: str, sampling: Sampling) -> str:
    stack = toy_stack(text, 6, seed=4)
    events = hsd_core.run(stack, [0, 1], sampling, 3, max_new_tokens=40, ends=frozenset({5}))
    return sha256(repr([timeless(to_dict(event)) for event in events]).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("text", "greedy"), [(text, greedy) for text in WRITTEN for greedy in (True, False)])
def test_sync_traces_did_not_change(text: str, greedy: bool) -> None:
    assert digest(text, GREEDY if greedy else SAMPLED) == WRITTEN[text][not greedy]
