"""The whole way from a data file to drafts in a folder: hidden states once, then one draft after another."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import torch

from hsd_core import machine
from hsd_core.decoders.lean import LeanDecoder
from hsd_core.drafts.file import fingerprint, write_draft
from hsd_core.training import features, loop
from hsd_core.training.batches import collate
from hsd_core.training.card import card
from hsd_core.training.data import commonest, read_examples
from hsd_core.training.export import round_weights, tensors_of
from hsd_core.training.recipes import Draft, Plan
from hsd_core.training.student import Student
from hsd_core.training.validate import Score, examine, prepare

LARGEST = 10_000_000  # bytes of a file that is shipped
DISTANCES = 4  # how far from the last true state the card judges a fed draft


class Distiller:
    """Trains drafts of one target on one data file.

    Args:
        data: JSON lines with prompt_ids and output_ids. work: keeps hidden states, checkpoints and curves.
        limit: train on the first so many of the shuffled texts. ends: ids that the trimmed head keeps in any case.
    """

    def __init__(
        self, decoder: LeanDecoder, preset: str, data: str | Path, plan: Plan, work: Path, *, ends: frozenset[int],
        target: str, limit: int | None = None, progress: Callable[[str, float, float], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self._decoder, self._preset, self._plan, self._work = decoder, preset, plan, work
        self._target, self._data, self._progress = target, Path(data).name, progress
        examples = read_examples(data, vocab_size=decoder.vocab_size, longest=plan.longest)
        self._ids = commonest(examples, plan.rows, ends)
        self._examples = examples[:limit]

    def name(self, draft: Draft) -> str:
        """The file's name: the preset, what it is, and the depth of an exit."""
        return f"{self._preset}-{draft.name}{draft.depth(self._decoder.layers) or ''}"

    def train(
        self, draft: Draft, out: Path, *, command: str = "", tell: loop.Tell = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Path | None:  # fmt: skip
        """Train one draft and write its file and card; None if it was stopped before its end."""
        name, at, decoder = self.name(draft), draft.depth(self._decoder.layers), self._decoder
        folder = self._work / "states"
        features.compute(decoder, self._examples, {at}, folder, progress=self._progress)
        found = features.load(folder, self._examples, {at, decoder.layers})
        student, curve = loop.train(
            decoder, draft, self._plan, found, self._ids, self._work / name, device=decoder.device, tell=tell, stop=stop
        )
        if curve[-1].step < self._plan.steps:
            return None
        round_weights(student)
        kinds = self._judge(student, draft, [f for f in found if f.example.held_out])
        out.mkdir(parents=True, exist_ok=True)
        path = out / f"{name}.safetensors"
        total = sum((scores[0] for scores in kinds.values()), Score())
        about = {
            "at": at, "fed": int(draft.fed), "layers": draft.layers, "rows": len(self._ids),
            "hidden": decoder.shape.hidden, "target": self._target, "fingerprint": fingerprint(decoder),
            "measured": {"agreement": round(total.agreement, 4), "acceptance": round(total.acceptance, 4)},
        }  # fmt: skip
        write_draft(path, tensors_of(student), about)
        text = card(
            name, draft=draft, at=at, plan=self._plan, target=self._target, data=self._data, command=command,
            examples=sum(not f.example.held_out for f in found),
            tokens=sum(len(f.example.ids) - f.example.start for f in found if not f.example.held_out),
            device=f"{machine.describe(decoder.device)}, torch {torch.__version__}, Python {platform.python_version()}",
            size=path.stat().st_size, share=loop.weight_share(student, decoder), curve=curve, kinds=kinds,
        )  # fmt: skip
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        if path.stat().st_size > LARGEST:
            raise ValueError(
                f"{path} has {path.stat().st_size / 1e6:.1f} MB, more than can be shipped; train a smaller one"
            )
        return path

    def _judge(self, student: Student, draft: Draft, found: list[features.Features]) -> dict[str, list[Score]]:
        kinds: dict[str, list[Score]] = {}
        for kind in sorted({f.example.kind for f in found}):
            own = [f for f in found if f.example.kind == kind]
            exams = [
                prepare(
                    collate([f], self._decoder, at=student.at, fed=draft.fed, device=self._decoder.device),
                    student,
                    self._decoder,
                )
                for f in own
            ]
            kinds[kind] = examine(student, exams, steps=DISTANCES)
        return kinds
