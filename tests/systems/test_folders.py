"""Every system is a folder that explains itself: what it declares, and a README that is read in a minute."""

from __future__ import annotations

from pathlib import Path

import pytest

import hsd_core

SYSTEMS = sorted(p for p in (Path(hsd_core.__file__).parent / "systems").iterdir() if p.is_dir() and p.name[0] != "_")


@pytest.mark.parametrize("folder", SYSTEMS, ids=lambda folder: folder.name)
def test_a_system_declares_itself_and_says_what_is_exact(folder: Path) -> None:
    assert (folder / "declaration.py").is_file()
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# ") and ("Exact" in text or folder.name == "table")
