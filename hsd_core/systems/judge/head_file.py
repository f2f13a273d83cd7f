"""A judge's head as a small JSON file: a weight for each number of the target's last state, and a bias."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.models.weights.store import cache_folder
from hsd_core.typed import Malformed, Wrong, decode, json_decoder

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = "hsd-judge/1"


class HeadError(ValueError):
    """A file is no head, or one of other weights; the message says which, and names the command to run."""


class _File(Struct):
    """A file's contents. fingerprint: of the target's last norm (see `draft_file.fingerprint`)."""

    format: str
    preset: str
    target: str
    fingerprint: str
    bias: float
    weights: list[float]
    measured: dict[str, Any] = {}


_decoder = json_decoder(_File)


@dataclass(frozen=True, slots=True)
class JudgeHead:
    """A head. weights: (hidden,), of the state before the last norm. measured: by its training."""

    name: str
    fingerprint: str
    bias: float
    weights: Tensor
    measured: dict[str, Any]

    def opinions(self, states: Tensor) -> Tensor:
        """(n, hidden) states after reading n tokens -> (n,) logits: above 0, a token is rather good than wrong."""
        return states.float() @ self.weights.to(states.device) + self.bias


def own_path(preset: str) -> Path:
    """The file of a head that was trained on this machine."""
    return cache_folder() / "judge" / f"{preset}.json"


def head_path(preset: str) -> Path | None:
    """The file of the head of a preset's target: one trained on this machine, else the shipped one."""
    files = own_path(preset), FOLDER / f"{preset}-judge.json"
    return next((path for path in files if path.is_file()), None)


def read_head(path: Path) -> JudgeHead:
    """
    Raises:
        HeadError: the file is no head.
    """
    import torch

    try:
        found = decode(path.read_bytes(), _decoder)
    except (OSError, Malformed, Wrong) as error:
        raise HeadError(f"{path.name} is no head of a judge ({error}); train one: python -m hsd_core judge") from error
    if found.format != FORMAT:
        raise HeadError(f"{path.name} is of format {found.format[:40]!r}, and {FORMAT!r} is read here")
    return JudgeHead(path.stem, found.fingerprint, found.bias, torch.tensor(found.weights), found.measured)
