"""`models`: lists presets, or the levels that can be built over a target, each usable or with the reason why not."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsd_core.cli.options import flag, option
from hsd_core.cli.shared_options import command, explained
from hsd_core.grammar import kinds
from hsd_core.grammar.preset import Preset, memory_gb_here
from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences
from hsd_core.models.weights import local_folder
from hsd_core.models.weights.hub import look_up
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS, catalogue_entry
from hsd_core.stacks.targets import target_preset, with_config
from hsd_core.stacks.weight_sizes import memory_by_kind, too_large
from hsd_core.theory.search.default_stack import default_for_machine, with_default
from hsd_core.typed import pretty


def add(commands: Any) -> None:
    parser = command(commands, "models", "list presets and levels, or the levels for a target, usable or why not", act)
    option(parser, "--target ID", "what can be built over a Hub id, a folder or a .gguf file")
    option(parser, "--draft ID", "with --target: a smaller model of its family")
    flag(parser, "--json", "as JSON")


def act(options: argparse.Namespace) -> int:
    if options.draft and not options.target:
        raise ValueError("--draft is what drafts for a target; add --target")
    over, stored = ([], 0) if options.target is None else _over(options.target, options.draft)
    presets = {preset.name: preset for preset in over or PRESETS.values()}
    entries = [with_default(catalogue_entry(preset), preset) for preset in over] or Pipeline.catalogue()
    memory = {preset.name: memory_by_kind(preset, stored) for preset in over}
    if options.json:
        print(pretty([{**entry, "memory": dict(memory.get(entry["name"], {}))} for entry in entries], 2))
        return 0
    for entry in entries:
        _print_entry(entry, presets[entry["name"]], memory.get(entry["name"]))
    for preset in over:
        if why := too_large(preset, preset.dtype("cpu"), memory_gb_here(), stored):
            print(f"    on the CPU {why}")
    if not options.target:
        _print_kinds()
    return 0


def _over(target: str, draft: str | None) -> tuple[list[Preset], int]:
    """The preset over a target, and the size of its weights on the Hub if they are only there."""
    preset = target_preset(target, draft)
    if preset.target.kind != "hub" or local_folder(preset.target) is not None:
        return [preset], 0
    found = look_up(preset.target)
    preset = with_config(preset)  # its config has been downloaded
    source = replace(preset.target, download_mb=found.bytes / 1e6)
    return [replace(preset, target=source, refused=preset.refused or found.wrong)], found.bytes


def _print_entry(entry: dict[str, Any], preset: Preset, memory: Mapping[str, str] | None) -> None:
    needs = f"; about {entry['memory_gb']:.0f} GB of memory" if entry["memory_gb"] else ""
    print(f"{entry['name']}: {entry['title']}; {_state(entry)}{needs}")
    print(f"    {explained(default_for_machine(preset))}")
    if memory is not None and not memory:
        print("    its layers and its memory are known once its weights are downloaded, which `generate` does")
    for level in entry["levels"]:
        takes = f"; {memory[level['name']]}" if memory and level["usable"] and level["name"] in memory else ""
        print(f"    {level['letter']} {level['name']:<28} {level['label']}; {_state(level)}{takes}")
    if difference := _undrafted(preset):
        print(f"    its smaller model: {difference}")


def _print_kinds() -> None:
    print("kinds of level, written level[:T][@key=value]... and joined by commas, the cheapest first:")
    for kind in kinds().values():
        print(f"    {kind.name}: {kind.text.about} {kind.text.help}")
        print(f"        keys: {', '.join(key.name for key in kind.keys)}")


def _undrafted(preset: Preset) -> str:
    """How the tokenizer of a preset's smaller model differs from the target's, if both are on this machine."""
    draft = preset.draft and local_folder(preset.draft)
    if not draft or not (target := local_folder(preset.target)):
        return ""
    try:
        apart = special_differences(Tokenizer(draft), Tokenizer(target))
    except TokenizerError as error:
        return f"not usable: {error}"
    tokens = "1 special token" if len(apart) == 1 else f"{len(apart)} special tokens"
    return f"its tokenizer differs in {tokens}, which it never drafts" if apart else ""


def _state(entry: dict[str, Any]) -> str:
    return entry["reason"] or "usable" if entry["usable"] else f"not usable: {entry['reason']}"
