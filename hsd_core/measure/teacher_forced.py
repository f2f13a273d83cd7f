"""Teacher-forced passes of levels along a text, and their first choices."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hsd_core.core.level import StackEntry, score_ids, scorer
from hsd_core.levels.shared import open_levels
from hsd_core.levels.trunk import Layered
from hsd_core.models.cache import KVCache
from hsd_core.models.lean.decoder import CHUNK
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import likeliest

ROWS = 64  # of a product of the head


@torch.inference_mode()
def pair_rows(entries: Sequence[StackEntry], context: Sequence[int], text: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(n, V) logits of a draft and of its target for each of the n tokens of a text; they share no state.

    Args:
        context: the tokens before the text, at least one.
    """
    ids, n = [*context, *text[:-1]], len(text)
    target, draft = open_levels([entry.level for entry in entries], len(ids) + 1, lanes=(0, 1))
    try:
        p = score_ids(scorer(target), ids, n)[0]
        return score_ids(scorer(draft), ids, n)[0].to(p.device), p
    finally:
        target.close()
        draft.close()


def last_states(decoder: Layered, ids: Sequence[int], cache: KVCache, start: int = 0) -> Tensor:
    """(n - start, hidden) states behind the last layer; the cache holds the positions before `start`."""
    parts = Pass(ids[start:], start).parts(CHUNK)
    return torch.cat([decoder.forward_layers(part, cache, 0, decoder.layers) for part in parts])


def first_choices(decoder: Layered, states: Tensor) -> Tensor:
    """(n,) likeliest tokens by the model's own head."""
    return torch.cat([likeliest(decoder.head(some)) for some in torch.split(states, ROWS)])
