"""How often drafts agree with the target far into a text: at several lengths, along the last tokens before each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hsd_core.measure.results.sheet import markdown
from hsd_core.measure.tally import Tally
from hsd_core.models.drafts.draft_file import read_info
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.systems.nano.train.by_place import by_place
from hsd_core.systems.nano.train.data.texts import Sample

ALONG = 192  # tokens that are read before each length


def by_length(
    decoder: LeanDecoder,
    drafts: Sequence[Path],
    texts: Sequence[Sequence[int]],
    lengths: Sequence[int],
    tell: Callable[[], None] = lambda: None,
) -> dict[int, Tally]:
    """Length -> the tally of `by_place` of a draft's first token, over the texts that are so long.

    Raises:
        DraftError: a file is no draft of this target. ValueError: no text is as long as a length.
    """
    found = {}
    for length in lengths:
        begin = max(1, length - ALONG)
        read = [Sample(tuple(ids[:length]), begin, "any", begin) for ids in texts if len(ids) >= length]
        if not read:
            longest = max(map(len, texts), default=0)
            raise ValueError(f"--lengths {length}: the longest text has {longest} tokens; give a longer one")
        found[length] = by_place(decoder, drafts, read, 1, tell)
    return found


def lengths_table(tallies: dict[int, Tally], drafts: Sequence[Path]) -> str:
    """A row a draft: its first choice is the target's, and 1 - TV, at each length."""

    def cell(tally: Tally, name: str) -> str:
        agree, overlap = (tally.ratio((name, 0, what)) for what in ("agree", "overlap"))
        return "" if agree is None or overlap is None else f"{agree:.3f}, {overlap:.3f}"

    rows = [
        (path.stem, read_info(path).title, *(cell(tally, path.stem) for tally in tallies.values())) for path in drafts
    ]
    return markdown(("draft", "what it is", *(f"at {length:,}" for length in tallies)), rows)
