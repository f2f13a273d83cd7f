"""What drafts remember of a text, on the page: the studies in assets/results/*/memory.jsonl, as `depth --memory` writes
them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.measure.rawfile import read_raw
from hsd_core.typed import convert

STUDY, FILES = "memory", "*/memory.jsonl"  # in the folder of results
LARGEST = 100_000  # bytes of a file; one of two drafts at four lengths has 2 kB

Count = Annotated[int, Meta(ge=1, lt=2**40)]
Time = Annotated[float, Meta(gt=0.0, lt=1e9)]
Text = Annotated[str, Meta(max_length=1000)]


class AboutMemory(Struct):
    kind: Literal["memory"]
    recorded: Text
    command: Text
    preset: Text
    machine: Text


class Kept(Struct):
    """What a draft keeps of a text, and what its next token takes."""

    what: Literal["cost"]
    draft: Text
    length: Count
    bytes: Count
    ms: Time
    interval: tuple[Time, Time]


class MemoryStudy(Struct):
    about: AboutMemory
    records: Annotated[list[Kept], Meta(min_length=1, max_length=400)]


def study(path: Path) -> dict[str, Any]:
    """`{"about", "records"}` of a file.

    Raises:
        ValueError: it is no such study.
    """
    about, records = read_raw(path)
    found = {"about": about, "records": records}
    convert(found, MemoryStudy)
    return found
