"""From a written level to a built one: weights, device, dtype, databases.

A `Builder` belongs to one workbench. Levels are built on first use and kept; they are read-only, so every run shares
them. What cannot be built is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from hsd_core.decoders import Decoder, load_decoder
from hsd_core.hierarchy import Seat
from hsd_core.levels.model import ModelLevel
from hsd_core.levels.ngram import NgramLevel
from hsd_core.levels.protocol import Level
from hsd_core.ngram import Databases, load_model_db, load_text_db
from hsd_core.presets import Preset
from hsd_core.stacks import LevelSpec, StackError
from hsd_core.tokenizer import Tokenizer, same_tokenizer
from hsd_core.toy import ORDERS, ToyTokenizer, toy_level
from hsd_core.weights import Source, ensure

Progress = Callable[[str, float, float], None]
WARM_ROWS = (1, 8)


def pick_device(wanted: str | None) -> str:
    """The device to use: the wanted one, else an accelerator if there is one.

    Raises:
        StackError: the wanted device is not here.
    """
    name = wanted or ("cuda" if torch.cuda.is_available() else "cpu")
    if name != "cpu" and not name.startswith("cuda"):
        raise StackError(f"unknown device {name!r}; use cpu or cuda")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise StackError("no CUDA device was found; use --device cpu")
    return name


class Builder:
    """Builds the levels of a preset on one device."""

    def __init__(self, preset: Preset, device: str | None, dtype: str | None, progress: Progress) -> None:
        self.preset = preset
        self.device = "cpu" if preset.toy else pick_device(device)
        self.dtype = dtype or preset.dtype(self.device)
        self._progress = progress
        self._levels: dict[LevelSpec, Level] = {}
        self._decoders: dict[tuple[Path, str, str], Decoder] = {}
        self.tokenizer: Tokenizer | ToyTokenizer
        if preset.toy:
            self.tokenizer = ToyTokenizer()
        else:
            self.folder = ensure(preset.target, progress)
            self.tokenizer = Tokenizer(self.folder)
        self.ends = self.tokenizer.eos_ids

    def seat(self, spec: LevelSpec, *, last: bool) -> Seat:
        """The level of `spec` in its place; `last` is the target, which has no block length."""
        block = None if last else spec.block or self.preset.blocks.get(spec.name, 4)
        return Seat(self._level(spec), spec, block)

    def _level(self, spec: LevelSpec) -> Level:
        # T, policy and rule belong to the seat: whatever they are, the level is one and the same.
        kind = LevelSpec(spec.name, db=spec.db, dtype=spec.dtype, device=spec.device, id=spec.id)
        if kind not in self._levels:
            if self.preset.toy != (spec.name == "table"):
                known = "table@id=" + ", table@id=".join(ORDERS) if self.preset.toy else "ngram, int8, model and target"
                raise StackError(f"preset {self.preset.name} has no level {spec.name!r}; its levels are {known}")
            build = {"table": self._table, "ngram": self._ngram, "int8": self._int8}.get(spec.name, self._model)
            self._levels[kind] = build(spec)
        return self._levels[kind]

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
        return NgramLevel(
            lambda: Databases(order, model_db=model_db, text_db=text_db),
            self.tokenizer.vocab_size,
            label="n-gram lookup",
            params={"db": order},
        )

    def _int8(self, spec: LevelSpec) -> Level:
        # The kernel is the CPU's, so that is where this level runs unless another device is asked for (and refused).
        device = pick_device(spec.device) if spec.device else "cpu"
        return self._decoded(self.folder, self.preset.target, "int8", device, "int8", "int8", "int8 copy")

    def _model(self, spec: LevelSpec) -> Level:
        device = pick_device(spec.device) if spec.device else self.device
        if spec.name == "target":
            dtype = spec.dtype or self.dtype
            label = self.preset.target.title
            return self._decoded(self.folder, self.preset.target, dtype, device, "target", "target", label)
        source = Source.parse(spec.id) if spec.id else self.preset.draft
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
        if dtype == "int8" and device != "cpu":
            raise StackError(f"{name}: int8 is a CPU kernel and the device is {device}; write @device=cpu")
        key = (folder, dtype, device)
        if key not in self._decoders:
            self._progress("load", 0.0, 1.0)
            self._decoders[key] = load_decoder(folder, dtype=dtype, device=device, vocab=self.tokenizer.vocab_size)
            _warm_up(self._decoders[key])
            self._progress("load", 1.0, 1.0)
        return ModelLevel(self._decoders[key], name=name, kind=kind, label=label, weights=source.as_dict(folder))


def _warm_up(decoder: Decoder) -> None:
    """A first forward of each kind, so that no run pays for kernels that are chosen at their first use."""
    cache = decoder.new_cache(2 * max(WARM_ROWS))
    for rows in WARM_ROWS:
        decoder.forward([0] * rows, cache, 0, rows)
