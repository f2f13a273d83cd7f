"""How often a view of a cache chooses the full cache's token, and the cost of its passes, along long texts.

Texts are read as given. At each length a selection is made as for a prompt of that length; then `WINDOW` tokens are
read, `EVERY` in a pass of the view, which follows its base after each pass, as after a verification that keeps all of a
draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from hsd_core.levels.trunk import Layered
from hsd_core.measure.teacher_forced import first_choices, last_states
from hsd_core.measure.timed import cost_of, in_turns, ms_of
from hsd_core.models.cache import KVCache
from hsd_core.models.decoder_protocol import Asked
from hsd_core.models.one_pass import Pass
from hsd_core.systems.views.selection import Chunks, Select, Stream
from hsd_core.systems.views.view import View

WINDOW, EVERY = 128, 8
ROWS = (1, 2, 4, 8)
REPEATS, WARM_UP = 7, 1
TARGET = "target"


def selections(budget: int) -> Mapping[str, Select]:
    """The selections that are compared at a budget, by the names of @keep=."""
    return {"chunks": Chunks(budget), "stream": Stream(budget)}


@torch.inference_mode()
def read(
    decoder: Layered,
    copies: Mapping[str, Layered],
    texts: Sequence[tuple[str, Sequence[int]]],
    lengths: Sequence[int],
    budgets: Sequence[int],
    progress: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Agreements of every text, and costs of passes for the first, length by length.

    Args:
        copies: decoders, by dtype, that run over views of the decoder's cache; the decoder itself is one. texts: the
            sort and ids of each; texts too short for a length are left out there.
    """
    assert isinstance(decoder, Asked), "a decoder whose layers can be run in ranges shows their queries"
    decoder.show_queries()
    for place, (sort, ids) in enumerate(texts):
        cache, filled = decoder.new_cache(min(len(ids) + 1, decoder.max_positions)), 0
        for length in sorted(lengths):
            if length + WINDOW >= len(ids):
                continue
            states = last_states(decoder, ids[: length + WINDOW], cache, min(filled, length))
            true = first_choices(decoder, states[-WINDOW:])
            filled = length + WINDOW
            kept = [held[:, :, :, length : length + 2].clone() for held in (cache.keys, cache.values)]
            queries = decoder.queries(ids[length], length, cache)
            for held, truth in zip((cache.keys, cache.values), kept, strict=True):
                held[:, :, :, length : length + 2] = truth
            for dtype, copy in copies.items():
                for budget in (one for one in budgets if one < length):
                    for keep, select in selections(budget).items():
                        same = _along(copy, cache, select, ids, length, queries) == true
                        yield {
                            "what": "agreement",
                            "text": sort,
                            "dtype": dtype,
                            "keep": keep,
                            "budget": budget,
                            "length": length,
                            "tokens": len(same),
                            "agree": round(float(same.float().mean()), 5),
                        }
            if not place:
                yield from _timed(decoder, copies, cache, ids, length, [one for one in budgets if one < length])
            progress()


def _view(decoder: Layered, cache: KVCache, select: Select) -> View:
    return View(cache, select, decoder.new_cache(select.budget + max(EVERY, *ROWS)))


def _along(
    decoder: Layered, cache: KVCache, select: Select, ids: Sequence[int], length: int, queries: Tensor
) -> Tensor:
    """(WINDOW,) first choices of a view that follows its base after each pass."""
    view, found = _view(decoder, cache, select), []
    for at in range(length, length + WINDOW, EVERY):
        view.follow(at, lambda: queries)
        given = view.given(ids[at : at + EVERY], 0)
        found.append(first_choices(decoder, decoder.forward_layers(given, view.cache, 0, decoder.layers)))
    return torch.cat(found)


def _timed(
    decoder: Layered,
    copies: Mapping[str, Layered],
    cache: KVCache,
    ids: Sequence[int],
    length: int,
    budgets: Sequence[int],
) -> Iterator[dict[str, Any]]:
    """Median times of passes behind `length` tokens, in turn, so that a slow minute hits all alike."""

    def one(runs: Layered, given: Pass, kept: KVCache) -> float:
        return ms_of(lambda: runs.head(runs.forward_layers(given, kept, 0, runs.layers)))

    cells = {}
    for rows in ROWS:
        cells[TARGET, "", 0, rows] = partial(one, decoder, Pass(ids[length : length + rows], length, 0), cache)
    for dtype, copy in copies.items():
        for budget in budgets:
            view = _view(copy, cache, Stream(budget))
            view.follow(length)
            for rows in ROWS:
                cells["view", dtype, budget, rows] = partial(
                    one, copy, view.given(ids[length : length + rows], 0), view.cache
                )
    for (level, dtype, budget, rows), took in in_turns(cells, REPEATS, WARM_UP).items():
        yield cost_of(took, 3, level=level, dtype=dtype, budget=budget, length=length, rows=rows)
