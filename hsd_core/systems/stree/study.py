"""What a draft remembers of a text, and what one more drafted token takes, by the text's length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_core.cli.options import reads
from hsd_core.grammar.registry import draft_forms
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.trunk import Layered
from hsd_core.measure import tables
from hsd_core.measure.timed import cost_of, in_turns, ms_of
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import read_draft

if TYPE_CHECKING:
    import argparse

    from hsd_core.cli.depth import Subject

KIND, OPTION, LENGTHS = "memory", "memory", True
USUAL_LENGTHS = (256, 1024, 4096, 8000)
REPEATS, WARM_UP = 15, 2
Records = Sequence[Mapping[str, Any]]


def read(
    decoder: Any, drafts: Mapping[str, Any], ids: Sequence[int], lengths: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """For every draft and length: bytes of its cache after so many tokens of the text, and ms of the next token's row.

    Args:
        drafts: by name, opened over the decoder; they read embeddings alone.
    """
    for length in lengths:
        runs = {name: DraftRun(decoder, draft, (), length + 2, name) for name, draft in drafts.items()}
        for run in runs.values():
            run.score(Context(ids[:length]))
        held = {name: nbytes(run, length) for name, run in runs.items()}
        found = in_turns({name: partial(_next, run, ids, length) for name, run in runs.items()}, REPEATS, WARM_UP)
        for name, values in found.items():
            yield cost_of(values, 4, draft=name, length=length, bytes=held[name])


def _next(run: DraftRun, ids: Sequence[int], length: int) -> float:
    """ms of one more token, which is forgotten again."""
    ms = ms_of(run.score, Context(ids[: length + 1]))
    run.keep(length, ())
    return ms


def nbytes(run: DraftRun, length: int) -> int:
    """Bytes that a draft keeps of a text: of a cache with a slot for each position, those of the filled ones."""
    layers: Any = getattr(run._cache, "layers", run._cache)
    if hasattr(layers, "nbytes"):
        return int(layers.nbytes)
    return sum(int(part[:, :, :, :length].numel()) * part.element_size() for part in (layers.keys, layers.values))


def by_length(records: Records) -> str:
    """A row for each draft, a column for each length."""
    own = {(r["draft"], r["length"]): r for r in records if r["what"] == "cost"}
    lengths = sorted({length for _, length in own})
    body = []
    for name in dict.fromkeys(name for name, _ in own):
        cells = (own.get((name, length)) for length in lengths)
        body.append((name, *("" if r is None else f"{r['ms']:.2f} ms, {r['bytes'] / 1e6:.2f} MB" for r in cells)))
    return tables.markdown(("one more token of", *(f"after {length:,}" for length in lengths)), body)


TABLES: dict[str, Callable[[Records], str]] = {"memory": by_length}


def method(about: Mapping[str, Any]) -> str:
    """The method, in words."""
    return (
        f"The first text of `{about['prompts']}` that is long enough, read by each draft up to a length; then the "
        f"median of {REPEATS} passes over the next token, in turns. Bytes: of keys and values, or of states and the "
        "inputs that going back needs."
    )


def add(parser: argparse.ArgumentParser) -> None:
    reads(
        parser,
        "--memory FILE",
        "instead: bytes that drafts over the embeddings keep of a text, and ms of their next token; --lengths are of "
        f"the text (default {' '.join(map(str, USUAL_LENGTHS))})",
        nargs="+",
    )


def act(subject: Subject) -> None:
    """Print the table; --out keeps the records.

    Raises:
        ValueError: no text is that long, or a draft reads more than embeddings.
    """
    lengths = subject.options.lengths or USUAL_LENGTHS
    ids = next((text.prompt_ids for text in subject.texts if len(text.prompt_ids) > max(lengths)), None)
    if ids is None:
        longest = max((len(text.prompt_ids) for text in subject.texts), default=0)
        raise ValueError(f"--lengths {max(lengths)}: the longest text has {longest} tokens; give a longer one")
    decoder = subject.running(Layered, "and no draft of its own was trained")
    drafts = {path.stem: read_draft(path, decoder, draft_forms()) for path in map(Path, subject.options.memory)}
    if other := next((draft for draft in drafts.values() if draft.about.follows or draft.at), None):
        raise ValueError(f"{other.name} is {other.about.title}; name drafts that read the embeddings alone")
    records = [*read(decoder, drafts, ids, lengths)]
    subject.keep(subject.about(KIND, texts=1), records)
    print(by_length(records))
