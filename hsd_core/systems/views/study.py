"""How often a view of a cache chooses the full cache's own token, and what its passes take, along long texts.

Texts are read as they stand. At each length slots are chosen as behind a prompt of that length; then `WINDOW` tokens
are read, `EVERY` of them in a pass of the view, and behind each pass its base is followed, as after a verification that
keeps all of a draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hsd_core.cli.options import counts
from hsd_core.levels.trunk import Layered
from hsd_core.measure.teacher_forced import first_choices, last_states
from hsd_core.measure.timed import cost_of, in_turns, ms_of
from hsd_core.models.cache import KVCache
from hsd_core.models.decoder_protocol import Asked
from hsd_core.models.one_pass import Pass
from hsd_core.systems.views.selection import Chunks, Select, Stream
from hsd_core.systems.views.view import View

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION, LENGTHS = "views", "views", True
USUAL_LENGTHS = (1024, 2048, 4096, 7500)
WINDOW, EVERY = 128, 8
ROWS = (1, 2, 4, 8)
REPEATS, WARM_UP = 7, 1
TARGET = "target"


def selections(budget: int) -> Mapping[str, Select]:
    """What is compared at a budget, by the names of @keep=."""
    return {"chunks": Chunks(budget), "stream": Stream(budget)}


@torch.inference_mode()
def read(
    decoder: Layered,
    copies: Mapping[str, Layered],
    texts: Sequence[tuple[str, Sequence[int]]],
    lengths: Sequence[int],
    budgets: Sequence[int],
    tell: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Agreements of every text, then passes of the first, length by length.

    Args:
        copies: by dtype, what runs over views of the decoder's cache; the decoder itself among them. texts: what sort
            each is, and its ids; those too short for a length are left out of it.
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
            tell()


def _view(decoder: Layered, cache: KVCache, select: Select) -> View:
    return View(cache, select, decoder.new_cache(select.budget + max(EVERY, *ROWS)))


def _along(
    decoder: Layered, cache: KVCache, select: Select, ids: Sequence[int], length: int, queries: Tensor
) -> Tensor:
    """(WINDOW,) first choices of a view that is followed behind each pass."""
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
    """Medians of passes behind so many tokens, all in turn, so that a slow minute falls on all alike."""

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


def add(parser: argparse.ArgumentParser) -> None:
    counts(
        parser,
        "--views BUDGET",
        "instead: views of so many positions of the target's cache (TriForce) along the prompts themselves, by "
        "length: how often they choose its token, what their passes take, and from which length on they pay; "
        f"--lengths are of the text before (default {' '.join(map(str, USUAL_LENGTHS))})",
        nargs="+",
    )


def act(subject: Subject) -> None:
    """Print, or with --out keep, what views of the target's cache are worth along texts as they stand."""
    from hsd_core.systems.views.views_report import TABLES

    lengths = subject.options.lengths or USUAL_LENGTHS
    longest = max(len(text.prompt_ids) for text in subject.texts)
    if len({n for n in lengths if n + WINDOW < longest}) < 2:
        raise ValueError(
            f"views are measured along {WINDOW} tokens behind each length, and the longest text has {longest} tokens; "
            "name two lengths that fit with --lengths"
        )
    decoder = subject.running(Layered, "whose cache no view reads")
    copies = {decoder.dtype: decoder}
    if decoder.dtype == "float32" and decoder.device == "cpu":
        copies["int8"] = subject.pipeline.entries(f"int8,{subject.stack}")[0].level.decoder  # type: ignore[attr-defined]
    given = [(text.sort or "text", text.prompt_ids) for text in subject.texts]
    tell = subject.told("length of a text", len(lengths))
    records = [*read(decoder, copies, given, lengths, subject.options.views, tell)]
    subject.keep(subject.about(KIND, texts=len(given)), records)
    print("\n\n".join(table(records) for table in TABLES.values()))


def views() -> tuple[str, ...]:
    from hsd_core.systems.views.views_report import TABLES

    return tuple(TABLES)


def view(name: str, about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> str:
    from hsd_core.systems.views import views_report

    return f"{views_report.TABLES[name](records)}\n\n{views_report.said(about)}"
