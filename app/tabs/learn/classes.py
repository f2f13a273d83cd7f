"""Classes: paths through the lessons for a room; files in `assets/lessons/classes`, checked when the server starts.

A class is parts with their minutes: which steps of which lesson are shown, what to say, what a room asks, its answer,
what to ask the room, what to do.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from msgspec import Meta, Struct

from app.kit.languages import overlaid
from app.tabs.learn.lessons import NOWHERE
from hsd_core.typed import Wrong, builtins, convert, plain

LARGEST = 60_000  # bytes of a class
MOST = 20  # classes
log = logging.getLogger(__name__)

Short = Annotated[str, Meta(min_length=1, max_length=160)]
Text = Annotated[str, Meta(min_length=1, max_length=600)]
Address = Annotated[str, Meta(pattern=r"^[\w=&:,@.%+-]{0,300}$")]


class Asked(Struct, forbid_unknown_fields=True):
    """A question that a room asks, and its answer."""

    ask: Short
    answer: Text


class Task(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Something to do on this page. `open`: the address that begins it; `outcome`: what they find, for the notes."""

    text: Text
    outcome: Text
    open: Address = ""


class Part(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`lesson`: a lesson's file without its ending, with the `steps` of it that are shown, counted from 1; `open`: the
    address of another tab, shown after them."""

    title: Short
    minutes: Annotated[int, Meta(ge=1, le=60)]
    say: Annotated[list[Text], Meta(min_length=1, max_length=6)]
    lesson: Annotated[str, Meta(pattern=r"^[\w-]{0,80}$")] = ""
    steps: Annotated[list[Annotated[int, Meta(ge=1, le=12)]], Meta(max_length=12)] = []
    open: Address = ""
    asked: Annotated[list[Asked], Meta(max_length=6)] = []
    discuss: Annotated[list[Text], Meta(max_length=4)] = []
    tasks: Annotated[list[Task], Meta(max_length=4)] = []


class ClassPlan(Struct, forbid_unknown_fields=True, omit_defaults=True):
    title: Short
    goal: Annotated[str, Meta(min_length=1, max_length=300)]
    minutes: Annotated[int, Meta(ge=5, le=240)]
    parts: Annotated[list[Part], Meta(min_length=1, max_length=24)]
    before: Annotated[list[Text], Meta(max_length=6)] = []


class Classes:
    """The classes of a folder, read once; shortest first."""

    def __init__(self, folder: Path, lessons: Mapping[str, int], texts: Path = NOWHERE) -> None:
        """lessons: how many steps each lesson has, by its id. texts: as for `Lessons`, in its folder `classes`."""
        found = []
        for path in sorted(folder.glob("*.json"))[:MOST]:
            try:
                found.append({"id": path.stem, **builtins(read(path, lessons, texts / "classes" / path.name))})
            except (ValueError, OSError) as error:
                log.warning("the class %s is passed over: %s", path.name, error)
        self.found: list[dict[str, Any]] = sorted(found, key=lambda one: one["minutes"])


def read(path: Path, lessons: Mapping[str, int], texts: Path = NOWHERE) -> ClassPlan:
    """A class out of its file.

    Raises:
        ValueError: it is none; the message names the field and what is wrong with it. OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"it has {size} bytes; at most {LARGEST} are expected")
    plan = convert(overlaid(plain(path.read_bytes()), texts), ClassPlan)
    if (total := sum(part.minutes for part in plan.parts)) != plan.minutes:
        raise Wrong(f"its parts take {total} minutes, not {plan.minutes}", "minutes")
    for i, part in enumerate(plan.parts):
        where = f"parts[{i}]"
        if bool(part.lesson) != bool(part.steps):
            raise Wrong("a lesson and its steps come together", where)
        if not (part.steps or part.open or part.tasks or part.discuss):
            raise Wrong("nothing is shown: give steps, an address, a task or a question", where)
        if part.open and "tab" not in parse_qs(part.open):
            raise Wrong("expected the address of a tab, such as tab=race", f"{where}.open")
        if part.lesson and part.lesson not in lessons:
            raise Wrong(f"there is no lesson {part.lesson!r}", f"{where}.lesson")
        if part.lesson and max(part.steps) > lessons[part.lesson]:
            raise Wrong(f"{part.lesson} has {lessons[part.lesson]} steps", f"{where}.steps")
    return plan
