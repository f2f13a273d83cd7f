"""The systems of the Atlas: data files, in the order of their names. Adding one is enough; `assets/systems/README.md`
says how.

A file says what a system is and what its paper claims. Our own figure is not in it: it names where that stands. What it
says of exactness has to be what the engine says of its stack.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.grammar import kinds
from hsd_core.grammar.stack_text import StackError, parse, stack_lossless
from hsd_core.measure.tables import OnClock
from hsd_core.models.sampling import Sampling
from hsd_core.stacks.presets import PRESETS
from hsd_core.typed import Wrong, builtins, convert, plain

LARGEST = 8_000  # bytes of a file
MOST = 200  # systems
DIFFUSION = "diffusion"  # a sign of drawings that is no kind of level here
log = logging.getLogger(__name__)

Short = Annotated[str, Meta(min_length=1, max_length=120)]
Text = Annotated[str, Meta(min_length=1, max_length=240)]
Name = Annotated[str, Meta(pattern=r"^[\w-]{1,80}$")]
Folder = Annotated[str, Meta(pattern=r"^[\w-]{1,80}(/[\w-]{1,80})?$")]
Stack = Annotated[str, Meta(min_length=1, max_length=400)]
Drafters = Literal["lookups", "exits", "heads", "models", "diffusion"]  # as in text/en/atlas.js
Judges = Literal["one by one", "block", "tree", "several levels", "in parallel", "loosely"]

# A drawing, from the ground up: floors, and between two of them what the lower one hands up.
_COUNTED = re.compile(r"([a-z]+)[2-4]")
_HAND = re.compile(r"(chain|block|cells) [1-6]|tree [1-4](\.[1-4]){0,3}|comb [2-4]\.[1-4]")
_LANES = ("step", "free")
_RATIO = re.compile(r"×|\b(of|than)$|\b(faster|slower|more|fewer)\b")  # how much more: than what?


class Reported(Struct, forbid_unknown_fields=True):
    """A figure of a paper: a ratio `over` what, `of` which texts or models, `up_to` if it is the largest."""

    says: Short
    over: Short | None = None
    of: Short | None = None
    up_to: bool = False


class Headline(Struct, forbid_unknown_fields=True):
    """What the paper is known for, and on what it was measured; null where that was not found."""

    figures: Annotated[list[Reported], Meta(min_length=1, max_length=3)]
    on: Short | None


class Measured(Struct, forbid_unknown_fields=True):
    """A row of a shipped benchmark: its folder and its stack, with the clock that its table names."""

    results: Folder
    stack: Stack


class System(Struct, forbid_unknown_fields=True):
    """
    Attributes:
        also: other names that people look for. paper: its arXiv number, or null. year: of its first version.
        who_drafts: its row on the map. how_judged: its column.
        idea: one plain sentence.
        exact: whether its output follows the target's distribution; null where it depends, or nobody knows. why: and
            why.
        stack: the stack that is it here, null where it is not built. preset: the one that it opens in.
        recording: a run of it in `assets/traces`, or null.
        measured: where our figures stand; the first is of the card's own stack.
        here: what of it is here, where that needs a sentence.
        headline: what the paper reports; null where no figure is known.
        pays, loses: where it pays, and where it loses.
        draws: what `page.py` of a folder of hsd_core/systems reads for its card, by the folder's name: for `skip`, a
            ladder of `python -m hsd_core sets` in `assets/drafts`.
        near: what it shares with others, by their files' names.
        shape: its drawing, from the ground up: levels, and between two of them what the lower one hands up, as
            `ngram > chain 3 > int8 > chain 6 > target`. A level is a kind of the grammar (`exit`s, and a `target`
            below the target, are drawn inside the target's body; `ngram3` is three databases) or `diffusion`.
    """

    name: Annotated[str, Meta(min_length=1, max_length=40)]
    paper: Annotated[str, Meta(pattern=r"^\d{4}\.\d{5}$")] | None
    year: Annotated[int, Meta(ge=1990, le=2100)]
    who_drafts: Drafters
    how_judged: Judges
    idea: Text
    exact: bool | None
    why: Text
    stack: Stack | None
    recording: Name | None
    headline: Headline | None
    pays: Text
    loses: Text
    near: Annotated[dict[Name, Short], Meta(min_length=1, max_length=5)]
    shape: Annotated[str, Meta(min_length=1, max_length=160)]
    preset: str = "smollm2"
    measured: Annotated[list[Measured], Meta(max_length=3)] = []
    here: Annotated[str, Meta(max_length=200)] = ""
    draws: Annotated[dict[Name, Name], Meta(max_length=3)] = {}
    also: Annotated[list[Short], Meta(max_length=5)] = []


class Systems:
    """The systems of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.found: dict[str, System] = {}
        for path in sorted(folder.glob("*.json"))[:MOST]:
            try:
                self.found[path.stem] = read(path)
            except (ValueError, OSError) as error:
                log.warning("the system %s is passed over: %s", path.name, error)
        for name, one in self.found.items():
            for other in sorted(one.near.keys() - self.found.keys()):
                log.warning("the system %s.json: near.%s: there is no such system; it is left out", name, other)
                del one.near[other]

    def listing(self) -> list[dict[str, Any]]:
        """Each as the page is told of it, with its `id`."""
        return [{"id": name, **builtins(one)} for name, one in self.found.items()]


def read(path: Path) -> System:
    """A system out of its file.

    Raises:
        ValueError: it is none; the message names the field and what is wrong with it. OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"it has {size} bytes; at most {LARGEST} are expected")
    system = convert(plain(path.read_bytes()), System)
    _check_headline(system.headline)
    _check_shape(system.shape)
    _check_stack(system)
    return system


def _check_headline(headline: Headline | None) -> None:
    """No ratio without what it is over, and "up to" only as a field."""
    for i, one in enumerate(headline.figures if headline else ()):
        if (one.over is None) == bool(_RATIO.search(one.says)):
            raise Wrong(f"{one.says!r} is a ratio if it has something to be `over`", f"headline.figures.{i}.over")
        if "up to" in one.says:
            raise Wrong(f'{one.says!r}: say "up to" by `up_to`', f"headline.figures.{i}.says")


def _check_stack(system: System) -> None:
    """What is said of the stack is what the engine says of it; without one there is nothing of ours to show."""
    if system.preset not in PRESETS:
        raise Wrong(f"unknown preset {system.preset!r}; presets are {', '.join(PRESETS)}", "preset")
    if system.stack is None:
        for field in ("recording", "measured"):
            if getattr(system, field):
                raise Wrong("a system without a stack is not built here, so nothing of it was recorded", field)
        return
    for field, text in (("stack", system.stack), *(("measured.stack", one.stack) for one in system.measured)):
        try:
            specs = parse(OnClock.read(text).stack)
        except StackError as error:
            raise Wrong(str(error), field) from None
        if field != "stack":
            continue
        exact = stack_lossless(specs, Sampling(1.0))
        if system.exact is not exact.holds:
            said = (
                f"the engine says {str(exact.holds).lower()} of its stack ({exact.reason}); say so, or mend the stack"
            )
            raise Wrong(said, "exact")


def _check_shape(shape: str) -> None:
    """A drawing has signs that the page can draw."""
    drawn, bar, lanes = shape.partition(" | lanes ")
    if bar and lanes not in _LANES:
        raise Wrong(f"unknown lanes {lanes!r}; use one of {', '.join(_LANES)}", "shape")
    signs = {*kinds(), DIFFUSION}
    for i, part in enumerate(drawn.split(" > ")):
        if _HAND.fullmatch(part):
            continue
        floor = None if part in signs else _COUNTED.fullmatch(part)
        if not set([floor[1]] if floor else part.split("+")) <= signs:
            raise Wrong(f"part {i + 1}, {part!r}, is neither a level ({', '.join(sorted(signs))}) nor a block", "shape")
    if _HAND.fullmatch(drawn.split(" > ")[-1]):
        raise Wrong("a drawing ends with the level that decides", "shape")
