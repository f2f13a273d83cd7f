"""Writing a trained student as a draft file, and reading it back."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from hsd_core.models.drafts.draft_file import GATE, DraftError, fingerprint, read_info
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.linear import quantise
from hsd_core.systems.nano.train.recipes import DraftShape
from hsd_core.systems.nano.train.students.state_layer import OWN
from hsd_core.systems.nano.train.students.student import Student

KEPT = {*GATE, "norm", "unknown"}  # not rounded, whatever their shape


def tensors_of(student: Student) -> dict[str, Tensor]:
    """A student's weights in the format of `draft_file`: products as int8 with a scale per row, norms in float32."""
    found: dict[str, Tensor] = {"ids": student.ids.int().cpu()}
    for name, parameter in student.named_parameters():
        weight = parameter.detach().cpu()
        if _rounded(name, weight):
            found[name], found[f"{name}.scale"] = quantise(weight)
        else:
            found[name] = weight.float()
    return found


def _rounded(name: str, weight: Tensor) -> bool:
    return weight.dim() == 2 and name not in KEPT


@torch.no_grad()
def take_weights(student: Student, path: Path) -> None:
    """Load a draft file's weights into a student. The rows of the head may differ; a student that joins several states
    may start from a draft that is fed the last one only, one with running states from one with keys and values, a
    masked one from one whose tokens do not see each other.

    Raises:
        DraftError: it is not a draft, or one of another shape or target size, or damaged.
    """
    about, own = read_info(path), student.shape
    begins = about.joined in (student.joined, ()) and about.states in (own.states, False)
    begins = begins and about.masked in (own.masked, False)
    shape = (about.at, about.fed, about.layers, about.mlp_width, about.ahead, about.gated, about.window)
    if not begins or shape != (student.at, own.fed, own.layers, own.mlp_width, own.ahead, own.gated, own.window):
        raise DraftError(f"{path.name} is another kind of draft ({about.title}); start from one of the same shape")
    try:
        held = load_file(path)
    except SafetensorError as error:
        raise DraftError(f"{path.name} is damaged ({error}); train it again") from error
    for name, parameter in student.named_parameters():
        weight, scale = held.get(name), held.get(f"{name}.scale")
        added = (name == "join" and not about.joined) or (name.endswith(OWN) and not about.states)
        if weight is None and added:
            continue
        if weight is None:
            raise DraftError(f"{path.name} lacks {name!r}; train it again")
        if weight.shape != parameter.shape or (scale is not None and scale.shape != weight.shape[:1]):
            raise DraftError(f"{path.name} has weights of other sizes than the target's; start from a draft of its own")
        parameter.copy_(weight if scale is None else weight.float() * scale.float()[:, None])


@torch.no_grad()
def round_weights(student: Student) -> None:
    """Round a student's weights as its file does, so that the shipped weights are judged."""
    for name, parameter in student.named_parameters():
        if _rounded(name, parameter):
            weight, scale = quantise(parameter.cpu())
            parameter.copy_((weight.float() * scale.float()[:, None]).to(parameter.device))


def student_of(path: Path, decoder: LeanDecoder) -> Student:
    """The student that a draft's file holds.

    Raises:
        DraftError: it is not a draft, or one for another target, or damaged.
    """
    info, layers = read_info(path), decoder.layers
    if info.fingerprint != fingerprint(decoder):
        raise DraftError(f"draft {info.name} was trained for {info.target}, not for this target; name one of its own")
    joins = tuple(1.0 if depth == layers else (depth - 0.25) / layers for depth in info.joined)
    at = (info.at - 0.25) / layers if info.at else 0.0
    own = info.layers, info.mlp_width, joins, info.ahead, info.gated, info.window, info.states, info.masked
    student = Student(decoder, DraftShape(info.name, at, info.fed, *own), load_file(path)["ids"].tolist())
    take_weights(student, path)
    return student
