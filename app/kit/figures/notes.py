"""What is written around a figure: its title, its description and its data as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCRIPT = "shared/plots/notes.js"


def note(title: str, text: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The value of the components that `SCRIPT` fills; each shows the part of it that its prop `part` names."""
    return {"title": title, "text": text, "columns": list(columns), "rows": [list(row) for row in rows]}
