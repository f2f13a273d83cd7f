"""Where the program's own files lie: in the repository, or in `hsd_explorer/` beside an installed hsd_core."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[1]  # hsd_core
_INSTALLED = PACKAGE.parent / "hsd_explorer"
ROOT = _INSTALLED if _INSTALLED.is_dir() else PACKAGE.parent  # of app.py, app, assets
ASSETS = ROOT / "assets"


def page_module(name: str) -> ModuleType:
    """The module `app.NAME`, which hsd_core does not depend on: imported only when a command needs the page."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return import_module(f"app.{name}")
