"""A draft with a window of its own over a small model: random weights, brought to the form of a file and opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from hsd_core.models.drafts.draft_file import DraftInfo, fingerprint
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.longspec.windowed import WindowedDraft
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.student import Student
from hsd_core.systems.nano.train.students.student_file import round_weights, tensors_of


def windowed_student(target: LeanDecoder, *, window: int, absent: Sequence[int] = (), seed: int = 0) -> Student:
    """With the rounded weights of its file; the ids in `absent` it can only copy."""
    ids = [i for i in range(target.vocab_size) if i not in absent]
    student = Student(target, DraftShape("nano", 0.0, False, 1, window=window), ids)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        student.read.copy_(torch.randn(student.read.shape, generator=chance) * 0.3)
        for name in ("cross_q", "cross_out", "out"):
            weight = student.layers[0].get_parameter(name)
            weight.copy_(torch.randn(weight.shape, generator=chance) * 0.3)
    round_weights(student)
    return student


def windowed(target: Any, student: Student | None = None, **more: Any) -> WindowedDraft:
    """Opened over a target; `more` as above."""
    student = student or windowed_student(target, **more)
    sizes = student.shape.layers, len(student.ids), target.shape.hidden
    about = DraftInfo(
        "long", "tiny", 0, False, *sizes, "tiny", fingerprint(target), Path(), None, {}, window=student.shape.window
    )
    return WindowedDraft(about, tensors_of(student), target)
