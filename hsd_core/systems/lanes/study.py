"""How often is the target's token among a drafter's k likeliest, and how many tokens per step would k candidates give?

The ranks are measured along the target's greedy texts, read by both levels. Tokens per step are computed from them by
formula (`closed_forms`), which assumes that the places of a text are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from hsd_core.cli.options import option
from hsd_core.core.level import StackEntry
from hsd_core.measure.intervals import Tally
from hsd_core.measure.tables import markdown, with_interval
from hsd_core.measure.teacher_forced import pair_rows
from hsd_core.systems.lanes.closed_forms import card_tokens_per_step, duo_tokens_per_step

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

OPTION = "ready"
WIDTHS = (1, 2, 3, 4, 6, 8)
NOTE = (
    "The formulas take places as independent. That of card also takes it that the tree has the target's token with h "
    "behind a rejection too, where the likeliest candidate has just been ruled out: a run commits fewer."
)


@torch.inference_mode()
def ranks(entries: Sequence[StackEntry], prompt: Sequence[int], output: Sequence[int]) -> Tensor:
    """(n,) the rank of the target's first choice among the drafter's likeliest tokens, 0 for the likeliest, at each of
    the n output tokens. entries: the drafter and the target."""
    logits, rows = pair_rows(entries, prompt, output)
    own = rows.argmax(-1)
    own_logit = logits.gather(1, own[:, None])
    above = (logits > own_logit).sum(1)
    before = (logits == own_logit) & (torch.arange(logits.shape[1], device=own.device) < own[:, None])
    return above + before.sum(1)  # ties go to the smaller id, as everywhere


def tallied(found: Sequence[Tensor]) -> Tally:
    """The share of tokens with a rank below k, by k. found: the ranks of each text."""
    tally = Tally(len(found))
    for text, own in enumerate(found):
        for k in WIDTHS:
            tally.add((k,), text, float((own < k).sum()), len(own))
    return tally


def ready_table(tally: Tally, block: int) -> str:
    """A row for each k: the measured h, and tokens per step by formula. block: T of the drafter."""
    a = tally.ratio((1,)) or 0.0
    rows = []
    for k in WIDTHS:
        h, ends = tally.ratio((k,)) or 0.0, tally.interval((k,)) or (0.0, 0.0)
        split = duo_tokens_per_step(a, h, block // k) if block >= k else None
        figures = (duo_tokens_per_step(a, h, block), split, card_tokens_per_step(a, h, block) if k > 1 else None)
        rows.append((k, with_interval(h, ends), *("" if x is None else f"{x:.2f}" for x in figures)))
    head = (
        "k",
        "h, measured (95 % interval)",
        f"duo, k sequences of {block}: tokens a step, by formula",
        f"duo, {block} tokens split among k: by formula",
        f"card, {block} layers a step: by formula",
    )
    return f"{markdown(head, rows)}\n\n{NOTE}"


def add(parser: argparse.ArgumentParser) -> None:
    option(
        parser,
        "--ready LEVEL",
        "instead: how often the target's token is among the k likeliest of a level, such as "
        "nano:4@id=smollm2-nano, and what @with=duo and card make of that",
    )


def act(subject: Subject) -> None:
    """Print how often the target's token is among a level's k likeliest, and the tokens per step that follow."""
    from hsd_core.stacks.prepared import check_apart

    level, progress = subject.options.ready, subject.progress()
    entries = subject.pipeline.entries(f"{level},{subject.stack}@with=duo@width=2")
    check_apart(entries)
    found = []
    for text, kept in subject.written():
        found.append(ranks(entries, text.prompt_ids, kept))
        progress()
    print(subject.title(level, f"{len(found)} texts", f"{sum(map(len, found))} tokens"))
    print(ready_table(tallied(found), entries[0].block or 1))
