"""How often a draft's first, second, ... token is the target's, given that those before it were right; or its first
token far into a text, along the last tokens before each of several lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.cli.options import counts, reads
from hsd_core.measure.intervals import Tally
from hsd_core.measure.tables import markdown, with_interval
from hsd_core.models.drafts.draft_file import read_info
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample
from hsd_core.systems.nano.train.evaluation import evaluate, prepare
from hsd_core.systems.nano.train.scaling.sweep_study import TABLES as TABLES
from hsd_core.systems.nano.train.scaling.sweep_study import figures as figures
from hsd_core.systems.nano.train.scaling.sweep_study import method as method
from hsd_core.systems.nano.train.students.student_file import student_of

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION, LENGTHS = "sweep", "places", True
ALONG = 192  # tokens judged before each length


def by_place(
    decoder: LeanDecoder,
    drafts: Sequence[Path],
    texts: Sequence[Sample],
    places: int,
    progress: Callable[[], None] = lambda: None,
) -> Tally:
    """Agreement and acceptance (1 - TV) by (draft, place, "agree" or "overlap"), place 0 the first token.

    Raises:
        DraftError: a file is no draft of this target.
    """
    students = {path.stem: student_of(path, decoder) for path in drafts}
    depths = {depth for student in students.values() for depth in student.shape.depths(decoder.layers)} - {0}
    tally = Tally(len(texts))
    for number, text in enumerate(texts):
        features = Features.of(text, decoder.states(text.ids, sorted({*depths, decoder.layers})))
        for name, student in students.items():
            batch = collate([features], decoder, student.shape, device=str(decoder.device))
            for place, score in enumerate(evaluate(student, [prepare(batch, decoder)], steps=places)):
                tally.add((name, place, "agree"), number, score.agreed, score.positions)
                tally.add((name, place, "overlap"), number, score.accepted, score.positions)
        progress()
    return tally


def places_table(tally: Tally, drafts: Sequence[Path], places: int) -> str:
    """A row per draft, by place; the first place with its interval. A draft that is not fed has only the first."""

    def cell(name: str, place: int, what: str) -> str:
        value = tally.ratio((name, place, what))
        if value is None:
            return ""
        interval = tally.interval((name, place, what)) if not place else None
        return with_interval(value, interval) if interval else f"{value:.3f}"

    rows = []
    for path in drafts:
        agree = [cell(path.stem, place, "agree") for place in range(places)]
        rows.append((path.stem, read_info(path).title, *agree, cell(path.stem, 0, "overlap")))
    head = ("draft", "what it is", *(f"token {place + 1}" for place in range(places)), "1 - TV, token 1")
    return markdown(head, rows)


def by_length(
    decoder: LeanDecoder,
    drafts: Sequence[Path],
    texts: Sequence[Sequence[int]],
    lengths: Sequence[int],
    progress: Callable[[], None] = lambda: None,
) -> dict[int, Tally]:
    """Length -> the tally of `by_place` of a draft's first token, over the texts that have this length.

    Raises:
        DraftError: a file is no draft of this target.
        ValueError: no text has one of the lengths.
    """
    found = {}
    for length in lengths:
        begin = max(1, length - ALONG)
        read = [Sample(tuple(ids[:length]), begin, "any", begin) for ids in texts if len(ids) >= length]
        if not read:
            longest = max(map(len, texts), default=0)
            raise ValueError(f"--lengths {length}: the longest text has {longest} tokens; give a longer one")
        found[length] = by_place(decoder, drafts, read, 1, progress)
    return found


def lengths_table(tallies: dict[int, Tally], drafts: Sequence[Path]) -> str:
    """A row per draft: agreement and 1 - TV at each length."""

    def cell(tally: Tally, name: str) -> str:
        agree, overlap = (tally.ratio((name, 0, what)) for what in ("agree", "overlap"))
        return "" if agree is None or overlap is None else f"{agree:.3f}, {overlap:.3f}"

    rows = [
        (path.stem, read_info(path).title, *(cell(tally, path.stem) for tally in tallies.values())) for path in drafts
    ]
    return markdown(("draft", "what it is", *(f"at {length:,}" for length in tallies)), rows)


def add(parser: argparse.ArgumentParser) -> None:
    counts(
        parser,
        "--places N",
        "instead: each draft's first to N-th token, where those before are right; --places 1 with --lengths: "
        "along the last tokens before the N-th of each prompt, not what is written after it",
    )
    reads(parser, "--drafts FILE", "with --places: drafts (default: those shipped)", nargs="+")


def check(options: argparse.Namespace) -> None:
    if options.lengths and options.places != 1:
        raise ValueError("--lengths says how far into a text drafts are read; add --places 1")


def act(subject: Subject) -> None:
    """Print the agreement of drafts by place, or by length."""
    from hsd_core.models.drafts.known_drafts import shipped

    options, preset = subject.options, subject.pipeline.preset.name
    drafts = [Path(file) for file in options.drafts or ()] or [draft.path for draft in shipped(preset)]
    if not drafts:
        raise ValueError(f"preset {preset} ships no trained drafts; name some with --drafts")
    if options.lengths:
        ids = [[*text.prompt_ids, *(text.output_ids or ())] for text in subject.texts]
        progress = subject.progress(each=len(options.lengths))
        tallies = by_length(subject.decoder, drafts, ids, options.lengths, progress)
        print(f"{subject.title(f'{len(ids)} texts')[:-1]}; agreement, 1 - TV\n")
        print(lengths_table(tallies, drafts))
        return
    read = []
    for text, kept in subject.written():
        start = len(text.prompt_ids)
        read.append(Sample((*text.prompt_ids, *kept), start, text.sort, start))
    tally = by_place(subject.decoder, drafts, read, options.places, subject.progress())
    print(subject.title(f"{len(read)} texts", f"{sum(len(text.ids) - text.start for text in read)} tokens"))
    print(places_table(tally, drafts, options.places))
