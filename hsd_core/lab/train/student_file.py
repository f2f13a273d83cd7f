"""From a trained student to the file that is shipped, and to the student that file holds."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from hsd_core.drafts.draft_file import GATE, NORMS, PRODUCTS, DraftError, read_info
from hsd_core.lab.train.student import Student
from hsd_core.models.lean.linear import quantise


def tensors_of(student: Student) -> dict[str, Tensor]:
    """A student's weights in the form of `drafts.file`: products as int8 with a scale a row, norms as they are."""
    found: dict[str, Tensor] = {"ids": student.ids.int().cpu(), "norm": student.norm.detach().float().cpu()}

    def product(name: str, weight: Tensor) -> None:
        found[name], found[f"{name}.scale"] = quantise(weight.detach().cpu())

    product("read", student.read)
    for i, layer in enumerate(student.layers):
        for name in PRODUCTS:
            product(f"layers.{i}.{name}", getattr(layer, name))
        for name in NORMS:
            found[f"layers.{i}.{name}"] = getattr(layer, name).detach().float().cpu()
    found |= {name: parameter.detach().float().cpu() for name, parameter in student.named_parameters() if name in GATE}
    return found


@torch.no_grad()
def take_weights(student: Student, path: Path) -> None:
    """Give a student the weights of a draft's file. The rows of the head may differ.

    Raises:
        DraftError: it is not a draft, or one of another shape or target size, or damaged.
    """
    about = read_info(path)
    shape = (about.at, about.fed, about.layers, about.mlp_width)
    if shape != (student.at, student.fed, student.depth, student.mlp_width):
        raise DraftError(f"{path.name} is another kind of draft ({about.title}); start from one of the same shape")
    try:
        held = load_file(path)
    except SafetensorError as error:
        raise DraftError(f"{path.name} is damaged ({error}); train it again") from error
    for name, parameter in student.named_parameters():
        weight, scale = held.get(name), held.get(f"{name}.scale")
        if weight is None:
            raise DraftError(f"{path.name} lacks {name!r}; train it again")
        if weight.shape != parameter.shape or (scale is not None and scale.shape != weight.shape[:1]):
            raise DraftError(f"{path.name} has weights of other sizes than the target's; start from a draft of its own")
        parameter.copy_(weight if scale is None else weight.float() * scale.float()[:, None])


@torch.no_grad()
def round_weights(student: Student) -> None:
    """Give a student the rounded weights of its file, so that what is judged is what is shipped."""
    for parameter in student.parameters():
        if parameter.dim() == 2:
            weight, scale = quantise(parameter.cpu())
            parameter.copy_((weight.float() * scale.float()[:, None]).to(parameter.device))
