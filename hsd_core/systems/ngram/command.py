"""`ngram-model` and `ngram-text`: build n-gram databases for a preset or any target, named as `ngram@db=c+FILE.npz`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hsd_core.cli import selfgen
from hsd_core.cli.options import counts, option, reads, writes
from hsd_core.cli.shared_options import DEFAULT_PRESET, add_preset, command, progress
from hsd_core.grammar.preset import Preset
from hsd_core.models.weights import ensure
from hsd_core.stacks.presets import PRESETS, UnknownPreset
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.ngram.declaration import DB


def add(commands: Any) -> None:
    model = command(commands, "ngram-model", "build D_m: the commonest n-grams of what a target wrote", build_model)
    add_preset(model)
    what = model.add_mutually_exclusive_group(required=True)
    reads(what, "--data FILE", "JSON lines (.gz) with prompt_ids and output_ids, as selfgen writes")
    selfgen.add_written(model, what)
    help = "where what the target writes is kept; goes on where it ended (default: --out with .jsonl)"
    writes(model, "--texts FILE", help, goes_on=True)
    counts(model, "--min-outputs N", "leave out what fewer texts say (default 2)", default=2)
    _common(model)
    text = command(commands, "ngram-text", "build D_s: suffix lookup in a folder of text", build_text)
    whose = text.add_mutually_exclusive_group()
    option(whose, "--preset P", "whose tokenizer to use", default=DEFAULT_PRESET)
    option(whose, "--target ID", "instead of a preset: a Hub id, a folder or a .gguf file")
    reads(text, "--folder DIR", "UTF-8 text files", folder=True, required=True)
    counts(text, "--max-tokens N", "read no more than N tokens")
    option(text, "--licence", "the text's licence, kept in the file", default="")
    _common(text)


def _common(parser: argparse.ArgumentParser) -> None:
    option(parser, "--source", "where the text comes from, kept in the file", default="")
    writes(parser, "--out FILE.npz", required=True)


def build_model(options: argparse.Namespace) -> int:
    from hsd_core.systems.ngram.build import build_model_db

    stack, preset = _stack(options.out), _tokenized(options)
    tokenizer = _tokenizer_file(preset)
    data = options.data
    if data is None:
        data = options.texts or str(Path(options.out).with_suffix(".jsonl"))
        selfgen.act(argparse.Namespace(**{**vars(options), "out": data, "states": None}))
    build_model_db(
        data,
        options.out,
        tokenizer_file=tokenizer,
        tokenizer_name=preset.name,
        min_outputs=options.min_outputs,
        source=options.source,
        progress=progress(),
    )
    print(f"to use it: {f'--target {options.target} ' if options.target else ''}--stack {stack}", file=sys.stderr)
    return 0


def build_text(options: argparse.Namespace) -> int:
    from hsd_core.systems.ngram.build import build_text_db

    stack, preset = _stack(options.out), _tokenized(options)
    build_text_db(
        options.folder,
        _tokenizer_file(preset),
        options.out,
        tokenizer_name=preset.name,
        max_tokens=options.max_tokens,
        source=options.source,
        licence=options.licence,
        progress=progress(),
    )
    print(f"to use it: {f'--target {options.target} ' if options.target else ''}--stack {stack}", file=sys.stderr)
    return 0


def _stack(out: str) -> str:
    """A stack with lookups in the file `out`.

    Raises:
        ValueError: the grammar cannot name the file.
    """
    if set(out) & set(",@") or DB.files(out) != [out]:
        raise ValueError(
            f"--out {out}: take a name that ends in {DB.suffix}, without comma, @ and +, so that a stack can name it"
        )
    return f"ngram:4@db=c+{out},target"


def _tokenized(options: argparse.Namespace) -> Preset:
    """The preset whose tokenizer is used, or that of --target.

    Raises:
        UnknownPreset: it has no tokenizer.
        WeightsError: there is no such target.
    """
    if options.target:
        return target_preset(options.target)
    if options.preset not in PRESETS or PRESETS[options.preset].toy:
        named = ", ".join(name for name, p in PRESETS.items() if not p.toy)
        raise UnknownPreset(f"unknown preset {options.preset!r}; presets with a tokenizer are {named}")
    return PRESETS[options.preset]


def _tokenizer_file(preset: Preset) -> Path:
    return ensure(preset.target, progress()) / "tokenizer.json"
