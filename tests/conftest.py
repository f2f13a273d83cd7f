"""Shared by all tests: the checkout on the path, and few threads (the toys are far too small for more)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE.parent, HERE):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def pytest_configure() -> None:
    try:
        import torch
    except ImportError:  # tests of the page run without it
        return
    torch.set_num_threads(1)
