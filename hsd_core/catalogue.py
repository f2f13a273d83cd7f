"""Presets and levels as the page and the command line list them: usable, or shown with the reason why not.

Needs no weights, no network and no torch import, so that a page can be drawn at once.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hsd_core.decoders.protocol import QUANTISED
from hsd_core.machine import has_cuda
from hsd_core.presets import PRESETS, Preset
from hsd_core.shelf import shipped
from hsd_core.toy import ORDERS

LETTERS = {"ngram": "N", "nano": "D", "exit": "E", "int8": "Q", "int4": "Q", "model": "M", "table": "M", "target": "T"}


def catalogue() -> list[dict[str, Any]]:
    """One entry a preset, usable ones first; all values are plain JSON types."""
    entries = [_preset(preset) for preset in PRESETS.values()]
    return sorted(entries, key=lambda entry: not entry["usable"])


def _preset(preset: Preset) -> dict[str, Any]:
    usable, reason, download_mb = preset.status()
    return {
        "name": preset.name,
        "title": preset.title,
        "usable": usable,
        "reason": reason,
        "needs_download": download_mb > 0,
        "download_mb": download_mb,
        "default_stack": preset.stack("cuda" if has_cuda() else "cpu"),
        "stacks": [asdict(example) for example in preset.stacks],
        "levels": _levels(preset),
        "devices": _devices(),
    }


def _levels(preset: Preset) -> list[dict[str, Any]]:
    if preset.toy:
        return [_level("table", f"character table, {order}", 4, params={"id": order}) for order in ORDERS]
    gpu = has_cuda()
    shipped = {"c": True, "m": preset.model_db is not None, "s": preset.text_db is not None}
    return [
        {
            **_level(
                "ngram", "n-gram lookup", preset.blocks.get("ngram", 2), can_verify=False,
                params={"db": "".join(letter for letter in preset.databases if shipped[letter])},
            ),
            "drafts": _nanos(preset),
        },
        _nano(preset),
        _exit(preset),
        *(_level(name, f"{name} copy", preset.blocks.get(name, 8)) for name in QUANTISED),
        _level(
            "model", preset.draft.title if preset.draft else "a smaller model", preset.blocks.get("model", 4),
            reason="" if preset.draft else "this preset has no smaller model of the target's family",
        ),
        _level("target", preset.target.title + (" on the accelerator" if gpu else ""), None),
    ]  # fmt: skip


def _level(
    name: str, label: str, block: int | None, *, reason: str = "", can_verify: bool = True,
    params: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "name": name,
        "kind": name,
        "letter": LETTERS[name],
        "label": label,
        "can_draft": True,
        "can_verify": can_verify,
        "default_block": block,
        "usable": not reason,
        "reason": reason,
        "params": params or {},
    }


def _nanos(preset: Preset) -> list[dict[str, Any]]:
    """The trained drafts that read the embeddings."""
    return [
        {"name": draft.name, "title": "fed by the target" if draft.fed else "embeddings alone", "fed": draft.fed}
        for draft in shipped(preset.name)
        if not draft.at
    ]


def _read_outs(preset: Preset) -> list[dict[str, Any]]:
    """The trained drafts behind exits, with the layer `at` that each reads."""
    return [
        {
            "name": draft.name, "title": "trained, fed by the target" if draft.fed else "trained, this layer alone",
            "fed": draft.fed, "at": draft.at,
        }
        for draft in shipped(preset.name)
        if draft.at
    ]  # fmt: skip


def _nano(preset: Preset) -> dict[str, Any]:
    drafts = _nanos(preset)
    level = _level(
        "nano", "nano draft", preset.blocks.get("nano", 3), params={"id": drafts[0]["name"]} if drafts else {},
        reason="" if drafts else "no nano draft was trained for this preset's target",
    )  # fmt: skip
    return {**level, "drafts": drafts}


def _exit(preset: Preset) -> dict[str, Any]:
    trained = sorted({draft.at for draft in shipped(preset.name) if draft.at})
    at = trained[0] if trained else max(1, preset.layers // 4)
    level = _level("exit", "early exit", preset.blocks.get("exit", 2), params={"at": at})
    depth = {"min": 1, "max": preset.layers - 1, "default": at, "trained": trained}
    return {**level, "depth": depth, "drafts": _read_outs(preset)}


def _devices() -> list[dict[str, Any]]:
    found = has_cuda()
    return [
        {"name": "cpu", "usable": True, "reason": ""},
        {"name": "cuda", "usable": found, "reason": "" if found else "no CUDA device was found"},
    ]
