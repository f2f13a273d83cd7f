"""The one error of this package, and what its files are read by."""

from __future__ import annotations

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
