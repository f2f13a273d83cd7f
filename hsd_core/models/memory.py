"""What weights take in memory once they are open, what is free, and what this process took. Imports no torch."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from math import inf, prod
from pathlib import Path
from types import MappingProxyType

GROUP = 32  # weights that share a scale
# Bytes of a weight in the layouts of the kernels: its own, and its part of the scales, zero points and offsets.
BYTES: Mapping[str, float] = MappingProxyType(
    {"float32": 4.0, "bfloat16": 2.0, "int8": 1 + 4 / GROUP, "int4": 0.5 + (4 + 0.5 + 4) / GROUP}
)
PART_BYTES = 2**30  # of weights that are laid out at once: while they are, they lie there twice
_STORED: Mapping[str, int] = MappingProxyType({"F32": 4, "F16": 2, "BF16": 2})
_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"
_GROUP = Path("/sys/fs/cgroup")  # where Linux says what a container may have


def needed(files: list[Path], dtype: str, *, tied: bool) -> float:
    """Bytes that opening these safetensors files as `dtype` takes at most; reads their headers alone.

    Embeddings are kept as they are stored and the head apart from them: in float32 or, beside quantised layers, in
    8 bits.
    """
    layers = embedding = head = 0.0
    for path in files:
        for name, about in _header(path).items():
            count = float(prod(about["shape"]))
            if name == _EMBEDDING:
                embedding += count * _STORED.get(about["dtype"], 4)
            if name == (_EMBEDDING if tied else _HEAD):
                head += count * BYTES["int8" if dtype.startswith("int") else dtype]
            elif name != _EMBEDDING:
                layers += count * BYTES[dtype]
    return layers + embedding + head + max(head, min(PART_BYTES, layers))


def _header(path: Path) -> dict[str, dict[str, object]]:
    with path.open("rb") as file:
        found = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: about for name, about in found.items() if name != "__metadata__"}


def free(system: Path = Path("/proc/meminfo"), group: Path = _GROUP) -> float:
    """Bytes that this process may still take; infinite where the system does not say."""
    left = inf
    with suppress(OSError, ValueError, KeyError):
        left = 1024.0 * _figures(system)["MemAvailable:"]
    with suppress(OSError, ValueError, KeyError):
        limit, used = (float((group / name).read_text()) for name in ("memory.max", "memory.current"))
        files = _figures(group / "memory.stat")["inactive_file"]  # which are let go for it
        left = min(left, max(0.0, limit - used + files))
    return left


def _figures(path: Path) -> dict[str, float]:
    """name -> number, of a file with one of each a line."""
    lines = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {line[0]: float(line[1]) for line in lines if len(line) > 1}


def peak() -> float | None:
    """Bytes that this process has held at most; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)


def shortage(need: float, left: float | None = None) -> str | None:
    """Why so many bytes cannot be taken, in words; None where they can."""
    left = free() if left is None else left
    return None if need <= left else f"takes {_gb(need)} of memory, and {_gb(left)} are free"


def _gb(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 5e7 else f"{count / 1e6:.1f} MB"
