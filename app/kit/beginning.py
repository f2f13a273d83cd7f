"""How the page's process begins: quickly, with a heap that stays small. Called before anything large is imported."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_INTERFACES = "gradio.component_meta"  # the module that writes them
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # M_ARENA_MAX and M_MMAP_THRESHOLD of glibc's malloc.h
_ARENAS = 2  # heaps for all threads
_LARGE = 128 * 1024  # bytes, from which what is allocated goes back to the system when it is freed
_OFTEN = gc.get_threshold()
_SELDOM = (10_000, 20, 50)  # new objects before a search for garbage, and searches before a wider one


def begin() -> None:
    """Let what follows import and allocate as a server needs it, until `begun`.

    - Few searches for garbage while modules are loaded, which make little: a sixth of the time.
    - Gradio writes interface files for editors whenever it is imported, a third of the time that this takes: left out.
    - Every thread may have a heap of its own in glibc, and what one has freed the others cannot use: two heaps for
      all of them do. What is large (payloads, files) goes back to the system, however much of it there was before.
      Together a quarter of the page's memory after some visitors.
    """
    gc.set_threshold(*_SELDOM)
    sys.meta_path.insert(0, _NoInterfaces())
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def begun() -> None:
    """What is there now stays: otherwise every search for garbage halts the page's answers for 0.1 s."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_OFTEN)


class _NoInterfaces:
    """Finds the module that writes interface files, once, and has it write none."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _INTERFACES:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)  # type: ignore[arg-type]  # as the import system gives it
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            module.create_or_modify_pyi = lambda *_: None  # type: ignore[attr-defined]

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
