"""Files of prompts and of finished texts.

JSON lines (plain or .gz). A line has its prompt as `prompt`, as Spec-Bench's `turns` (the first is used) or as
`prompt_ids`; `category` or `kind` is the sort of text; `output_ids` is a model's output, and `loop_from` the index in
it from which it only repeats itself. `written_from` is given if the model wrote the end of the prompt too, as it does
when it invents prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from hsd_core.trace.conventions import loop_from
from hsd_core.typed import MAX_INT, Wrong, convert, opened, records

Id = Annotated[int, Meta(ge=0, le=MAX_INT)]
_PARQUET = b"PAR1"
_GIVEN = '"prompt", "turns" or "prompt_ids"'


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt, perhaps with an output. `kind` and `category` are "" if the file has none."""

    prompt_ids: tuple[int, ...]
    output_ids: tuple[int, ...] | None = None
    kind: str = ""
    category: str = ""
    loop_from: int | None = None
    written_from: int | None = None

    @property
    def given(self) -> tuple[int, ...]:
        """The prompt without the part that the model itself wrote."""
        return self.prompt_ids[: self.written_from]

    @property
    def sort(self) -> str:
        """The sort of text, from `category` or `kind`."""
        return self.category or self.kind

    def before_loop(self, output: Sequence[int]) -> Sequence[int]:
        """An output, or the beginning of one, without its loop: from the file's `loop_from`, else as computed."""
        return output[: self.loop_from if self.loop_from is not None else loop_from(output)]


def check_ids(ids: Sequence[int], vocab_size: int) -> None:
    """
    Raises:
        ValueError: an id is outside the target's vocabulary.
    """
    worst = next((i for i in ids if not 0 <= i < vocab_size), None)
    if worst is not None:
        raise ValueError(
            f"id {worst} lies outside the target's {vocab_size} (its vocabulary ends at {vocab_size - 1}); "
            "use texts of this target"
        )


class PromptLine(Struct):
    """A line of a file of prompts or finished texts; other fields are ignored."""

    prompt: str | None = None
    turns: tuple[str, ...] = ()
    prompt_ids: tuple[Id, ...] | None = None
    output_ids: tuple[Id, ...] | None = None
    kind: str = ""
    category: str = ""
    loop_from: int | None = None
    written_from: int | None = None

    @property
    def text(self) -> str | None:
        return self.prompt or next(iter(self.turns), None)


def parquet_lines(path: Path) -> list[tuple[str, PromptLine]]:
    """The rows of a Parquet file as lines, each with where it stands; none of another file.

    Raises:
        ValueError: pyarrow is not installed, or a row is no prompt.
    """
    with opened(path) as file:
        if file.read(len(_PARQUET)) != _PARQUET:
            return []
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"{path} is Parquet, which pyarrow reads: pip install pyarrow") from None
    rows = parquet.read_table(path).to_pylist()
    try:
        return [(f"{path}, row {n}", convert(row, PromptLine)) for n, row in enumerate(rows, 1)]
    except Wrong as error:
        raise ValueError(f"{path}: {error}; expected columns turns and category, as SPEED-Bench has them") from None


class OpeningLine(Struct):
    start: str
    system: str | None = None
    kind: str = ""
    weight: Annotated[float, Meta(gt=0.0)] | None = None


def read_texts(path: str | Path, encode: Callable[[str], list[int]]) -> list[PromptText]:
    """All texts of a file; `encode` makes ids of a prompt.

    Raises:
        ValueError: a line is invalid, or there is none; the message names the line.
    """
    texts = [_text(line, encode, where) for where, line in records(path, PromptLine, f"JSON with {_GIVEN}")]
    if not texts:
        raise ValueError(f"{path}: no prompts in it")
    return texts


def read_openings(path: str | Path) -> list[OpeningLine]:
    """The beginnings of invented prompts.

    Raises:
        ValueError: a line is invalid, or there is none.
    """
    wanted = 'JSON with "start", perhaps "system", "kind" and a positive "weight"'
    if not (found := [opening for _, opening in records(path, OpeningLine, wanted)]):
        raise ValueError(f"{path}: no openings in it")
    return found


def _text(line: PromptLine, encode: Callable[[str], list[int]], where: str) -> PromptText:
    ids, output, loop, written = line.prompt_ids, line.output_ids, line.loop_from, line.written_from
    if ids is None:
        if line.text is None:
            raise ValueError(f"{where}: expected JSON with {_GIVEN}")
        ids = tuple(encode(line.text))
    if not ids:
        raise ValueError(f"{where}: the prompt is empty; give at least one token")
    if loop is not None and not (output is not None and 0 <= loop <= len(output)):
        raise ValueError(f"{where}: loop_from must lie within output_ids")
    if written is not None and not 0 < written <= len(ids):
        raise ValueError(f"{where}: written_from must lie within the prompt")
    return PromptText(ids, output, line.kind, line.category, loop, written)
