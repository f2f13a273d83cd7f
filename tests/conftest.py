"""Shared by all tests. Few threads: the toys are far too small for more."""

from __future__ import annotations

import contextlib


def pytest_configure() -> None:
    with contextlib.suppress(ImportError):  # tests of the page run without torch
        import torch

        torch.set_num_threads(1)
