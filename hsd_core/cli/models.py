"""`models`: presets and their levels, each usable or with the reason why not; and the kinds of level there are."""

from __future__ import annotations

import argparse
from typing import Any

from hsd_core.cli.shared_options import command
from hsd_core.levels.kinds import kinds, model
from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences
from hsd_core.models.weights import here
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.trace.typed import pretty


def add(commands: Any) -> None:
    parser = command(commands, "models", "list presets and levels, usable or why not", act)
    parser.add_argument("--json", action="store_true", help="as JSON")


def act(options: argparse.Namespace) -> int:
    catalogue = Pipeline.catalogue()
    if options.json:
        print(pretty(catalogue, 2))
        return 0
    for preset in catalogue:
        memory = f"; about {preset['memory_gb']:.0f} GB of memory" if preset["memory_gb"] else ""
        print(f"{preset['name']}: {preset['title']}; {_state(preset)}{memory}")
        print(f"    default stack {preset['default_stack']}")
        for level in preset["levels"]:
            told = _undrafted(preset["name"]) if level["kind"] == model.KIND.name and level["usable"] else ""
            print(f"    {level['letter']} {level['name']:<28} {level['label']}; {_state(level)}{told}")
    print("kinds of level, written level[:T][@key=value]... and joined by commas, the cheapest first:")
    for kind in kinds().values():
        print(f"    {kind.name}: {kind.about} {kind.help}")
        print(f"        keys: {', '.join(key.name for key in kind.keys)}")
    return 0


def _undrafted(name: str) -> str:
    """How the tokenizer of a preset's smaller model differs from the target's, where both are here."""
    preset = PRESETS[name]
    draft, target = preset.draft and here(preset.draft), here(preset.target)
    if not draft or not target:
        return ""
    try:
        apart = special_differences(Tokenizer(draft), Tokenizer(target))
    except TokenizerError as error:
        return f"; not usable: {error}"
    tokens = "1 special token" if len(apart) == 1 else f"{len(apart)} special tokens"
    return f"; its tokenizer differs in {tokens}, which it never drafts" if apart else ""


def _state(entry: dict[str, Any]) -> str:
    return entry["reason"] or "usable" if entry["usable"] else f"not usable: {entry['reason']}"
