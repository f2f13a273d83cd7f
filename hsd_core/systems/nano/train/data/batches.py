"""Batches of texts of similar length. The texts of step s depend on the seed and s only, so training can resume."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch

from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.student import Batch

POOL = 16  # batches that are sorted by length together: little padding, but still shuffled


def order(texts: Sequence[Features], tokens: int, seed: int) -> Iterator[list[Features]]:
    """Batches of about `tokens` output tokens, epoch after epoch, without end."""
    epoch = 0
    while True:
        rng = random.Random(f"{seed}:{epoch}")
        shuffled = list(texts)
        rng.shuffle(shuffled)
        mean = sum(outputs(t) for t in shuffled) / len(shuffled)
        size = max(1, round(tokens / mean))
        for lo in range(0, len(shuffled), size * POOL):
            pool = sorted(shuffled[lo : lo + size * POOL], key=lambda t: t.example.start)
            groups = [pool[i : i + size] for i in range(0, len(pool), size)]
            rng.shuffle(groups)
            yield from groups
        epoch += 1


def outputs(features: Features) -> int:
    """The number of positions of a text that are predicted."""
    return len(features.example.ids) - features.example.start


def collate(texts: Sequence[Features], decoder: LeanDecoder, draft: DraftShape, *, device: str) -> Batch:
    """Pad texts to one length; position t counts if the target wrote token t + 1."""
    longest = max(len(f.example.ids) for f in texts) - 1  # the last token predicts nothing
    hidden, at = decoder.shape.hidden, draft.depth(decoder.layers)
    read = draft.joined(decoder.layers) or (decoder.layers,)
    x, last = (torch.zeros(len(texts), longest, hidden) for _ in range(2))
    before = torch.zeros(len(texts), longest, hidden * len(read)) if draft.fed else None
    under = torch.zeros(len(texts), longest, hidden) if draft.window else None
    wanted = torch.zeros(len(texts), longest, dtype=torch.bool)
    ids, *copied = (torch.zeros(len(texts), longest, dtype=torch.long) for _ in range(4))
    for i, f in enumerate(texts):
        n = len(f.example.ids) - 1
        x[i, :n] = (f.states[at] if at else decoder.embed(list(f.example.ids)))[:n].float()
        last[i, :n] = f.states[decoder.layers][:n].float()
        if before is not None:
            before[i, 1:n] = torch.cat([f.states[depth][: n - 1].float() for depth in read], 1)
        if under is not None:
            under[i, :n] = f.states[decoder.layers - 1][:n].float()
        wanted[i, f.example.start - 1 : n] = True
        ids[i, :n] = torch.tensor(f.example.ids[:n])
        for kept, found in zip(copied, f.copies, strict=True):
            kept[i, :n] = found[:n]
    fed_by, under = (None if each is None else each.to(device) for each in (before, under))
    tokens, sorts, places = (each.to(device) for each in copied)
    return Batch(
        x.to(device), fed_by, last.to(device), wanted.to(device), ids.to(device), tokens, sorts, places, under=under
    )
