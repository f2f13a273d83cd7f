"""A training run on disk: weights and optimizer state after a step, in safetensors; nothing that runs when opened."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from hsd_core.training.student import Student


def save(path: Path, student: Student, optimizer: torch.optim.AdamW, step: int) -> None:
    """Write whole or not at all."""
    tensors = {f"weight.{name}": p.detach() for name, p in student.named_parameters()}
    for name, p in student.named_parameters():
        for key, value in optimizer.state.get(p, {}).items():
            tensors[f"{key}.{name}"] = torch.as_tensor(value)
    partial = path.with_suffix(".partial")
    save_file({name: t.cpu().contiguous() for name, t in tensors.items()}, partial, {"step": str(step)})
    os.replace(partial, path)


def restore(path: Path, student: Student, optimizer: torch.optim.AdamW) -> int:
    """Go on from a checkpoint; returns the steps that it has behind it, 0 if there is none."""
    if not path.exists():
        return 0
    with safe_open(path, framework="pt") as file:
        step = int(file.metadata()["step"])
        held: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    with torch.no_grad():
        for name, p in student.named_parameters():
            p.copy_(held[f"weight.{name}"])
            keys = ("step", "exp_avg", "exp_avg_sq")
            if f"exp_avg.{name}" in held:
                state = {key: held[f"{key}.{name}"] for key in keys}
                optimizer.state[p] = {k: v.to(p.device) if k != "step" else v for k, v in state.items()}
    return step
