"""How often the first token of a draft is the target's own, and the second, each where those before it were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hsd_core.measure.results.sheet import markdown
from hsd_core.measure.tally import Tally
from hsd_core.models.drafts.draft_file import read_info
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.data.batches import collate
from hsd_core.systems.nano.train.data.features import Features
from hsd_core.systems.nano.train.data.texts import Sample
from hsd_core.systems.nano.train.held_out import examine, prepare
from hsd_core.systems.nano.train.students.student_file import student_of


def by_place(
    decoder: LeanDecoder,
    drafts: Sequence[Path],
    texts: Sequence[Sample],
    places: int,
    tell: Callable[[], None] = lambda: None,
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
            for place, score in enumerate(examine(student, [prepare(batch, decoder)], steps=places)):
                tally.add((name, place, "agree"), number, score.agreed, score.positions)
                tally.add((name, place, "overlap"), number, score.accepted, score.positions)
        tell()
    return tally


def places_table(tally: Tally, drafts: Sequence[Path], places: int) -> str:
    """A row a draft, by place; the first place with its interval. One that is not fed is alike at all of them."""

    def cell(name: str, place: int, what: str) -> str:
        value = tally.ratio((name, place, what))
        if value is None:
            return ""
        interval = tally.interval((name, place, what)) if not place else None
        return f"{value:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")

    rows = []
    for path in drafts:
        agree = [cell(path.stem, place, "agree") for place in range(places)]
        rows.append((path.stem, read_info(path).title, *agree, cell(path.stem, 0, "overlap")))
    head = ("draft", "what it is", *(f"token {place + 1}" for place in range(places)), "1 - TV, token 1")
    return markdown(head, rows)
