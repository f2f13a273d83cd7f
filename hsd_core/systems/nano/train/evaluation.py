"""The losses of training, and a draft's quality on texts that it was not trained on.

Losses are distances of a student's distribution from the target's. All are per position over the same trimmed
vocabulary, from logits (n, R). A draft is judged by 1 - TV, the acceptance of a drafted token under rule `tokenwise`
(Leviathan et al. 2023, corollary 3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from operator import add
from types import MappingProxyType

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.students.student import Batch, Student

Loss = Callable[[Tensor, Tensor], Tensor]


def forward_kl(student: Tensor, teacher: Tensor) -> Tensor:
    """KL(p || q), mode covering. Logits (n, R) twice -> (n,) nats."""
    q, p = F.log_softmax(student, -1), F.log_softmax(teacher, -1)
    return (p.exp() * (p - q)).sum(-1)


def reverse_kl(student: Tensor, teacher: Tensor) -> Tensor:
    """KL(q || p), mode seeking."""
    return forward_kl(teacher, student)


def total_variation(student: Tensor, teacher: Tensor) -> Tensor:
    """TV(p, q), the chance of a rejection; its gradient vanishes where the distributions hardly overlap."""
    return 0.5 * (student.softmax(-1) - teacher.softmax(-1)).abs().sum(-1)


LOSSES: Mapping[str, Loss] = MappingProxyType({"kl": forward_kl, "rkl": reverse_kl, "tv": total_variation})


CHUNK = 512  # rows of the whole vocabulary at a time


@dataclass(slots=True)
class DraftScore:
    """Sums over positions. `agreed`: its first choice is the target's own. `accepted`: 1 - TV to the target's
    distribution."""

    positions: int = 0
    agreed: float = 0.0
    accepted: float = 0.0
    loss: float = 0.0

    def __add__(self, other: DraftScore) -> DraftScore:
        return DraftScore(*map(add, astuple(self), astuple(other)))

    @property
    def agreement(self) -> float:
        return self.agreed / max(1, self.positions)

    @property
    def acceptance(self) -> float:
        return self.accepted / max(1, self.positions)

    @property
    def mean_loss(self) -> float:
        return self.loss / max(1, self.positions)


@dataclass(frozen=True, slots=True)
class EvalBatch:
    """A batch with the target's answers over its *full* vocabulary, at the n positions that count.

    best: (n,) its first choice. mass: (n,) the logarithm of its softmax's denominator.
    """

    batch: Batch
    best: Tensor
    mass: Tensor


@torch.no_grad()
def prepare(batch: Batch, decoder: LeanDecoder) -> EvalBatch:
    """Compute the target's answers once."""
    first, mass = [], []
    last = batch.last[batch.wanted].to(decoder.device)
    for part in torch.split(last, CHUNK):
        logits = decoder.head(part.to(decoder.embed([0]).dtype))
        first.append(logits.argmax(-1))
        mass.append(logits.logsumexp(-1))
    device = batch.x.device
    return EvalBatch(batch, torch.cat(first).to(device), torch.cat(mass).to(device))


@torch.no_grad()
def evaluate(student: Student, eval_batches: Sequence[EvalBatch], *, steps: int = 1) -> list[DraftScore]:
    """Scores of a draft's first token, [0], its second, [1], ..., each given that those before it were right.

    For a draft that reads neither features nor the target's keys and values all are equal, and one is computed.
    """
    scores = [DraftScore() for _ in range(min(steps, student.ahead if student.ahead > 1 else steps))]
    scores = scores if student.fed or student.shape.window else scores[:1]
    student.eval()
    for eval_batch in eval_batches:
        batch, first = eval_batch.batch, eval_batch.batch.first
        x, own = student.target_own(batch.last[batch.wanted])
        for by, (score, g) in enumerate(zip(scores, student.drafted(batch, len(scores)), strict=True)):
            counts = batch.begun(by)
            asked, copies = counts[batch.wanted], student.copies(batch, by)
            teacher = student.target_logits(x[asked], own[asked], copies)
            p = (teacher - eval_batch.mass[asked][:, None]).exp()
            logits = student.logits(g[counts[:, first:]], copies)
            score.positions += len(logits)
            score.agreed += float((student.says(logits, batch, by) == eval_batch.best[asked]).sum())
            score.accepted += float(torch.minimum(logits.softmax(-1), p).sum())
            score.loss += float(forward_kl(logits, teacher).sum())
    student.train()
    return scores


def predicted_speed_up(acceptance: float, cost: float, longest: int = 8) -> tuple[float, int]:
    """The best two-level stack of this draft if acceptance were i.i.d.: (speed-up, block length).

    max over T of tau(a, T) / (1 + T c), tau(a, n) = (1 - a^(n+1)) / (1 - a): Leviathan et al. 2023, theorem 3.8.
    cost: of a drafted token in target forwards, here the ratio of weights read. A prediction, not a measurement.
    """
    a = min(acceptance, 0.999)
    return max(((1 - a ** (t + 1)) / (1 - a) / (1 + t * cost), t) for t in range(1, longest + 1))
