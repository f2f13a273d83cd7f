"""What passes of a draft and of its target cost: by the bytes of their weights, and by a short measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hsd_core.core.entry import StackEntry
from hsd_core.measure.passes.level_passes import Bed
from hsd_core.measure.timed import in_turns, median_interval
from hsd_core.models.loading import least_bytes
from hsd_core.models.weights import Source

MOST = 8  # tokens of a draft
TURNS, WARM_UP = 7, 2


@dataclass(frozen=True, slots=True)
class PairCosts:
    """draft: of a drafted token. target: of a pass of 1, ..., MOST + 1 rows. In ms, or in passes of the target.

    measured: by passes here; else of the bytes that are read alone.
    """

    draft: float
    target: tuple[float, ...]
    measured: bool

    def round_at(self) -> dict[float, float]:
        """A pass with its draft, by draft length; 0 is plain decoding."""
        return {0: self.target[0], **{k: k * self.draft + self.target[k] for k in range(1, MOST + 1)}}


def read_bytes(source: Source, folder: Path, dtype: str | None) -> int:
    """Bytes of weights that a pass reads: of a .gguf file as it is, else in `dtype` or 16 bits."""
    return Path(source.id).stat().st_size if _as_it_is(source, dtype) else least_bytes(folder, dtype or "float16")


def size_words(count: int, source: Source, dtype: str | None) -> str:
    """The same in words."""
    size = f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
    return f"{size} as the file has it" if _as_it_is(source, dtype) else f"{size} in {dtype or '16 bits'}"


def _as_it_is(source: Source, dtype: str | None) -> bool:
    return source.kind == "gguf" and dtype is None


def by_size(draft_bytes: int, target_bytes: int) -> PairCosts:
    """Where memory is the limit a pass takes as long as its weights are read, whatever its rows: the usual case of one
    request on a GPU, and the best one for a draft."""
    return PairCosts(draft_bytes / target_bytes, (1.0,) * (MOST + 1), measured=False)


def by_passes(entries: Sequence[StackEntry], text: Sequence[int], tell: Callable[[int, int], None]) -> PairCosts:
    """Passes of both here, in turn, behind a text; the medians.

    Args:
        text: ids, MOST + 2 or more. tell: called with the turns that are done, and all.
    """
    length = len(text) - MOST - 2
    target = entries[-1].level
    beds = [Bed(entry.level, target, text, MOST + 1) for entry in (entries[0], entries[-1])]
    for bed in beds:
        bed.rest(length)
    cells = [(0, 1), *((1, rows) for rows in range(1, MOST + 2))]
    found = in_turns({(i, n): partial(beds[i].one, n) for i, n in cells}, TURNS, WARM_UP, tell=tell)
    medians = {cell: median_interval(values)[0] for cell, values in found.items()}
    return PairCosts(medians[0, 1], tuple(medians[1, rows] for rows in range(1, MOST + 2)), measured=True)
