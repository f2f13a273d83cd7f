"""How a trained draft would fare along texts that the target wrote: what is counted of it, a row a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from hsd_core.models.drafts.copying import Gate, mixed
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.held_out import Exam, prepare
from hsd_core.systems.nano.train.scaling.law import BLOCK, Row, walk
from hsd_core.systems.nano.train.students.student import Copies, Student

SAME = 0.98  # of a text's tokens, the target's first choices: all but near ties of another batch


def greedy(decoder: LeanDecoder, texts: Sequence[Features]) -> list[Features]:
    """The texts whose outputs the target wrote greedily, each from its output on: rounds are along what it would write
    itself. Told by its last states, so that no file has to say it.

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
    """Counts of every text (see `COUNTS`), with the copy gate ("gate") and without it ("own"): what the draft itself
    says, when nothing is copied."""
    found: dict[str, list[Row]] = {"gate": [], "own": []}
    student.eval()
    for text in texts:
        batch = collate([text], decoder, student.shape, device=str(student.head.device))
        exam, copies, counts = prepare(batch, decoder), student.copies(batch), batch.wanted[:, batch.first :]
        bare = replace(copies, sorts=torch.zeros_like(copies.sorts))
        with torch.no_grad():
            states = [g[counts] for g in student.drafted(batch, BLOCK)]
            own = [student.logits(g, bare) for g in states]
            mixes = [_with_copies(student, *each, copies) for each in zip(own, states, strict=True)]
            found["gate"].append(_counted(student, exam, copies, mixes))
            found["own"].append(_counted(student, exam, bare, own))
    student.train()
    return found


def _counted(student: Student, exam: Exam, copies: Copies, said: Sequence[Tensor]) -> Row:
    """said: by distance, the logits (n, R + 1) at the positions that count."""
    hits = [(student.says(logits, exam.batch) == exam.best).tolist() for logits in said]
    teacher = student.target_logits(*student.target_own(exam.batch.last[exam.batch.wanted]), copies)
    p = (teacher - exam.mass[:, None]).exp()
    overlap = float(torch.minimum(said[0].softmax(-1), p).sum())
    own = walk(hits * (BLOCK // len(hits)))  # a draft that is not fed says the same at every distance
    return len(hits[0]), sum(hits[0]), round(overlap, 2), own.accepted, own.rejected, own.passes


def _with_copies(student: Student, own: Tensor, states: Tensor, copies: Copies) -> Tensor:
    """What `Student.logits` gives, from what the draft itself says."""
    gate = Gate(*(student.copy[part] for part in Gate._fields))
    return mixed(own, states, copies.columns, copies.sorts, gate)[0]
