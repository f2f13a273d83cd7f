"""From a written level to a built one: weights, device, dtype, databases.

A `Builder` belongs to one workbench. Levels are built on first use and kept (see `kept`); they are read-only, so every
run shares them. What cannot be built is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from hsd_core.decoders import QUANTISED, Decoder, DecoderError, known_device, load_decoder
from hsd_core.decoders.passes import Pass
from hsd_core.kept import Kept
from hsd_core.levels.choosing import ChoosingLevel
from hsd_core.levels.draft_run import TrainedDraft
from hsd_core.levels.entry import StackEntry
from hsd_core.levels.exits import ExitLevel
from hsd_core.levels.model import ModelLevel
from hsd_core.levels.nano import NanoLevel
from hsd_core.levels.ngram import NgramLevel
from hsd_core.levels.ordered import OrderedLevel
from hsd_core.levels.protocol import Level
from hsd_core.levels.trunk import Layered
from hsd_core.local import local_source
from hsd_core.ngram import Databases, load_model_db, load_text_db
from hsd_core.presets import Preset
from hsd_core.shelf import LENS, Shelf
from hsd_core.stacks import LevelSpec, StackError, check_order
from hsd_core.tokenizer import Tokenizer, same_tokenizer
from hsd_core.toy import ORDERS, ToyTokenizer, toy_level
from hsd_core.weights import Source, ensure

Progress = Callable[[str, float, float], None]
WARM_ROWS = (1, 8)
_KINDS = ("ngram", "nano", "exit", *QUANTISED, "model", "target")


def pick_device(wanted: str | None) -> str:
    """The device to use, by its one name: the wanted one, else an accelerator if there is one.

    Raises:
        StackError: the wanted device is not here.
    """
    try:
        return known_device(wanted or ("cuda" if torch.cuda.is_available() else "cpu"))
    except DecoderError as error:
        raise StackError(str(error)) from error


class Builder:
    """Builds the levels of a preset on one device."""

    def __init__(
        self, preset: Preset, device: str | None, dtype: str | None, progress: Progress, models: Path | None = None
    ) -> None:
        self.preset, self._models = preset, models
        self.device = "cpu" if preset.toy else pick_device(device)
        self.dtype = dtype or preset.dtype(self.device)
        self._progress = progress
        self._shelf = Shelf(preset.name)
        self._kept = Kept()
        self.tokenizer: Tokenizer | ToyTokenizer
        if preset.toy:
            self.tokenizer = ToyTokenizer()
        else:
            self.folder = ensure(preset.target, progress)
            self.tokenizer = Tokenizer(self.folder)
        self.ends = self.tokenizer.eos_ids

    def seats(self, specs: Sequence[LevelSpec]) -> list[StackEntry]:
        """The levels of a stack, built from the target down: what reads the target's weights has its dtype and device.

        Raises:
            StackError: a level cannot be built; the message says which and why.
        """
        target = specs[-1]
        if target.name == "target":  # once more, now that it is known which levels read the same weights
            dtype = target.dtype or self.dtype
            check_order([replace(s, dtype=s.dtype or dtype) if s.name in ("exit", "target") else s for s in specs])
        with self._kept.stack():
            levels = [self._level(spec, target) for spec in reversed(specs)][::-1]
        blocks = [spec.block or self.preset.blocks.get(spec.name, 4) for spec in specs[:-1]]
        return [StackEntry(*parts) for parts in zip(levels, specs, [*blocks, None], strict=True)]

    def _level(self, spec: LevelSpec, target: LevelSpec) -> Level:
        # T, policy and rule belong to the seat: whatever they are, the level is one and the same.
        # But for `del`, which makes another level of an exit: one that is chosen each round.
        policy = spec.policy if spec.policy == "del" else "fixed"
        kind = LevelSpec(
            spec.name,
            at=spec.at,
            policy=policy,
            db=spec.db,
            miss=spec.miss,
            dtype=spec.dtype,
            device=spec.device and pick_device(spec.device),
            id=spec.id,
        )
        if spec.name in ("exit", "nano") or spec.miss:
            kind = self._of_the_target(kind, target)
        return self._kept.level(kind, self._build)

    def _build(self, spec: LevelSpec) -> Level:
        if self.preset.toy != (spec.name == "table"):
            known = "table@id=" + ", table@id=".join(ORDERS) if self.preset.toy else ", ".join(_KINDS)
            raise StackError(f"preset {self.preset.name} has no level {spec.name!r}; its levels are {known}")
        build = {
            "table": self._table, "ngram": self._ngram, "exit": self._exit, "nano": self._nano,
            **dict.fromkeys(QUANTISED, self._copy),
        }.get(spec.name, self._model)  # fmt: skip
        return build(spec)

    def _of_the_target(self, spec: LevelSpec, target: LevelSpec) -> LevelSpec:
        """An exit's dtype and device: the target's; where it asks for a copy's beside another target, the copy's."""
        dtype = target.dtype or self.dtype
        device = pick_device(target.device) if target.device else self.device
        if spec.dtype in QUANTISED and spec.dtype != dtype:
            device = "cpu"
        return replace(spec, dtype=spec.dtype or dtype, device=device)

    def _table(self, spec: LevelSpec) -> Level:
        if spec.id not in ORDERS:
            raise StackError(f"table@id={spec.id} is unknown; ids are {', '.join(ORDERS)}")
        return toy_level(spec.id)

    def _ngram(self, spec: LevelSpec) -> Level:
        order = spec.db or self.preset.databases
        paths = {"m": self.preset.model_db, "s": self.preset.text_db}
        missing = [letter for letter in order if letter != "c" and paths[letter] is None]
        if missing and spec.db:
            raise StackError(f"preset {self.preset.name} ships no database {missing[0]!r}; write ngram@db=c")
        order = "".join(letter for letter in order if letter not in missing)
        if not order:
            raise StackError(f"preset {self.preset.name} has no n-gram databases for this tokenizer; leave ngram out")
        assert isinstance(self.tokenizer, Tokenizer)
        known = self.tokenizer.digest
        model_db = load_model_db(paths["m"], tokenizer=known) if "m" in order and paths["m"] else None
        text_db = load_text_db(paths["s"], tokenizer=known) if "s" in order and paths["s"] else None
        lookups = NgramLevel(
            lambda: Databases(order, model_db=model_db, text_db=text_db),
            self.tokenizer.vocab_size,
            label="n-gram lookup",
            params={"db": order},
        )
        if spec.miss is None:
            return lookups
        name = None if spec.miss == "nano" else spec.miss
        nano = self._nano(LevelSpec("nano", dtype=spec.dtype, device=spec.device, id=name))
        return OrderedLevel(lookups, nano)

    def _copy(self, spec: LevelSpec) -> Level:
        """The target's own weights, quantised."""
        # The kernel is the CPU's, so that is where this level runs unless another device is asked for (and refused).
        name = spec.name
        return self._decoded(self.folder, self.preset.target, name, spec.device or "cpu", name, name, f"{name} copy")

    def _exit(self, spec: LevelSpec) -> Level:
        assert spec.at is not None
        decoder = self._layered(spec)
        if spec.at >= decoder.layers:
            deepest = decoder.layers - 1
            raise StackError(f"exit at {spec.at}: the target has {decoder.layers} layers; use @at=1 to @at={deepest}")
        if spec.policy == "del":
            exits = {draft.at: draft for draft in self.trained(decoder) if 1 <= draft.at <= spec.at and not draft.fed}
            if not exits:
                raise StackError(f"policy del: preset {self.preset.name} has no trained exit up to layer {spec.at}")
            return ChoosingLevel(decoder, exits, weights=self.preset.target.as_dict(self.folder))
        draft = None if spec.id == LENS else self._draft(spec, spec.at, decoder)
        return ExitLevel(decoder, spec.at, draft, weights=self._read_by(draft))

    def trained(self, decoder: Layered) -> list[TrainedDraft]:
        """The trained drafts (`DraftHead`) that come with the package and read this decoder, shallowest first."""
        return self._shelf.all(decoder)

    def _nano(self, spec: LevelSpec) -> NanoLevel:
        decoder = self._layered(spec)
        draft = self._draft(spec, 0, decoder)
        if draft is None:
            raise StackError(f"preset {self.preset.name} ships no trained nano; write nano@id=FILE or leave nano out")
        return NanoLevel(decoder, draft, weights=self._read_by(draft))

    def _draft(self, spec: LevelSpec, at: int, decoder: Layered) -> TrainedDraft | None:
        try:
            return self._shelf.at(at, spec.id, decoder)
        except ValueError as error:
            raise StackError(f"{spec.name}{f' at {at}' if at else ''}: {error}") from error

    def _read_by(self, draft: TrainedDraft | None) -> dict[str, object]:
        """What a trace says of the target's weights and of the draft that reads them."""
        weights = self.preset.target.as_dict(self.folder)
        return weights if draft is None else {**weights, "draft": draft.name}

    def _layered(self, spec: LevelSpec) -> Layered:
        """The target's decoder for a level that reads its layers."""
        assert spec.dtype is not None and spec.device is not None
        decoder = self._decoder(self.folder, spec.dtype, spec.device, spec.name)
        if not isinstance(decoder, Layered):
            raise StackError(f"{spec.name}: the target runs through transformers, which does not stop between layers")
        return decoder

    def _model(self, spec: LevelSpec) -> Level:
        device = spec.device or self.device
        if spec.name == "target":
            dtype = spec.dtype or self.dtype
            label = self.preset.target.title
            return self._decoded(self.folder, self.preset.target, dtype, device, "target", "target", label)
        source = local_source(spec.id, self._models) or Source.parse(spec.id) if spec.id else self.preset.draft
        if source is None:
            raise StackError(f"preset {self.preset.name} has no smaller model; name one with model@id=HUB-OR-FOLDER")
        folder = ensure(source, self._progress)
        assert isinstance(self.tokenizer, Tokenizer)
        reason = same_tokenizer(Tokenizer(folder), self.tokenizer)
        if reason:
            raise StackError(f'level "{source.title}": {reason}; use a level of the same family')
        return self._decoded(folder, source, spec.dtype or self.dtype, device, "model", "model", source.title)

    def _decoded(
        self, folder: Path, source: Source, dtype: str, device: str, name: str, kind: str, label: str
    ) -> ModelLevel:
        decoder = self._decoder(folder, dtype, device, name)
        return ModelLevel(decoder, name=name, kind=kind, label=label, weights=source.as_dict(folder))

    def _decoder(self, folder: Path, dtype: str, device: str, name: str) -> Decoder:
        if dtype in QUANTISED and device != "cpu":
            raise StackError(f"{name}: {dtype} is a CPU kernel and the device is {device}; write @device=cpu")

        def load() -> Decoder:
            self._progress("load", 0.0, 1.0)
            decoder = load_decoder(folder, dtype=dtype, device=device, vocab=self.tokenizer.vocab_size)
            _warm_up(decoder)
            self._progress("load", 1.0, 1.0)
            return decoder

        return self._kept.decoder((folder, dtype, device), load)


def _warm_up(decoder: Decoder) -> None:
    """A first forward of each kind, so that no run pays for kernels that are chosen at their first use."""
    cache = decoder.new_cache(2 * max(WARM_ROWS))
    for rows in WARM_ROWS:
        decoder.forward(Pass([0] * rows, rows=rows), cache)
