"""One draft trained many times from the same start, on growing shares of the tokens and in other sizes, and judged.

The shares are nested; other sizes are trained at one share. All trainings have the same seed, hyperparameters and
trimmed head, and read their texts the same number of times. A finished one is a line of a file of raw results and is
not repeated.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hsd_core.measure.rawfile import RawFile
from hsd_core.models.drafts.copying import Gate, mixed
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train import checkpoint, loop
from hsd_core.systems.nano.train.data.batches import collate, outputs
from hsd_core.systems.nano.train.data.features import Features, FeatureStore
from hsd_core.systems.nano.train.data.texts import check_split, commonest, read_examples
from hsd_core.systems.nano.train.evaluation import EvalBatch, prepare
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters
from hsd_core.systems.nano.train.scaling.law import BLOCK, Row, walk
from hsd_core.systems.nano.train.students.student import Copies, Student
from hsd_core.systems.nano.train.students.student_file import round_weights

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the output tokens
SIZES_AT = 1 / 4  # the share at which other sizes are trained
LAYERS, ROWS = (1, 2), (2048, 8192, 32768)  # own layers; rows of the trimmed head
WARM = 4  # at most one in this many steps of a training warms up


@dataclass(frozen=True, slots=True)
class Training:
    """A training of a sweep. share: of all output tokens. rows: of the trimmed head, at most."""

    share: float
    layers: int
    rows: int

    @property
    def name(self) -> str:
        """For people, in one line."""
        part = "all tokens" if self.share == 1.0 else f"1/{round(1 / self.share)} of the tokens"
        return f"{part}, {self.layers} own layer(s), {self.rows} rows"


def planned(draft: DraftShape, hyper: Hyperparameters) -> list[Training]:
    """The draft's own size at every share, and other sizes at one share; smaller shares first."""
    own = [Training(share, draft.layers, hyper.rows) for share in SHARES]
    base = replace(own[0], share=SIZES_AT)
    sizes = [replace(base, layers=n) for n in LAYERS] + [replace(base, rows=n) for n in ROWS]
    return sorted([*own, *(one for one in sizes if one != base)], key=lambda one: one.share)


def nested(texts: Sequence[Features], share: float) -> list[Features]:
    """The first texts with this share of all output tokens: smaller shares are subsets of larger ones."""
    wanted, found = share * sum(map(outputs, texts)), list[Features]()
    held = 0
    for text in texts:
        if held >= wanted:
            break
        found.append(text)
        held += outputs(text)
    return found


def fitted_to(hyper: Hyperparameters, texts: Sequence[Features], training: Training, epochs: int) -> Hyperparameters:
    """The hyperparameters for these texts: enough steps to read every text `epochs` times (see `batches.order`)."""
    size = max(1, round(hyper.batch / (sum(map(outputs, texts)) / len(texts))))
    steps = epochs * math.ceil(len(texts) / size)
    return replace(hyper, steps=steps, warm=min(hyper.warm, max(1, steps // WARM)), rows=training.rows)


CURVE_TEXTS = 8  # held-out texts for a training's curve; a finished one is judged by all of them
OnStep = Callable[[str, int, int, float | None], None]


@dataclass(slots=True)
class _Pace:
    """Seconds per unit of work (steps times weights) so far."""

    seconds: float = 0.0
    work: float = 0.0

    def left(self, work: float) -> float | None:
        return self.seconds / self.work * work if self.work else None


class Sweep:
    """The trainings of one draft.

    Args:
        data: JSON lines with prompt_ids and output_ids; one prompt in twenty is held out. other: a file of further
            texts for judging only. work: a folder for hidden states and checkpoints.
        limit: use the first `limit` of the shuffled texts. ends: ids that the trimmed head always has.
        epochs: how often each text is read; the number of steps follows.
    Raises:
        ValueError: the data cannot be trained on.
    """

    def __init__(
        self,
        decoder: LeanDecoder,
        draft: DraftShape,
        data: str | Path,
        hyper: Hyperparameters,
        work: Path,
        *,
        ends: frozenset[int],
        epochs: int = 1,
        other: str | Path | None = None,
        limit: int | None = None,
    ) -> None:
        hyper.check()
        if draft.ahead > 1:
            raise ValueError(
                "a sweep judges drafts that go on behind their own tokens; choose one of recipe nano or joined"
            )
        self._decoder, self._draft, self._hyper, self._epochs, self._work = decoder, draft, hyper, epochs, work
        read = partial(read_examples, vocab_size=decoder.vocab_size, longest=hyper.longest)
        examples = read(data, prompts=hyper.prompts)[:limit]
        check_split(examples)
        self._learned = [e for e in examples if not e.held_out]
        self._ends = ends
        judges = {"held_out": [e for e in examples if e.held_out]}
        if other is not None:
            judges["other"] = read(other)
        depths, states = set(draft.depths(decoder.layers)), work / "states"
        self._store = FeatureStore(decoder, self._learned, depths, states)
        self._judges = {name: FeatureStore(decoder, found, depths, states) for name, found in judges.items()}

    def about(self) -> dict[str, Any]:
        """What identifies the sweep in a file of its results."""
        hyper = {key: value for key, value in self._hyper.named().items() if key not in ("steps", "check_every")}
        return {
            "draft": {**self._draft.named(), "depth": self._draft.depth(self._decoder.layers)},
            "epochs": self._epochs,
            "hyperparameters": hyper,
            "texts": len(self._learned),
            "tokens": sum(len(e.ids) - e.start for e in self._learned),
            "judges": [*self._judges],
        }

    def run(
        self,
        file: RawFile,
        *,
        progress: Callable[[str, float, float], None] = lambda *_: None,
        on_step: OnStep = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Train and judge what the file lacks, a line each; False if it was stopped before its end.

        on_step: called after every step with (training, step, steps, seconds left of the sweep or None).
        """
        done = {(r["share"], r["layers"], r["asked_rows"]) for r in file.records}
        todo = [one for one in planned(self._draft, self._hyper) if (one.share, one.layers, one.rows) not in done]
        if not todo:
            return True
        goals = {self._decoder.layers - one.layers for one in todo}
        starts = FeatureStore(self._decoder, self._learned[: loop.FIT_TEXTS], goals, self._work / "states")
        for store in (self._store, starts, *self._judges.values()):
            if not store.compute(progress=progress, stop=stop):
                return False
        read = self._draft.depths(self._decoder.layers)
        texts = self._store.load(*read)
        judges = {name: greedy(self._decoder, store.load(*read)) for name, store in self._judges.items()}
        for depth in goals:  # every training's start is fitted to the same texts, the first of every share
            for text, held in zip(texts, starts.load(depth), strict=False):
                text.states[depth] = held.states[depth]
        pace, sizes = _Pace(), [self._size(one) for one in todo]
        for i, one in enumerate(todo):
            part = nested(texts, one.share)
            later = sum(other.share * size for other, size in zip(todo[i + 1 :], sizes[i + 1 :], strict=True))
            found = self._trained(one, part, judges["held_out"][:CURVE_TEXTS], on_step, stop, pace, sizes[i], later)
            if found is None:
                return False
            student, seconds = found
            round_weights(student)
            scores = {name: judged(student, self._decoder, held) for name, held in judges.items()}
            file.add([self._record(one, part, student, seconds, scores)])
            checkpoint.remove(self._folder(one, part) / checkpoint.FILE)
        return True

    def _trained(
        self,
        one: Training,
        part: Sequence[Features],
        held: Sequence[Features],
        on_step: OnStep,
        stop: Callable[[], bool],
        pace: _Pace,
        size: int,
        later: float,
    ) -> tuple[Student, dict[str, float]] | None:
        """Run a training to its end: the student, and its times and steps; None if it was stopped."""
        hyper = fitted_to(self._hyper, part, one, self._epochs)
        begun, before, cpu, steps_here = time.monotonic(), pace.seconds, time.process_time(), 0

        def counted(step: int, steps: int, left: float | None, _: loop.Point | None) -> None:
            nonlocal steps_here
            if left is None:
                return on_step(one.name, step, steps, None)
            steps_here += 1
            pace.seconds = before + time.monotonic() - begun
            pace.work += one.share * size / steps
            rest = pace.left(later)
            return on_step(one.name, step, steps, None if rest is None else left + rest)

        student, curve = loop.train(
            self._decoder,
            replace(self._draft, layers=one.layers),
            hyper,
            [*part, *held],
            self._ids(one.rows),
            self._folder(one, part),
            device=self._decoder.device,
            on_step=counted,
            stop=stop,
        )
        if curve[-1].step < hyper.steps:
            return None
        core = (time.process_time() - cpu) / steps_here * hyper.steps if steps_here else curve[-1].seconds
        return student, {"seconds": curve[-1].seconds, "core_seconds": round(core, 1), "steps": hyper.steps}

    def _record(
        self, one: Training, part: Sequence[Features], student: Student, took: dict[str, float], scores: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "what": "training",
            "share": one.share,
            "layers": one.layers,
            "asked_rows": one.rows,
            "rows": len(student.head),
            "texts": len(part),
            "tokens": sum(map(outputs, part)),
            **took,
            "seed": self._hyper.seed,
            "weights": _weights(student),
            "weight_share": round(loop.weight_share(student, self._decoder), 5),
            "judged": scores,
        }

    def _ids(self, rows: int) -> list[int]:
        """One trimmed head for all shares: the commonest ids in all training texts."""
        return commonest(self._learned, rows, self._ends)

    def _size(self, one: Training) -> int:
        """About the weights that a training reads per token, to estimate the time left."""
        layer = sum(t.numel() for t in self._decoder.layer_tensors(self._decoder.layers - 1).values())
        return one.layers * layer + len(self._ids(one.rows)) * self._decoder.shape.hidden

    def _folder(self, one: Training, part: Sequence[Features]) -> Path:
        named = (self._draft.named(), asdict(one), self._hyper.named(), self._epochs, self._store.digest, len(part))
        return self._work / f"sweep-{hashlib.sha256(repr(named).encode()).hexdigest()[:12]}"


def _weights(student: Student) -> int:
    """The draft's own weights and head rows that one token reads; an exit reads the layers below it too."""
    return sum(p.numel() for p in student.parameters()) + student.head.numel()


SAME = 0.98  # the share of the target's first choices in a greedy text: all but near ties of another batch size


def greedy(decoder: LeanDecoder, texts: Sequence[Features]) -> list[Features]:
    """The texts whose outputs the target wrote greedily, starting at the output. Detected by the target's last states,
    so that no file has to say it.

    Raises:
        ValueError: there are none.
    """
    found = []
    for text in texts:
        start = max(text.example.start, text.example.prompt)
        last = text.states[decoder.layers][start - 1 : len(text.example.ids) - 1]
        best = decoder.head(last.to(decoder.device, decoder.embed([0]).dtype)).argmax(-1).tolist()
        same = sum(a == b for a, b in zip(best, text.example.ids[start:], strict=True))
        if same >= SAME * len(best):
            found.append(replace(text, example=replace(text.example, start=start)))
    if not found:
        raise ValueError(f"none of {len(texts)} texts that judge was written greedily; write some at temperature 0")
    return found


def judged(student: Student, decoder: LeanDecoder, texts: Sequence[Features]) -> dict[str, list[Row]]:
    """Counts of every text (see `COUNTS`), with the copy gate ("gate") and without copies ("own")."""
    found: dict[str, list[Row]] = {"gate": [], "own": []}
    student.eval()
    for text in texts:
        batch = collate([text], decoder, student.shape, device=str(student.head.device))
        eval_batch, copies, counts = prepare(batch, decoder), student.copies(batch), batch.wanted[:, batch.first :]
        bare = replace(copies, sorts=torch.zeros_like(copies.sorts))
        with torch.no_grad():
            states = [g[counts] for g in student.drafted(batch, BLOCK)]
            own = [student.logits(g, bare) for g in states]
            mixes = [_with_copies(student, *each, copies) for each in zip(own, states, strict=True)]
            found["gate"].append(_counted(student, eval_batch, copies, mixes))
            found["own"].append(_counted(student, eval_batch, bare, own))
    student.train()
    return found


def _counted(student: Student, eval_batch: EvalBatch, copies: Copies, logits: Sequence[Tensor]) -> Row:
    """logits: by distance, the logits (n, R + 1) at the positions that count."""
    hits = [(student.says(each, eval_batch.batch) == eval_batch.best).tolist() for each in logits]
    teacher = student.target_logits(*student.target_own(eval_batch.batch.last[eval_batch.batch.wanted]), copies)
    p = (teacher - eval_batch.mass[:, None]).exp()
    overlap = float(torch.minimum(logits[0].softmax(-1), p).sum())
    own = walk(hits * (BLOCK // len(hits)))  # a draft that is not fed predicts the same at every distance
    return len(hits[0]), sum(hits[0]), round(overlap, 2), own.accepted, own.rejected, own.passes


def _with_copies(student: Student, own: Tensor, states: Tensor, copies: Copies) -> Tensor:
    """`Student.logits` from the logits without copies."""
    gate = Gate(*(student.copy[part] for part in Gate._fields))
    return mixed(own, states, copies.columns, copies.sorts, gate)[0]
