"""A checkpoint: weights and optimizer state after a step, as safetensors, so that opening it runs no code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from hsd_core.systems.nano.train.students.student import Student
from hsd_core.typed import encode, plain


@contextmanager
def opened(path: Path, cure: str) -> Iterator[Any]:
    """A safetensors file, opened.

    Raises:
        ValueError: it is damaged; the message ends with `cure`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged ({error}); {cure}") from error


FILE = "checkpoint.safetensors"


def save(path: Path, student: Student, optimizer: torch.optim.AdamW, about: dict[str, Any]) -> None:
    """Write atomically. about: the training's state, as plain JSON types."""
    tensors = {f"weight.{name}": p.detach() for name, p in student.named_parameters()}
    for name, p in student.named_parameters():
        for key, value in optimizer.state.get(p, {}).items():
            tensors[f"{key}.{name}"] = torch.as_tensor(value)
    partial = path.with_suffix(".partial")
    save_file({name: t.cpu().contiguous() for name, t in tensors.items()}, partial, {"about": encode(about).decode()})
    os.replace(partial, path)


def restore(path: Path, student: Student, optimizer: torch.optim.AdamW) -> dict[str, Any] | None:
    """Load a checkpoint, if there is one; returns its `about`, else None.

    Raises:
        ValueError: it is damaged.
    """
    if not path.exists():
        return None
    with opened(path, "delete it, and training starts again") as file:
        about: dict[str, Any] = plain(file.metadata()["about"])
        held: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    with torch.no_grad():
        for name, p in student.named_parameters():
            p.copy_(held[f"weight.{name}"])
            if f"exp_avg.{name}" in held:
                state = {key: held[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
                optimizer.state[p] = {k: v.to(p.device) if k != "step" else v for k, v in state.items()}
    return about


def remove(path: Path) -> None:
    """Delete the checkpoint of a finished draft: weights and optimizer state take 12 bytes a weight."""
    for each in (path, path.with_suffix(".partial")):
        each.unlink(missing_ok=True)
