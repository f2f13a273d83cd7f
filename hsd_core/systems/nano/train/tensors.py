"""Opening the safetensors files of a work folder: one that is damaged says so, with the cure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open


@contextmanager
def opened(path: Path, cure: str) -> Iterator[Any]:
    """The file, open for its keys and tensors.

    Raises:
        ValueError: it is damaged; the message ends with `cure`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged ({error}); {cure}") from error
