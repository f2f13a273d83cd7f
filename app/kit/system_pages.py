"""What systems read for the page: `page.py` of each folder of `hsd_core/systems` that has one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from hsd_core import systems


@cache
def _pages() -> dict[str, ModuleType]:
    found = sorted(path for folder in systems.__path__ for path in Path(folder).glob("*/page.py"))
    return {path.parent.name: import_module(f"{systems.__name__}.{path.parent.name}.page") for path in found}


def system_pages(has: str) -> dict[str, ModuleType]:
    """By the names of their folders, those that have a function of this name."""
    return {name: page for name, page in _pages().items() if hasattr(page, has)}
