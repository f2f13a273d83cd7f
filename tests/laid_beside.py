"""A system of the tests, laid beside the package's own: `systems/example/echo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.kit import system_pages
from hsd_core import systems
from hsd_core.core import notes
from hsd_core.grammar import registry

EXAMPLE = Path(__file__).parent / "systems" / "example"


@contextmanager
def laid_beside(*folders: Path, names: tuple[str, ...] = ("echo",)) -> Iterator[None]:
    """While it lasts, the systems of the example and of these folders are there; afterwards none of `names` is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "__path__", [*systems.__path__, str(EXAMPLE), *map(str, folders)])
        system_pages._pages.cache_clear()
        yield
    for name in names:
        for module in [module for module in sys.modules if f"{module}.".startswith(f"hsd_core.systems.{name}.")]:
            del sys.modules[module]
        vars(systems).pop(name, None)
    registry._registry.cache_clear()  # they hold what those modules declared
    notes._declared.cache_clear()
    system_pages._pages.cache_clear()
