"""Models and databases in a folder of the operator, which visitors may name. Imports no torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hsd_core.models.weights.hub import lacks_shard
from hsd_core.models.weights.source import Source, saved_again

_PART = re.compile(r"-\d{5}-of-(?!00001)\d{5}\.gguf$")  # as llama.cpp calls them


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model by the name of its folder or GGUF file. `reason`: why it cannot be used, "" if it can."""

    name: str
    path: Path
    reason: str = ""


def local_models(folder: Path, tokenizer: bool = True) -> list[LocalModel]:
    """The models directly in a folder, by name, without links that lead out of it. tokenizer: whether they need one.

    Raises:
        OSError: there is no such folder.
    """
    root = folder.resolve(strict=True)
    inside = [path for path in sorted(root.iterdir()) if path.resolve().is_relative_to(root)]
    named = [path for path in inside if _plain(path.name) and (path.is_dir() or path.suffix == ".gguf")]
    return [LocalModel(path.name, path, missing_part(path, tokenizer)) for path in named]


def local_source(name: str, folder: Path | None, tokenizer: bool = True) -> Source | None:
    """The weights of that name in the folder, or None. tokenizer: whether they need one."""
    models = local_models(folder, tokenizer) if folder else []
    found = next((m for m in models if m.name == name and not m.reason), None)
    return Source.parse(str(found.path)) if found else None


def local_files(folder: Path, suffix: str) -> list[str]:
    """The names of the files with a suffix (".npz") directly in a folder, if a stack can name them."""
    root = folder.resolve(strict=True)
    named = [path for path in sorted(root.glob(f"*{suffix}")) if path.is_file() and path.resolve().is_relative_to(root)]
    return [path.name for path in named if _plain(path.name) and "+" not in path.name]


def local_file(name: str, folder: Path | None) -> Path | None:
    """The file of that name in the folder, or None."""
    return folder / name if folder and name in local_files(folder, Path(name).suffix) else None


def _plain(name: str) -> bool:
    """Whether a stack can name it: signs of the grammar would end the name."""
    return not name.startswith(".") and not set(name) & set("@,=:") and name == name.strip() and name.isprintable()


def missing_part(path: Path, tokenizer: bool = True) -> str:
    """What a model's folder lacks to be opened, "" if nothing; a file lacks something only if its name is that of a
    part."""
    if path.is_file():
        return (
            "one part of a split model; llama-gguf-split --merge makes one file of all"
            if _PART.search(path.name)
            else ""
        )
    if not (path / "config.json").is_file():
        return "no config.json lies in this folder"
    if lost := lacks_shard(path):
        there = any(path.glob("*.safetensors*"))
        return f"{lost} does not lie in this folder" if there else "no safetensors lie in this folder"
    if not tokenizer or (path / "tokenizer.json").is_file():
        return ""
    return f"no tokenizer.json lies in this folder; {saved_again(path.name, 'T')}"
