"""Trained drafts on the page: the sweeps in assets/results/*/sweep.jsonl, as `train --sweep` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hsd_core.measure.rawfile import read_raw
from hsd_core.systems.nano.train.scaling import sweep_study
from hsd_core.typed import convert

STUDY, FILES = "scaling", "*/sweep.jsonl"  # in the folder of results
LARGEST = 1_000_000  # bytes of a file; one of eight trainings judged by 134 texts has 0.1 MB
TRAININGS = 50  # of a sweep

Share = Annotated[float, Meta(gt=0.0, le=1.0)]
Count = Annotated[int, Meta(ge=0, lt=2**40)]
Some = Annotated[int, Meta(ge=1, lt=2**40)]
Amount = Annotated[float, Meta(ge=0.0, lt=1e12)]
Time = Annotated[float, Meta(gt=0.0, lt=1e9)]
Text = Annotated[str, Meta(max_length=1000)]
Judges = Literal["held_out", "other"]
Row = tuple[Some, Count, Amount, Count, Count, Some]  # see `law.COUNTS`
Rows = Annotated[list[Row], Meta(min_length=1, max_length=10_000)]


class SweptDraft(Struct):
    name: Text
    at: Annotated[float, Meta(ge=0.0, lt=1.0)]
    fed: bool
    layers: Some
    depth: Count


class SweptPlan(Struct):
    rows: Some
    seed: int
    batch: Some


class AboutSweep(Struct):
    kind: Literal["sweep"]
    recorded: Text
    command: Text
    preset: Text
    machine: Text
    device: Text
    draft: SweptDraft
    epochs: Some
    hyperparameters: SweptPlan
    texts: Some
    tokens: Some
    judges: Annotated[list[Judges], Meta(min_length=1)]


class JudgedTraining(Struct):
    what: Literal["training"]
    share: Share
    layers: Some
    asked_rows: Some
    rows: Some
    texts: Some
    tokens: Some
    seconds: Amount
    core_seconds: Time
    steps: Some
    weights: Some
    weight_share: Share
    judged: dict[Judges, dict[Literal["gate", "own"], Rows]]


def study(path: Path) -> dict[str, Any]:
    """`{"about"}` of a file, with the results of `sweep_study.figures`.

    Raises:
        ValueError: it is no sweep of trainings.
    """
    about, records = read_raw(path)
    convert(about, AboutSweep)
    convert(records, list[JudgedTraining])
    _check(about, records)
    return {"about": about, **sweep_study.figures(about, records)}


def _check(about: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """
    Raises:
        ValueError: there are none, or one was not judged by all texts, both with copies and without.
    """
    if not 1 <= len(records) <= TRAININGS:
        raise ValueError(f"it has {len(records)} trainings; 1 to {TRAININGS} are expected")
    sizes = [
        {(texts, gate): len(rows) for texts, of in one["judged"].items() for gate, rows in of.items()}
        for one in records
    ]
    wanted = {(texts, gate) for texts in about["judges"] for gate in ("gate", "own")}
    if any(size != sizes[0] for size in sizes) or sizes[0].keys() != wanted:
        raise ValueError(f"its trainings were not all judged by the same texts ({', '.join(about['judges'])})")
    if any(sizes[0][texts, "gate"] != sizes[0][texts, "own"] for texts in about["judges"]):
        raise ValueError("a text has counts with copies or without them alone")
