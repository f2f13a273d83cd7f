"""A trained draft judged along texts that the target wrote: a row of counts per text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from hsd_core.models.drafts.copying import Gate, mixed
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.evaluation import EvalBatch, prepare
from hsd_core.systems.nano.train.scaling.law import BLOCK, Row, walk
from hsd_core.systems.nano.train.students.student import Copies, Student

SAME = 0.98  # the share of the target's first choices in a greedy text: all but near ties of another batch size


def greedy(decoder: LeanDecoder, texts: Sequence[Features]) -> list[Features]:
    """The texts whose outputs the target wrote greedily, starting at the output. Detected by the target's last states,
    so that no file has to say it.

    Raises:
        ValueError: there are none.
    """
    found = []
    for text in texts:
        start = max(text.example.start, text.example.prompt)
        last = text.states[decoder.layers][start - 1 : len(text.example.ids) - 1]
        best = decoder.head(last.to(decoder.device, decoder.embed([0]).dtype)).argmax(-1).tolist()
        same = sum(a == b for a, b in zip(best, text.example.ids[start:], strict=True))
        if same >= SAME * len(best):
            found.append(replace(text, example=replace(text.example, start=start)))
    if not found:
        raise ValueError(f"none of {len(texts)} texts that judge was written greedily; write some at temperature 0")
    return found


def judged(student: Student, decoder: LeanDecoder, texts: Sequence[Features]) -> dict[str, list[Row]]:
    """Counts of every text (see `COUNTS`), with the copy gate ("gate") and without copies ("own")."""
    found: dict[str, list[Row]] = {"gate": [], "own": []}
    student.eval()
    for text in texts:
        batch = collate([text], decoder, student.shape, device=str(student.head.device))
        eval_batch, copies, counts = prepare(batch, decoder), student.copies(batch), batch.wanted[:, batch.first :]
        bare = replace(copies, sorts=torch.zeros_like(copies.sorts))
        with torch.no_grad():
            states = [g[counts] for g in student.drafted(batch, BLOCK)]
            own = [student.logits(g, bare) for g in states]
            mixes = [_with_copies(student, *each, copies) for each in zip(own, states, strict=True)]
            found["gate"].append(_counted(student, eval_batch, copies, mixes))
            found["own"].append(_counted(student, eval_batch, bare, own))
    student.train()
    return found


def _counted(student: Student, eval_batch: EvalBatch, copies: Copies, logits: Sequence[Tensor]) -> Row:
    """logits: by distance, the logits (n, R + 1) at the positions that count."""
    hits = [(student.says(each, eval_batch.batch) == eval_batch.best).tolist() for each in logits]
    teacher = student.target_logits(*student.target_own(eval_batch.batch.last[eval_batch.batch.wanted]), copies)
    p = (teacher - eval_batch.mass[:, None]).exp()
    overlap = float(torch.minimum(logits[0].softmax(-1), p).sum())
    own = walk(hits * (BLOCK // len(hits)))  # a draft that is not fed predicts the same at every distance
    return len(hits[0]), sum(hits[0]), round(overlap, 2), own.accepted, own.rejected, own.passes


def _with_copies(student: Student, own: Tensor, states: Tensor, copies: Copies) -> Tensor:
    """`Student.logits` from the logits without copies."""
    gate = Gate(*(student.copy[part] for part in Gate._fields))
    return mixed(own, states, copies.columns, copies.sorts, gate)[0]
