"""Writing safetensors one tensor at a time, so that converting never holds a whole model in memory.

The format: 8 bytes of header length, a JSON header {name: {dtype, shape, data_offsets}}, then the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

DTYPES = {"float32": ("F32", 4), "float16": ("F16", 2)}


@dataclass(frozen=True, slots=True)
class Blob:
    """A tensor to be written: its name, shape, dtype, and how to get its values when its turn comes."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    values: Callable[[], Any]  # -> numpy array of that many elements

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPES[self.dtype][1]


def write_safetensors(path: Path, blobs: Sequence[Blob], progress: Callable[[float, float], None]) -> None:
    """Write `blobs` in order; `progress(bytes done, bytes in all)` after each."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for blob in blobs:
        header[blob.name] = {
            "dtype": DTYPES[blob.dtype][0],
            "shape": list(blob.shape),
            "data_offsets": [at, at + blob.bytes],
        }
        at += blob.bytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data starts aligned
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        done = 0
        for blob in blobs:
            data = blob.values().astype(f"<{'f4' if blob.dtype == 'float32' else 'f2'}", copy=False).tobytes()
            if len(data) != blob.bytes:
                raise ValueError(f"{blob.name}: {len(data)} bytes where its shape says {blob.bytes}")
            file.write(data)
            done += blob.bytes
            progress(done, at)
