"""A masked draft over a small model: random weights, brought to the form of a file and opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from hsd_core.models.drafts.draft_file import DraftInfo, fingerprint
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.masked.masked_draft import MaskedDraft
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.student import Student
from hsd_core.systems.nano.train.students.student_file import round_weights, tensors_of


def masked_student(
    target: LeanDecoder, *, ahead: int = 3, absent: Sequence[int] = (), seed: int = 0, both_sides: bool = True
) -> Student:
    """With the rounded weights of its file; the ids in `absent` it can only copy."""
    ids = [i for i in range(target.vocab_size) if i not in absent]
    student = Student(target, DraftShape("nano", 0.0, True, 1, ahead=ahead, masked=both_sides), ids)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        student.read.copy_(torch.randn(student.read.shape, generator=chance) * 0.3)
        out = student.layers[0].get_parameter("out")
        out.copy_(torch.randn(out.shape, generator=chance) * 0.5)
    round_weights(student)
    return student


def masked(target: Any, student: Student | None = None, **more: Any) -> MaskedDraft:
    """Opened over a target; `more` as above."""
    student = student or masked_student(target, **more)
    sizes, own, both = (1, len(student.ids), target.shape.hidden), fingerprint(target), student.shape.masked
    about = DraftInfo(
        "masked", "tiny", 0, True, *sizes, "tiny", own, Path(), None, {}, ahead=student.ahead, masked=both
    )
    return MaskedDraft(about, tensors_of(student), target)
