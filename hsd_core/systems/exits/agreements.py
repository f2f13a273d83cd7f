"""How often every two read-outs have the same likeliest token, and how often the model keeps what two agree on.

HiSpec's figure 4 (arXiv 2510.01336) asks how much of what a quarter of the layers accepts the last layer accepts. At
temperature 0 a verifier accepts a drafted token where its own likeliest token is the same, so over texts of the model
both shares are counts of positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from hsd_core.systems.exits.depths import LENS, DepthReading

LAST = "last"  # the read-out of the model itself, in records


def lens_agreement(records: Iterable[Mapping[str, Any]]) -> Callable[[int, int], float]:
    """Of two depths, from records: the share of the shallower one's tokens that the deeper one accepts, both read by
    the model's own head."""
    found = {
        (r["draft"][0], r["verifier"][0]): float(r["accepts"])
        for r in records
        if r["what"] == "pair" and r["draft"][1] == LENS and r["verifier"][1] in (LENS, LAST)
    }
    return lambda below, above: found[below, above]


class Agreements:
    """Counts over texts; one of the texts' readings names the rows."""

    def __init__(self, rows: int) -> None:
        self.tokens = 0
        self._same, self._kept = torch.zeros(2, rows, rows, dtype=torch.int64)

    def add(self, reading: DepthReading) -> None:
        """Count the positions of one text."""
        for r, top in enumerate(reading.top):  # a row at a time: (R, n) comparisons
            same = reading.top == top
            self._same[r] += same.sum(1)
            self._kept[r] += (same & reading.agree).sum(1)
        self.tokens += reading.top.shape[1]

    def records(self, reading: DepthReading) -> Iterator[dict[str, Any]]:
        """Of each read-out and each that runs more layers: `accepts`, the share of the first one's tokens that the
        second would keep; `kept`, the share of those that the last layer keeps."""
        for draft, at in enumerate(reading.at):
            for verifier, deeper in enumerate(reading.at):
                if at < deeper:
                    same = int(self._same[draft, verifier])
                    yield {
                        "what": "pair",
                        "draft": [at, reading.readouts[draft]],
                        "verifier": [deeper, LAST if verifier == reading.last else reading.readouts[verifier]],
                        "accepts": round(same / self.tokens, 5),
                        "kept": round(int(self._kept[draft, verifier]) / same, 5) if same else None,
                    }
