"""The databases that a stack names, by letter or by file, each checked against the target's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hsd_core.models.database_file import NgramError, file_kind
from hsd_core.systems.ngram.databases import LookupLimits
from hsd_core.systems.ngram.model_db import ModelDatabase, load_model_db
from hsd_core.systems.ngram.text_db import TextDatabase, load_text_db

LETTERS = {"model": "m", "text": "s"}
WORDS = {"m": "it is what a target wrote (m)", "s": "it is text (s)"}
# Texts that somebody picked say a thing less often than general ones, and are nearer to what is asked.
OWN_TEXT = LookupLimits(2, 3, 2, 0.5)


@dataclass(slots=True)
class OpenedDatabases:
    """What `Databases` takes: its order, the static databases, the reach that differs. files: names by letter."""

    order: str = ""
    model_db: ModelDatabase | None = None
    text_db: TextDatabase | None = None
    reach: dict[str, LookupLimits] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def open_databases(asked: Sequence[str | Path], own: Mapping[str, Path | None], tokenizer: str) -> OpenedDatabases:
    """
    Args:
        asked: in order, a letter of c, m, s, or a file. own: the preset's files by letter. tokenizer: the target's
            (`Tokenizer.digest`).
    Raises:
        NgramError: a file is missing, damaged, no database or one of another tokenizer, or there are two of one kind.
    """
    found = OpenedDatabases()
    for one in asked:
        path = own.get(one) if isinstance(one, str) else one
        letter = one if isinstance(one, str) else LETTERS[file_kind(one)]
        if letter in found.order:
            there = found.files.get(letter, f"the preset's {letter}")
            raise NgramError(f"{path}: {WORDS[letter]}, and so is {there}; keep one of them")
        found.order += letter
        if isinstance(one, Path):
            found.files[letter] = one.name
        if letter == "m" and path is not None:
            found.model_db = load_model_db(path, tokenizer=tokenizer)
        elif letter == "s" and path is not None:
            found.text_db = load_text_db(path, tokenizer=tokenizer)
            found.reach |= {"s": OWN_TEXT} if isinstance(one, Path) else {}
    return found
