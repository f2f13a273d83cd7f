"""Drafts by the own weights of a target that are less than it (`self`, `skip`), beside what they should compute."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from ledger import audit
from toys import output_of

from hsd_core.core import events as trace
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.trace.checks import check

LAYERS = 6
IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]
SIZES = {"layers": LAYERS, "head_dim": 16}  # of a lean and a compiled decoder that compute the same


def by_hand(
    decoder: Any,
    ids: Sequence[int],
    groups: Sequence[Collection[int]],
    attention_out: Collection[int] = (),
    mlp_out: Collection[int] = (),
) -> torch.Tensor:
    """(n, V) logits over the whole text at once, each sublayer written out; attentions of a group read one input."""
    s, n = decoder.shape, len(ids)
    cos, sin = (table[:n, None] for table in decoder.stack.rotary)
    causal = torch.ones(n, n, dtype=torch.bool).triu(1)

    def attention(i: int, x: torch.Tensor) -> torch.Tensor:
        layer = decoder.stack[i]
        parts = layer.qkv(F.rms_norm(x, (s.hidden,), layer.attention_norm, s.norm_eps))
        widths = [s.heads * s.head_size, *[s.kv_heads * s.head_size] * 2]
        q, k, v = (part.view(n, -1, s.head_size) for part in parts.split(widths, 1))
        q, k = (part * cos + part.roll(s.head_size // 2, -1) * sin for part in (q, k))
        k, v = (part.repeat_interleave(s.heads // s.kv_heads, 1) for part in (k, v))
        share = (torch.einsum("qhd,khd->hqk", q, k) / s.head_size**0.5).masked_fill(causal, float("-inf")).softmax(-1)
        return layer.out(torch.einsum("hqk,khd->qhd", share, v).reshape(n, -1))

    def mlp(i: int, x: torch.Tensor) -> torch.Tensor:
        layer = decoder.stack[i]
        gate, up = layer.gate_up(F.rms_norm(x, (s.hidden,), layer.mlp_norm, s.norm_eps)).chunk(2, -1)
        return layer.down(F.silu(gate) * up)

    with torch.inference_mode():
        x = decoder.embed(ids)
        for group in groups:
            added = {i: attention(i, x) for i in group if i not in attention_out}
            for i in group:
                x = x + added[i] if i in added else x
                x = x if i in mlp_out else x + mlp(i, x)
        return decoder.head(x)


def behind(decoder: Any, context: list[int], true: int, draft: Callable[[Any], Any]) -> torch.Tensor:
    """(len(context) - true, V): a cache of its own, the first positions by the model, the others by the draft."""
    with torch.inference_mode():
        cache = decoder.new_cache(len(context))
        if true:
            decoder.forward_layers(Pass(context[:true]), cache, 0, decoder.layers)
        return decoder.head(draft(cache)(Pass(context[true:], true)))


def over_a_tree(decoder: Any, draft: Callable[[Any], Any]) -> torch.Tensor:
    """The states of a small tree behind a part of the text."""
    cache = decoder.new_cache(8, branches=4)
    with torch.inference_mode():
        decoder.forward_layers(Pass(IDS[:8]), cache, 0, LAYERS)
        return draft(cache)(Pass(IDS[8:], 8, 0, Branches(8, (-1, -1, 0, 1))))


def greedy_and_sampled(a_run: Callable[..., list[trace.Event]], text: str) -> list[list[trace.Event]]:
    """Both runs of a stack, whose traces add up; the greedy one writes plain decoding's text."""
    runs = [a_run(text), a_run(text, 1.0)]
    assert output_of(runs[0]) == output_of(a_run("target"))
    for found in runs:
        assert check(found) == []
        if not any(sign in text for sign in ("@with=", "@tree=", "@grow=")):
            cacheless = frozenset({0} if text.startswith("ngram") else ())
            assert audit(found, cacheless=cacheless, ends=frozenset()).done
    return runs
