"""Prompt files and files of finished texts, read alike.

JSON lines (plain or .gz). A line gives its prompt as `prompt`, as Spec-Bench's `turns` (the first is used) or as
`prompt_ids`; `category` or `kind` names what sort of text it asks for; `output_ids` is what a model wrote after it, and
`loop_from` the place in it from which it only repeats itself. `written_from` is there where the model wrote the end of
the prompt too, as it does when it invents prompts.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hsd_core.loops import loop_from


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt, perhaps with what followed. `kind` and `category` are "" where the file names none."""

    prompt_ids: tuple[int, ...]
    output_ids: tuple[int, ...] | None = None
    kind: str = ""
    category: str = ""
    loop_from: int | None = None
    written_from: int | None = None

    @property
    def given(self) -> tuple[int, ...]:
        """What the model was given: the prompt, without the part of it that the model itself wrote."""
        return self.prompt_ids[: self.written_from]

    @property
    def sort(self) -> str:
        """What sort of text it is, by whichever name the file gives."""
        return self.category or self.kind

    def before_loop(self, output: Sequence[int]) -> Sequence[int]:
        """What of an output, or of its beginning, is no loop: as the file says, else as `loop_from` finds it."""
        return output[: self.loop_from if self.loop_from is not None else loop_from(output)]


def check_ids(ids: Sequence[int], vocab_size: int) -> None:
    """
    Raises:
        ValueError: an id that the target does not have.
    """
    worst = next((i for i in ids if not 0 <= i < vocab_size), None)
    if worst is not None:
        raise ValueError(
            f"id {worst} lies outside the target's {vocab_size} (its vocabulary ends at {vocab_size - 1}); "
            "use texts of this target"
        )


def read_texts(path: str | Path, encode: Callable[[str], list[int]]) -> list[Text]:
    """All texts of a file; `encode` makes ids of a prompt.

    Raises:
        ValueError: a line is no such record, or there is none; the message names the line.
    """
    texts = [_text(record, encode, f"{path}, line {number}") for number, record in _records(Path(path))]
    if not texts:
        raise ValueError(f"{path}: no prompts in it")
    return texts


def read_openings(path: str | Path) -> list[tuple[str, str | None, str, float]]:
    """How invented prompts begin: (start, system or None, kind, weight), a line of JSON with these names each.

    Raises:
        ValueError: a line is no such record, or there is none.
    """
    found = []
    for number, record in _records(Path(path)):
        start, system, weight = (
            (record.get(k) for k in ("start", "system", "weight")) if isinstance(record, dict) else (None,) * 3
        )
        weight = 1.0 if weight is None else weight
        if (
            not isinstance(start, str)
            or not isinstance(system, str | None)
            or not isinstance(weight, int | float)
            or weight <= 0
        ):
            raise ValueError(
                f'{path}, line {number}: expected JSON with "start", perhaps "system", "kind" and a positive "weight"'
            )
        found.append((start, system, str(record.get("kind", "")), float(weight)))
    if not found:
        raise ValueError(f"{path}: no openings in it")
    return found


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield number, json.loads(line)
                    except ValueError:
                        raise ValueError(f"{path}, line {number}: not a JSON object") from None
    except (EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as text: {error}") from None


def _text(record: Any, encode: Callable[[str], list[int]], where: str) -> Text:
    wanted = 'expected JSON with "prompt", "turns" or "prompt_ids"'
    if not isinstance(record, dict):
        raise ValueError(f"{where}: {wanted}")
    ids, output, loop = record.get("prompt_ids"), record.get("output_ids"), record.get("loop_from")
    if ids is None:
        try:
            ids = encode(str(record.get("prompt") or record["turns"][0]))
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"{where}: {wanted}") from None
    for name, value in (("prompt_ids", ids), ("output_ids", output)):
        if value is not None and not (isinstance(value, list) and all(type(i) is int and i >= 0 for i in value)):
            raise ValueError(f"{where}: {name} must be a list of token ids")
    if not ids:
        raise ValueError(f"{where}: the prompt is empty; give at least one token")
    if loop is not None and not (type(loop) is int and output is not None and 0 <= loop <= len(output)):
        raise ValueError(f"{where}: loop_from must lie within output_ids")
    written = record.get("written_from")
    if written is not None and not (type(written) is int and 0 < written <= len(ids)):
        raise ValueError(f"{where}: written_from must lie within the prompt")
    return Text(
        tuple(ids), None if output is None else tuple(output), str(record.get("kind", "")),
        str(record.get("category", "")), loop, written,
    )  # fmt: skip
