"""`page`: serves the page, as `python app.py` does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hsd_core.typed.program_files import ROOT


def called_as() -> str:
    """What the command line is called: by the script that an installed package has, or as a module."""
    return "hsd" if Path(sys.argv[0]).stem == "hsd" else "python -m hsd_core"


def add(commands: Any) -> None:
    """For `--help` alone: `main` hands the options of `page` on unread."""
    commands.add_parser("page", help="open the page in a browser; `page --help` has its options")


def open_page(arguments: Sequence[str]) -> int:
    """Serve the page with these options of app.py until it is interrupted; the exit code."""
    sys.path.insert(0, str(ROOT))
    sys.argv = [f"{called_as()} page", *arguments]
    spec = spec_from_file_location("app_py", ROOT / "app.py")  # the name app is the package's
    assert spec and spec.loader
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    program.open_page()
    return 0
