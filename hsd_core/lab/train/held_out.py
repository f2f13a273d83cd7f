"""How good a draft is on texts it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from operator import add

import torch
from torch import Tensor

from hsd_core.lab.train.losses import forward_kl
from hsd_core.lab.train.student import Batch, Copies, Student
from hsd_core.models.lean.decoder import LeanDecoder

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
class Exam:
    """A batch with the target's answers over its *whole* vocabulary, at the n positions that count.

    best: (n,) the column of the student's distribution that is the target's first choice, -1 where it has none.
    mass: (n,) log of the sum that its softmax divides by.
    """

    batch: Batch
    copies: Copies
    best: Tensor
    mass: Tensor


@torch.no_grad()
def prepare(batch: Batch, student: Student, decoder: LeanDecoder) -> Exam:
    """Ask the target once."""
    first, mass = [], []
    last = batch.last[batch.wanted].to(decoder.device)
    for part in torch.split(last, CHUNK):
        logits = decoder.head(part.to(decoder.embed([0]).dtype))
        first.append(logits.argmax(-1))
        mass.append(logits.logsumexp(-1))
    device = batch.x.device
    tokens = torch.cat(first).to(device)
    best, copies = student.column_of[tokens], student.copies(batch)
    copied = (batch.sorts > 0)[batch.wanted] & (batch.tokens[batch.wanted] == tokens)
    best = torch.where((best == len(student.head)) & ~copied, -1, best)
    return Exam(batch, copies, best, torch.cat(mass).to(device))


@torch.no_grad()
def examine(student: Student, exams: Sequence[Exam], *, steps: int = 1) -> list[DraftScore]:
    """Score a draft at each distance from the last true state: [0] its first token, [1] the second, ...

    At distance d a fed draft has read its own state d times over, at every position. Without features all distances
    are alike, and one is computed.
    """
    scores = [DraftScore() for _ in range(steps if student.fed else 1)]
    student.eval()
    for exam in exams:
        batch, first, fed = exam.batch, exam.batch.first, exam.batch.fed
        wanted = batch.wanted[:, first:]
        teacher = student.target_logits(batch.last[:, first:][wanted], exam.copies)
        p = (teacher - exam.mass[:, None]).exp()
        for i, score in enumerate(scores):
            g = student(batch.x, fed, first if i == len(scores) - 1 else 0)
            logits = student.logits(g[:, g.shape[1] - wanted.shape[1] :][wanted], exam.copies)
            score.positions += len(logits)
            score.agreed += float((logits.argmax(-1) == exam.best).sum())
            score.accepted += float(torch.minimum(logits.softmax(-1), p).sum())
            score.loss += float(forward_kl(logits, teacher).sum())
            if fed is not None and i < len(scores) - 1:
                fed = torch.cat((torch.zeros_like(g[:, :1]), g[:, :-1]), 1)
    student.train()
    return scores


def predicted_speed_up(acceptance: float, cost: float, longest: int = 8) -> tuple[float, int]:
    """The best two-level stack of this draft if acceptance were i.i.d.: (speed-up, block length).

    max over T of tau(a, T) / (1 + T c), tau(a, n) = (1 - a^(n+1)) / (1 - a): Leviathan et al. 2023, theorem 3.8.
    cost: of a draft in target forwards, here by the weights that both read. A prediction, not a measurement.
    """
    a = min(acceptance, 0.999)
    return max(((1 - a ** (t + 1)) / (1 - a) / (1 + t * cost), t) for t in range(1, longest + 1))
