"""`ngram-model` and `ngram-text`: build the static n-gram databases of a preset's tokenizer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hsd_core.cli.files import reads, writes
from hsd_core.cli.shared_options import DEFAULT_PRESET, command, counts, progress
from hsd_core.models.weights import ensure
from hsd_core.stacks.presets import PRESETS, UnknownPreset


def add(commands: Any) -> None:
    model = command(commands, "ngram-model", "build D_m: the commonest n-grams of what a target wrote", build_model)
    reads(model, "--data", required=True, metavar="FILE", help="JSON lines (.gz) with prompt_ids and output_ids")
    _common(model)
    text = command(commands, "ngram-text", "build D_s: suffix lookup in a folder of text", build_text)
    reads(text, "--folder", folder=True, required=True, metavar="DIR", help="UTF-8 text files")
    counts(text, "--max-tokens", metavar="N", help="read no more than N tokens")
    text.add_argument("--licence", default="", help="the text's licence, kept in the file")
    _common(text)


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", default=DEFAULT_PRESET, metavar="P", help="whose tokenizer to use")
    parser.add_argument("--source", default="", help="where the text comes from, kept in the file")
    writes(parser, "--out", required=True, metavar="FILE")


def build_model(options: argparse.Namespace) -> int:
    from hsd_core.lab.ngram.build import build_model_db

    build_model_db(
        options.data,
        options.out,
        tokenizer_file=_tokenizer_file(options.preset),
        tokenizer_name=options.preset,
        source=options.source,
        progress=progress(),
    )
    return 0


def build_text(options: argparse.Namespace) -> int:
    from hsd_core.lab.ngram.build import build_text_db

    build_text_db(
        options.folder,
        _tokenizer_file(options.preset),
        options.out,
        tokenizer_name=options.preset,
        max_tokens=options.max_tokens,
        source=options.source,
        licence=options.licence,
        progress=progress(),
    )
    return 0


def _tokenizer_file(preset: str) -> Path:
    if preset not in PRESETS or PRESETS[preset].toy:
        named = ", ".join(name for name, p in PRESETS.items() if not p.toy)
        raise UnknownPreset(f"unknown preset {preset!r}; presets with a tokenizer are {named}")
    return ensure(PRESETS[preset].target, progress()) / "tokenizer.json"
