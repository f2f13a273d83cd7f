"""A study of depths over many texts: how often each read-out agrees with the model, with intervals, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from hsd_core.measure.intervals import Tally
from hsd_core.measure.tables import markdown
from hsd_core.systems.exits import exits_report
from hsd_core.systems.exits.depths import DepthReading


@dataclass(frozen=True, slots=True)
class Sums:
    """One text's share of a study: its tokens, and the sums over them of agreement and overlap per read-out, (R,)."""

    kind: str
    tokens: int
    agree: Tensor
    overlap: Tensor

    @classmethod
    def of(cls, reading: DepthReading, kind: str) -> Sums:
        n = reading.p.shape[1]
        return cls(kind, n, reading.agree.double().sum(1), reading.overlap.double().sum(1))


def summary(reading: DepthReading, sums: Sequence[Sums]) -> dict[str, Any]:
    """Means over all tokens with 95 % intervals (a bootstrap over texts), in all and by kind, as plain JSON types.

    `reading`: any of the texts', for the names of the rows.
    """
    kinds = sorted({s.kind for s in sums} - {""})
    by_kind = {kind: [s for s in sums if s.kind == kind] for kind in kinds}
    return {
        "rows": [{"at": a, "readout": r} for a, r in zip(reading.at, reading.readouts, strict=True)],
        "all": _figures(sums),
        "kinds": {kind: _figures(own) for kind, own in by_kind.items()},
    }


def _figures(sums: Sequence[Sums]) -> dict[str, Any]:
    figures: dict[str, Any] = {"texts": len(sums), "tokens": sum(s.tokens for s in sums)}
    for name in ("agree", "overlap"):
        tally = Tally(len(sums))
        for text, one in enumerate(sums):
            for r, value in enumerate(getattr(one, name).tolist()):
                tally.add((r,), text, value, one.tokens)
        figures[name] = [tally.ratio(r) for r in tally.names()]
        figures[f"{name}_interval"] = [list(tally.interval(r) or ()) for r in tally.names()]
    return figures


def readings(study: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row a read-out: how much of the model's text it agrees with, in all and by kind of prompt."""
    whole_, kinds = study["all"], study["kinds"]
    for i, row in enumerate(study["rows"]):
        means = {name: round(whole_[name][i], 5) for name in ("agree", "overlap")}
        ends = {f"{name}_interval": [round(end, 5) for end in whole_[f"{name}_interval"][i]] for name in means}
        by_kind = {kind: round(own["agree"][i], 5) for kind, own in kinds.items()}
        yield {"what": "reading", **row, **means, **ends, "kinds": by_kind}


def tables(study: dict[str, Any]) -> str:
    """The summary as Markdown: a row a read-out; then agreement by kind where there is more than one."""
    found, kinds = exits_report.readings([*readings(study)]), study["kinds"]
    if len(kinds) < 2:
        return found
    head = ("layers", "read-out", *(f"{kind} ({own['tokens']})" for kind, own in kinds.items()))
    body = (
        (row["at"], row["readout"], *(f"{own['agree'][i]:.3f}" for own in kinds.values()))
        for i, row in enumerate(study["rows"])
    )
    return f"{found}\n\nAgreement by kind (tokens):\n\n{markdown(head, body)}"
