"""From a data file to drafts in a folder: compute the hidden states once, then train one draft after another."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from hsd_core.grammar.preset import Preset
from hsd_core.models import machine
from hsd_core.models.drafts.draft_file import DraftError, fingerprint, read_info, write_draft
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train import checkpoint, loop
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features, FeatureStore
from hsd_core.systems.nano.train.data.texts import check_split, commonest, read_examples
from hsd_core.systems.nano.train.evaluation import DraftScore, evaluate, prepare
from hsd_core.systems.nano.train.loop import Point
from hsd_core.systems.nano.train.recipes import DraftShape, Hyperparameters
from hsd_core.systems.nano.train.students.student import Student
from hsd_core.systems.nano.train.students.student_file import round_weights, take_weights, tensors_of
from hsd_core.typed import write_whole

LARGEST = 10_000_000  # bytes of a file that is shipped


class Distiller:
    """Trains drafts of one target on one data file.

    Args:
        drafts: those that may be trained; the hidden states for all of them are computed in one pass.
        data: JSON lines with prompt_ids and output_ids. work: a folder for hidden states, checkpoints, curves and
            finished drafts, which are not trained again.
        limit: train on the first `limit` of the shuffled texts. ends: ids that the trimmed head always has.
    Raises:
        ValueError: the data or the target cannot be trained on.
    """

    def __init__(
        self,
        decoder: LeanDecoder,
        preset: Preset,
        drafts: Sequence[DraftShape],
        data: str | Path,
        hyper: Hyperparameters,
        work: Path,
        *,
        ends: frozenset[int],
        limit: int | None = None,
        progress: Callable[[str, float, float], None] = lambda *_: None,
    ) -> None:
        hyper.check()
        if limit is not None and limit < 1:
            raise ValueError(f"limit is {limit}; train on at least 1 text")
        self._decoder, self._preset, self._plan, self._work = decoder, preset, hyper, work
        self._data, self._progress = Path(data).name, progress
        examples = read_examples(data, vocab_size=decoder.vocab_size, longest=hyper.longest, prompts=hyper.prompts)
        check_split(examples[:limit])
        self._ids = commonest(examples, hyper.rows, ends)
        self.drafts = {self.name(draft): draft for draft in drafts}
        depths = {depth for draft in drafts for depth in draft.depths(decoder.layers)}
        self._store = FeatureStore(decoder, examples[:limit], depths, work / "states")

    def name(self, draft: DraftShape) -> str:
        """The file's name: the preset and the draft's title."""
        return f"{self._preset.key}-{draft.title(self._decoder.layers)}"

    def check(self, names: Sequence[str], out: Path, start: Path | None = None) -> None:
        """Check, before any work, that these drafts can be trained and written; makes the folder `out`.

        Raises:
            ValueError: a draft is too large to ship, cannot be started from, or the target's shape is not supported.
            OSError: `out` cannot be made.
        """
        if start is not None and start.resolve() == out.resolve():
            # the start identifies a training: were it overwritten, the same command would train a finished draft again
            raise ValueError(f"drafts cannot start from {start} and be written there too; give another --out")
        for name in names:
            student = Student(self._decoder, self.drafts[name], self._ids)
            size = sum(p.numel() for p in student.parameters())  # int8: a byte each, and little else
            if size > LARGEST:
                most = f"{LARGEST / 1e6:.0f} MB that are shipped"
                raise ValueError(f"{name} would have {size / 1e6:.1f} MB, more than the {most}")
            if start is not None:
                if not (earlier := self._earlier(name, start)).is_file():
                    raise ValueError(f"{start} has no {earlier.name} to start from; train what it has with --only")
                take_weights(student, earlier)
        out.mkdir(parents=True, exist_ok=True)

    def folder(self, name: str, start: Path | None = None) -> Path:
        """The folder of a draft's checkpoint and curve."""
        earlier = None if start is None else self._earlier(name, start)
        return self._work / f"{name}-{self._digest(self.drafts[name], earlier)}"

    def _earlier(self, name: str, start: Path) -> Path:
        """The file to start from: of this name, or of the same draft without joined or running states or masks."""
        usual = replace(self.drafts[name], joins=(), states=False, masked=False)
        own, plain = start / f"{name}.safetensors", start / f"{self.name(usual)}.safetensors"
        return own if own.is_file() else plain

    def finished(self, name: str, start: Path | None = None) -> bool:
        """Whether this training was finished before."""
        made = self.folder(name, start) / f"{name}.safetensors"
        try:
            return read_info(made).card is not None
        except (DraftError, OSError):
            return False

    def train(
        self,
        name: str,
        out: Path,
        *,
        command: str = "",
        on_step: loop.OnStep = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
        start: Path | None = None,
    ) -> Path | None:
        """Train one draft and write its file and card; None if it was stopped before its end.

        start: a folder of drafts; the draft of this name there is trained further.

        Raises:
            ValueError: see `check`.
        """
        self.check([name], out, start)
        folder = self.folder(name, start)
        made = folder / f"{name}.safetensors"
        if not self.finished(name, start):
            if not self._store.compute(progress=self._progress, stop=stop):
                return None
            draft = self.drafts[name]
            found = self._store.load(*draft.depths(self._decoder.layers))
            student, curve = loop.train(
                self._decoder,
                draft,
                self._plan,
                found,
                self._ids,
                folder,
                device=self._decoder.device,
                on_step=on_step,
                stop=stop,
                start=None if start is None else self._earlier(name, start),
            )
            if curve[-1].step < self._plan.steps:
                return None
            self._export(made, draft, student, curve, found, command)
        checkpoint.remove(folder / checkpoint.FILE)
        for path in (made.with_suffix(".md"), made):
            write_whole(out / path.name, path.read_bytes())
        return out / made.name

    def _export(
        self,
        path: Path,
        draft: DraftShape,
        student: Student,
        curve: list[loop.Point],
        found: list[Features],
        command: str,
    ) -> None:
        """Write a trained draft, then its card; a draft with both is finished."""
        decoder = self._decoder
        round_weights(student)
        kinds = self._judge(student, draft, [f for f in found if f.example.held_out])
        total = sum(kinds.values(), DraftScore())
        measured = {"agreement": round(total.agreement, 4), "acceptance": round(total.acceptance, 4)}
        about = {
            "preset": self._preset.name,
            "at": student.at,
            "fed": int(draft.fed),
            "layers": draft.layers,
            "rows": len(self._ids),
            "hidden": decoder.shape.hidden,
            "target": self._preset.target.title,
            "fingerprint": fingerprint(decoder),
            "measured": measured,
        }
        if draft.mlp_width is not None:
            about["mlp_width"] = draft.mlp_width
        if student.joined:
            about["joins"] = ".".join(map(str, student.joined))
        if draft.ahead > 1:
            about["ahead"] = draft.ahead
        if draft.gated:
            about["gated"] = 1
        if draft.window:
            about["window"] = draft.window
        if draft.states:
            about["states"] = 1
        if draft.masked:
            about["masked"] = 1
        write_draft(path, tensors_of(student), about)
        learned = [f.example for f in found if not f.example.held_out]
        device = machine.describe(decoder.device)
        facts = {
            **about,
            "licence": self._preset.licence,
            "data": self._data,
            "command": command,
            "examples": len(learned),
            "tokens": sum(len(e.ids) - e.start for e in learned),
            "device": f"{device}, torch {torch.__version__}, Python {platform.python_version()}",
            "size": path.stat().st_size,
            "share": loop.weight_share(student, decoder),
        }
        write_whole(path.with_suffix(".md"), card(path.stem, draft, self._plan, curve, kinds, facts).encode())

    def _digest(self, draft: DraftShape, start: Path | None) -> str:
        """Identifies everything that training depends on; a change of any of it starts a new training."""
        begun = hashlib.sha256(start.read_bytes()).hexdigest() if start else ""
        named = (self._store.digest, self._ids, draft.named(), self._plan.named(), begun)
        return hashlib.sha256(repr(named).encode()).hexdigest()[:12]

    def _judge(self, student: Student, draft: DraftShape, found: list[Features]) -> dict[str, DraftScore]:
        """The score of the rounded weights by kind of prompt, with the target's states as inputs."""
        kinds: dict[str, DraftScore] = {}
        for f in found:
            batch = collate([f], self._decoder, draft, device=self._decoder.device)
            (score,) = evaluate(student, [prepare(batch, self._decoder)])
            kinds[f.example.kind] = kinds.get(f.example.kind, DraftScore()) + score
        return kinds


def card(
    name: str,
    draft: DraftShape,
    hyper: Hyperparameters,
    curve: Sequence[Point],
    kinds: Mapping[str, DraftScore],
    facts: Mapping[str, Any],
) -> str:
    """Markdown.

    Args:
        kinds: scores by kind of prompt. facts: `at`, `rows` (of the head), `joins` (where several layers are),
            `target`, `licence`, `data`, `examples` and `tokens` (of it), `device`, `command`, `size` (of the file,
            bytes), `share` (see `loop.weight_share`).
    """
    at, target, last = facts["at"], facts["target"], curve[-1]
    data = f"{facts['data']}; {facts['examples']} texts, {facts['tokens']} output tokens"
    reads = "" if not draft.layers else f"the state after layer {at}" if at else "the target's token embeddings"
    if draft.fed:
        states = f"states after layers {facts['joins'].replace('.', ', ')}" if draft.joins else "last state"
        fed = f"the target's {states} of the position before"
        own_state = " (its own last state behind its own tokens)" if draft.ahead == 1 else ""
        reads = f"{reads} and {fed}{own_state}" if reads else fed
    if draft.window:
        reads += f" and the keys and values of the target's last layer (own window: {draft.window} positions)"
    if draft.gated:
        reads += ", weighed against each other by a gate"
    own = (
        f"{draft.layers} transformer layer(s) of its own"
        if draft.layers
        else f"{draft.ahead} heads, one for each token"
    )
    if draft.mlp_width is not None:
        own += f" (MLPs of width {draft.mlp_width})"
    if draft.states:
        own += " with running states (Mamba-2's form) in place of keys and values"
    if draft.layers and draft.ahead > 1:
        own += f" that say {draft.ahead} tokens in one pass" + ", each of which sees the others" * draft.masked
    lines = [
        f"# {name}",
        "",
        f"A draft for {target}. It reads {reads}, has {own} and a head of",
        f"{facts['rows']} rows (the tokens that the target writes most), shared with the target and not stored here.",
        f"Licence: {facts['licence']}, as the target's.",
        "",
        f"- file: {facts['size'] / 1e6:.1f} MB, int8 weights with one scale a row",
        "- it copies what the text says again, as far as a trained gate trusts that",
        f"- one drafted token reads {facts['share']:.1%} of the weights that the target reads",
        f"- data: {data}, loops cut off; one prompt in twenty held out",
        f"- trained on: {facts['device']}, {last.seconds / 60:.0f} min, {last.step} of {hyper.steps} steps",
        f"- command: `{facts['command']}`",
        "- " + ", ".join(f"{key}{' (at most)' * (key == 'rows')} {value}" for key, value in hyper.named().items()),
        "",
        "## Validation",
        "",
        "Held-out prompts, with the rounded weights of the file and the target's own states wherever it reads some.",
        "Agreement: its first choice is the target's. Acceptance: 1 - TV to the target's distribution at "
        "temperature 1.",
        "",
        "| kind of prompt | tokens | agreement | acceptance |",
        "|---|---|---|---|",
    ]
    for kind, score in [*sorted(kinds.items()), ("all", sum(kinds.values(), DraftScore()))]:
        lines.append(f"| {kind} | {score.positions} | {score.agreement:.3f} | {score.acceptance:.3f} |")
    lines += [
        "",
        "## Curve",
        "",
        "Predicted speed-up: the best two-level stack if acceptance were i.i.d. and time were weights read. Further",
        "values: of the second, third and fourth token of a draft, each where those before it were right.",
        "",
        "| step | training loss | loss | agreement | acceptance | predicted speed-up |",
        "|---|---|---|---|---|---|",
    ]
    for p in curve:
        speed = f"{p.predicted_speed_up:.2f} at T = {p.predicted_block}"
        lines.append(
            f"| {p.step} | {'' if p.train_loss is None else f'{p.train_loss:.3f}'} | {p.loss:.3f} | "
            f"{_several(p.agreement)} | {_several(p.acceptance)} | {speed} |"
        )
    return "\n".join(lines) + "\n"


def _several(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
