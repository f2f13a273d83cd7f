"""Long prompts that the page loads on demand: texts that are shipped with the program, behind what is asked of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from app.serve.settings import RequestError
from app.tabs.explore.examples import LONG_EXAMPLES
from app.words import run as says
from hsd_core.typed.program_files import ROOT


@dataclass(frozen=True, slots=True)
class LongText:
    """A prompt: the question, then the beginning of a text, the one of this category in a file of prompts.

    characters: of the text.
    """

    name: str
    title: str
    note: str
    ask: str
    file: str
    category: str
    characters: int

    @property
    def prompt(self) -> str:
        """
        Raises:
            OSError: the file is not there.
        """
        lines = (ROOT / self.file).read_text(encoding="utf-8").splitlines()
        text = next(one["prompt"] for one in map(json.loads, lines) if one["category"] == self.category)
        return f"{self.ask}\n\n{text[: self.characters]}"

    def entry(self) -> dict[str, Any]:
        """What the page is told of it."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "characters": len(self.ask) + 2 + self.characters,
        }


LONG_TEXTS = tuple(LongText(**one) for one in LONG_EXAMPLES)


def menu() -> list[dict[str, Any]]:
    """Those whose files are here."""
    return [one.entry() for one in LONG_TEXTS if (ROOT / one.file).is_file()]


def long_text(data: Any) -> dict[str, Any]:
    """The prompt of that name.

    Raises:
        RequestError: there is none.
    """
    name = data.get("name") if isinstance(data, dict) else None
    one = next((one for one in LONG_TEXTS if one.name == name), None)
    if one is None:
        raise RequestError(says.NO_LONG_TEXT)
    return {"prompt": one.prompt}
