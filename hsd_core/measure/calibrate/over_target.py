"""Levels that stand on what the target has computed of the text, read along a text with the target beside them.

A view sees a part of the target's cache, a self-draft begins every round from the target's keys and values, a cache of
a store holds what the target asked. So their rows are those of drafts of `STRIDE` tokens, with a verification of the
target behind each, as in a run whose drafts are all accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from hsd_core.core.level import CommittedIds, Level, LevelRun, rows_behind, scorer
from hsd_core.levels.shared import open_levels
from hsd_core.models.context import Context

STRIDE = 4  # tokens of a draft
CHUNK = 512  # tokens of a prompt that are read at a time


def over_target(level: Level) -> bool:
    """Whether a level is nothing without a target that reads the text beside it."""
    return bool(getattr(level, "over_target", False))


def side_by_side(levels: Sequence[Level]) -> Iterator[list[int]]:
    """Which of these levels share one target: views, which only look; each of the others has one to itself."""
    if views := views_among(levels):
        yield views
    yield from ([i] for i, level in enumerate(levels) if over_target(level) and i not in views)


def views_among(levels: Sequence[Level]) -> list[int]:
    return [i for i, level in enumerate(levels) if getattr(level, "views", False)]


def read_prompt(run: LevelRun, ids: Sequence[int], end: int) -> None:
    """As a run begins: the level knows these ids, and has read the first `end` of them."""
    run.observe(CommittedIds(ids))
    while run.cached < end:
        scorer(run).score(Context(ids[: min(end, run.cached + CHUNK)]))


def drafted_rows(levels: Sequence[Level], target: Level, prompt: Sequence[int], output: Sequence[int]) -> list[Tensor]:
    """Of each level: (n, V) logits of drafts of `STRIDE` tokens, had each of their tokens been the text's n."""
    ids, start = [*prompt, *output], len(prompt)
    runs: list[Any] = list(open_levels([*levels, target], len(ids)))[::-1]
    found: list[list[Tensor]] = [[] for _ in levels]
    try:
        for run in reversed(runs):
            read_prompt(run, prompt, start - 1)
        for at in range(start, len(ids), STRIDE):
            rows = min(STRIDE, len(ids) - at)  # the last token of the context has not been through the target
            for own, run in zip(found, runs, strict=False):
                own.append(rows_behind(run, ids[: at - 1 + rows], rows)[0])
            rows_behind(runs[-1], ids[: at - 1 + rows], rows)
            for run in reversed(runs):
                run.observe(CommittedIds(ids[at : at + rows]))
    finally:
        for run in runs:
            run.close()
    return [torch.cat(own) for own in found]
