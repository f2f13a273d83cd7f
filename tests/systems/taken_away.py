"""What still works in a copy of the program from which systems were taken away. Run as a program: each line of its
input is the folder of a copy and their names, joined by "+", each line of its output the list of what does not work.

The libraries are imported once; every copy is looked at in a process that is forked from this one.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

OPTIONAL = ("hsd_core", "app")  # whatever else cannot be imported is a library that is not installed here


def modules(tree: Path) -> Iterator[ModuleType]:
    """Every module of the program."""
    for package in OPTIONAL:
        for path in sorted((tree / package).rglob("*.py")):
            name = ".".join(path.relative_to(tree).with_suffix("").parts).removesuffix(".__init__")
            if path.name == "__main__.py":
                continue
            try:
                yield importlib.import_module(name)
            except ModuleNotFoundError as error:
                if (error.name or "").split(".")[0] in OPTIONAL:
                    raise
                yield ModuleType(name)


def check_imports(tree: Path, gone: str) -> None:
    """Every module is imported, from this copy."""
    assert len(list(modules(tree))) > 300
    core = sys.modules["hsd_core"]
    assert Path(core.__file__ or "").is_relative_to(tree), core.__file__
    away = tuple(f"hsd_core.systems.{one}" for one in gone.split("+"))
    assert not [name for name in sys.modules if name.startswith(away)]


def check_catalogue(tree: Path, gone: str) -> None:
    """All that the page and the terminal list."""
    from hsd_core.cli import main as command
    from hsd_core.grammar import keys, kinds
    from hsd_core.stacks.presets import catalogue

    json.dumps([kind.as_dict(keys()) for kind in kinds().values()])
    assert [entry["name"] for entry in catalogue()]
    with contextlib.suppress(SystemExit):
        command(["--help"])


def check_toys(tree: Path, gone: str) -> None:
    """A run of every level that needs no weights, with every rule, policy and scheduler that such a stack takes."""
    from hsd_core.grammar import StackError, kinds, policies, rules, schedulers
    from hsd_core.pipeline import Pipeline
    from hsd_core.stacks.presets import PRESETS
    from hsd_core.trace.checks import check

    if "table" not in kinds():
        return  # then the preset without weights has no model
    low, top = "table:2@id=order1", "table@id=order6"
    stacks = [f"{kind.name}:2@id=order1,{top}" for kind in kinds().values() if kind.suits(PRESETS["toy"])]
    stacks += [f"{low}@policy={name},{top}" for name in policies()] + [f"{low},{top}@rule={name}" for name in rules()]
    stacks += [f"{low},{top}@with={name}" for name in schedulers()]
    played = 0
    for stack in stacks:
        try:
            pipeline = Pipeline.open("toy", stack=stack)
            events = list(pipeline.run(stack, "the cat and the cat", max_new_tokens=6))
        except StackError:
            continue  # a policy of another kind's
        check(events)
        played += 1
    assert played > 8, f"{played} of {len(stacks)} stacks"


def check_page(tree: Path, gone: str) -> None:
    """The page is built, and its routes."""
    from app import page
    from hsd_core.pipeline import Pipeline

    assert page.build(Pipeline).blocks
    assert page.launch_options()["app_kwargs"]


def check_recordings(tree: Path, gone: str) -> None:
    """Every shipped recording (of several systems' one in four) is shown; one of the missing system says which level is
    not known."""
    from app.kit.static import ASSETS
    from app.tabs.explore.recordings import Recordings, recorded
    from hsd_core.grammar import StackError, kinds
    from hsd_core.grammar.stack_text import parse
    from hsd_core.trace.file import read

    assert ASSETS.is_relative_to(tree)
    recordings = Recordings(ASSETS / "traces")
    for path in sorted((ASSETS / "traces").glob("*.jsonl.gz"))[:: 4 if "+" in gone else 1]:
        events = read(path)
        recorded(path.name, events)
        header: Any = events[0]
        unknown = [level.kind for level in header.levels if level.kind not in kinds()]
        told = ""
        try:
            parse(header.stack)
        except StackError as error:
            told = str(error)
        assert told or not unknown
        assert not told or "unknown level" in told or "use one of" in told or "keys are" in told, told
    assert all(not one["reason"] for one in recordings.menu())


def check_atlas(tree: Path, gone: str) -> None:
    """The cards that name a level of the missing system are passed over with the reason, the others are read."""
    from app.kit.static import ASSETS
    from app.tabs.atlas.systems import Systems

    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("app.tabs.atlas.systems").addHandler(handler)
    found, files = Systems(ASSETS / "systems").found, len(list((ASSETS / "systems").glob("*.json")))
    over = [text for text in told if "is passed over" in text]
    assert len(found) + len(over) == files, told
    assert len(found) > 20 or gone == "model", told  # whose target every card names


CHECKS: tuple[Callable[[Path, str], None], ...] = (
    check_imports,
    check_catalogue,
    check_toys,
    check_page,
    check_recordings,
    check_atlas,
)


def looked_at(tree: Path, gone: str) -> list[str]:
    """What does not work in a copy."""
    sys.path.insert(0, str(tree))
    os.chdir(tree)
    failures = []
    for one in CHECKS:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                one(tree, gone)
        except BaseException:
            failures.append(f"{one.__name__}: {traceback.format_exc(limit=-4)[-1500:]}")
    return failures


def main() -> None:
    for library in ("torch", "gradio", "numpy", "plotly", "msgspec", "tokenizers", "safetensors", "onnxruntime"):
        try:
            importlib.import_module(library)
        except ModuleNotFoundError:
            continue
    assert not [name for name in sys.modules if name.split(".")[0] in OPTIONAL]
    for line in sys.stdin:
        tree, gone = line.split()
        read, write = os.pipe()
        if not (child := os.fork()):
            with os.fdopen(write, "w") as out:
                json.dump(looked_at(Path(tree), gone), out)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as found:
            print(json.dumps(found.read()), flush=True)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
