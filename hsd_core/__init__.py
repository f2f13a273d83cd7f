"""Hierarchical speculative decoding: a stack of levels, each verifying what the one below it proposes.

`run` is the engine; everything else (page, charts, replay, benchmark) reads the events that it yields. `open_stack` is
for notebooks. Importing this package does not import torch.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.stack_text import StackError, format_stack, parse, stack_lossless
from hsd_core.models.sampling import Sampling

if TYPE_CHECKING:
    from hsd_core.notebook import open_stack
    from hsd_core.stacks.prepared import run

# Else onnxruntime, once imported, tells its makers of its use, and keeps a number of this device in the home folder.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
__all__ = ["Sampling", "StackError", "format_stack", "open_stack", "parse", "run", "stack_lossless"]


def __getattr__(name: str) -> Any:
    if name == "run":
        from hsd_core.stacks.prepared import run

        return run
    if name == "open_stack":
        from hsd_core.notebook import open_stack

        return open_stack
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
