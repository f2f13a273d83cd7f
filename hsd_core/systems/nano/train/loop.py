"""Training one draft: steps, validation curve, checkpoints. An interrupted and resumed training ends in the same
weights.

Every random choice of a step is a function of the seed and the step's number, so a checkpoint needs only weights and
optimizer state.
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.positions import SINK
from hsd_core.systems.nano.train import checkpoint
from hsd_core.systems.nano.train.data.batches import collate, order
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.evaluation import LOSSES, EvalBatch, evaluate, predicted_speed_up, prepare
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters
from hsd_core.systems.nano.train.students.student import Batch, Student
from hsd_core.systems.nano.train.students.student_file import take_weights
from hsd_core.typed import convert, encode_lines, write_whole

FIT_TEXTS = 40  # texts that the in-projection is fitted on: about ten thousand positions for at most 1152 inputs
EVAL_TOKENS = 2048  # positions in an evaluation batch
EVAL_TEXTS = 64
DISTANCES = 4
JOINED_STEPS = 3  # steps that a draft which joins several states is unrolled: its own state replaces the joined one
CURVE = "curve.jsonl"
GATE_PACE = 10.0  # the copy gate's learning rate, in multiples of the weights'


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the validation curve. agreement, acceptance: one value per token of a draft (see `evaluate`)."""

    step: int
    seconds: float
    train_loss: float | None
    loss: float
    agreement: tuple[float, ...]
    acceptance: tuple[float, ...]
    predicted_speed_up: float
    predicted_block: int


OnStep = Callable[[int, int, float | None, Point | None], None]


def train(
    decoder: LeanDecoder,
    draft: DraftShape,
    hyper: Hyperparameters,
    texts: Sequence[Features],
    ids: Sequence[int],
    folder: Path,
    *,
    device: str = "cpu",
    on_step: OnStep = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
    start: Path | None = None,
) -> tuple[Student, list[Point]]:
    """Train `draft` on `texts`; the held-out ones judge it.

    Args:
        start: the file of a draft of the same shape to start from, in place of the target's layers.
        ids: rows of the trimmed head. folder: for the checkpoint, from which training resumes, and the curve so far
            (curve.jsonl, from step 0 on); not shared with other texts or hyperparameters.
        on_step: called after every step with (step, steps, seconds left, the validation at this step or None).
        stop: called after every step; True ends training after a checkpoint.
    Returns:
        The student and its validation curve, whose last point is at `hyper.steps` unless training was stopped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / checkpoint.FILE
    student = Student(decoder, draft, ids).to(device)
    learned = [t for t in texts if not t.example.held_out]
    eval_batches = [
        prepare(collate(group, decoder, draft, device=device), decoder)
        for group in _groups([t for t in texts if t.example.held_out][:EVAL_TEXTS])
    ]
    cost = weight_share(student, decoder)
    gate = list(student.copy.parameters())  # a few numbers that have to change much, unlike the millions of weights
    own = [p for p in student.parameters() if not any(p is g for g in gate)]
    paces = [{"params": own, "pace": 1.0}, {"params": gate, "pace": GATE_PACE}]
    optimizer = torch.optim.AdamW(paces, lr=hyper.rate, betas=(0.9, 0.95), weight_decay=hyper.decay)
    saved = checkpoint.restore(path, student, optimizer)
    if saved is None:
        if start is None:
            _fit(student, decoder, learned[:FIT_TEXTS], draft, device)
        else:
            take_weights(student, start)
        state = _State([_evaluate(student, eval_batches, cost, 0, 0.0, None)])
        on_step(0, hyper.steps, None, state.curve[0])
    else:
        state = convert(saved, _State)
    _write_curve(folder / CURVE, state.curve)
    begun, since, before = state.step, time.monotonic(), state.seconds
    for step, group in itertools.islice(enumerate(order(learned, hyper.batch, hyper.seed)), begun, hyper.steps):
        for group_ in optimizer.param_groups:
            group_["lr"] = hyper.rate * group_["pace"] * _schedule(step, hyper)
        batch = collate(group, decoder, draft, device=device)
        state.losses.append(_step(student, batch, optimizer, hyper, step))
        state.step, state.seconds = step + 1, before + time.monotonic() - since
        ending, point = stop(), None
        if state.step % hyper.check_every == 0 or state.step == hyper.steps:
            mean = sum(state.losses) / len(state.losses)
            point = _evaluate(student, eval_batches, cost, state.step, state.seconds, mean)
            state.curve.append(point)
            state.losses.clear()
        if point is not None or ending:
            checkpoint.save(path, student, optimizer, asdict(state))
            _write_curve(folder / CURVE, state.curve)
        left = (time.monotonic() - since) / (state.step - begun) * (hyper.steps - state.step)
        on_step(state.step, hyper.steps, left, point)
        if ending:
            break
    return student, state.curve


@dataclass(slots=True)
class _State:
    """The state of a training. losses: of the steps since the last point of the curve."""

    curve: list[Point]
    step: int = 0
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list)


def weight_share(student: Student, decoder: LeanDecoder) -> float:
    """The weights that drafting one token reads (layers below the exit, own weights, head rows), as a share of the
    target's; a pass that predicts several tokens is divided among them."""
    sizes = [sum(t.numel() for t in decoder.layer_tensors(i).values()) for i in range(decoder.layers)]
    whole = sum(sizes) + decoder.vocab_size * decoder.shape.hidden
    own = sum(p.numel() for p in student.parameters()) + student.head.numel()
    return (sum(sizes[: student.at]) + own) / whole / student.ahead


def _step(student: Student, batch: Batch, optimizer: torch.optim.AdamW, hyper: Hyperparameters, step: int) -> float:
    first = batch.first
    with torch.autocast("cuda", torch.bfloat16, enabled=batch.x.is_cuda):
        count = student.ahead if student.ahead > 1 else hyper.unroll or (JOINED_STEPS if student.joined else 1)
        if student.shape.window:
            batch = _moved(student, batch, hyper, step)
        elif count == 1:
            batch = _mixed(student, batch, hyper, step)
        known = _known(student.ahead, f"{hyper.seed}:{step}") if student.shape.masked else [False] * count
        drafted: list[Tensor | None]
        drafted = student.filled(batch, known[:-1]) if student.shape.masked else [*student.drafted(batch, count)]
    # bfloat16 logits have steps of 0.125 at 16: both distributions are computed in float32
    with torch.no_grad():
        x, own = student.target_own(batch.last[batch.wanted])
    total = torch.zeros(())
    begun = next(by for by, held in enumerate(known) if not held)
    for by, g in enumerate(drafted):
        if g is None:
            continue
        counts, copies = batch.begun(by), student.copies(batch, by, begun)
        asked = counts[batch.wanted]
        logits = student.logits(g[counts[:, first:]].float(), copies)
        if any(known[by:]):
            total = total + _misses(student, batch, logits, counts).cpu()
            continue
        with torch.no_grad():
            teacher = student.target_logits(x[asked], own[asked], copies)
        total = total + LOSSES[hyper.loss](logits, teacher).mean().cpu()
    loss = total / sum(g is not None for g in drafted)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


def _known(cells: int, seed: str) -> list[bool]:
    """Which cells of a masked draft's block hold the text's tokens in a step, never the last: none, the first few, or
    any."""
    rng = random.Random(seed)
    sort, most = rng.random(), cells - 1
    if sort < 0.5:
        return [False] * cells
    if sort < 0.75:
        count = rng.randint(1, most)
        return [at < count for at in range(cells)]
    return [*(rng.random() < 0.5 for _ in range(most)), False]


def _misses(student: Student, batch: Batch, logits: Tensor, counts: Tensor) -> Tensor:
    """The mean total variation to the text's own token: what a cell before known ones is trained by, as the target's
    row has not read those."""
    columns = student.column_of[F.pad(batch.ids[:, 1:], (0, 1))[counts]]
    told = F.pad(batch.wanted[:, 1:], (0, 1))[counts] & (columns < len(student.head))
    return (1 - logits.softmax(-1).gather(1, columns[:, None])[told, 0]).mean() if told.any() else logits.sum() * 0


def _mixed(student: Student, batch: Batch, hyper: Hyperparameters, step: int) -> Batch:
    """The batch with a share `hyper.own` of the target's states replaced by the student's, as behind its own tokens."""
    if batch.fed is None or not hyper.own:
        return batch
    with torch.no_grad():
        g = next(student.drafted(batch, 1)).to(batch.fed.dtype)
    rng = torch.Generator().manual_seed(hyper.seed * 1_000_003 + step)
    swap = (torch.rand(batch.x.shape[:2], generator=rng) < hyper.own).to(batch.x.device)
    stand_in = F.pad(g[:, :-1], (0, 0, batch.first + 1, 0))
    swap[:, : batch.first + 1] = False
    return replace(batch, fed=torch.where(swap[..., None], stand_in, batch.fed))


def _moved(student: Student, batch: Batch, hyper: Hyperparameters, step: int) -> Batch:
    """LongSpec's two augmentations (arXiv 2502.17421): the target's keys and values end one to four positions before
    the predicted token, and all positions but a few first ones are shifted, so that short texts teach long contexts."""
    rng, n = random.Random(f"{hyper.seed}:{step}"), batch.x.shape[1]
    at = torch.arange(n, device=batch.x.device)
    at[rng.randint(0, SINK) :] += rng.randint(0, max(0, len(student.cos) - n))
    return replace(batch, shift=rng.randint(1, DISTANCES), at=at)


def _schedule(step: int, hyper: Hyperparameters) -> float:
    if step < hyper.warm:
        return (step + 1) / hyper.warm
    done = (step - hyper.warm) / max(1, hyper.steps - hyper.warm)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * done))


def _fit(student: Student, decoder: LeanDecoder, texts: Sequence[Features], draft: DraftShape, device: str) -> None:
    """Initialize the in-projection by ridge regression to the inputs of the copied layers in the target."""
    depth = decoder.layers - draft.layers
    pairs = []
    for f in texts:
        held = f.states.get(depth)
        goal = (
            (decoder.states(f.example.ids[:-1], [depth])[depth] if held is None else held[: len(f.example.ids) - 1])
            .float()
            .cpu()
        )
        batch = collate([f], decoder, draft, device=device)
        with torch.no_grad():
            x = student.starts(batch)[0].cpu()
        # without the first position, whose states are a hundred times larger than any other's
        pairs.append((x[1:], goal[1:]))
    student.start_from(pairs)


def _evaluate(
    student: Student,
    eval_batches: Sequence[EvalBatch],
    cost: float,
    step: int,
    seconds: float,
    train_loss: float | None,
) -> Point:
    scores = evaluate(student, eval_batches, steps=DISTANCES)
    speed, block = predicted_speed_up(scores[0].acceptance, cost)
    return Point(
        step,
        round(seconds, 1),
        train_loss,
        scores[0].mean_loss,
        tuple(s.agreement for s in scores),
        tuple(s.acceptance for s in scores),
        speed,
        block,
    )


def _groups(texts: Sequence[Features]) -> list[list[Features]]:
    ordered = sorted(texts, key=lambda f: len(f.example.ids))
    groups: list[list[Features]] = [[]]
    for f in ordered:
        if sum(len(g.example.ids) for g in groups[-1]) + len(f.example.ids) > EVAL_TOKENS:
            groups.append([])
        groups[-1].append(f)
    return [g for g in groups if g]


def _write_curve(path: Path, curve: Sequence[Point]) -> None:
    """Write the validation curve as JSON lines; the checkpoint holds it too."""
    write_whole(path, encode_lines(curve))
