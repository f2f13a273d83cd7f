"""Wheels that lie beside: a machine without a network is given what pip would have downloaded."""

from __future__ import annotations

import re
import shutil
from itertools import groupby
from pathlib import Path

PIECE = re.compile(r"(.+\.whl)\.\d+")  # of a wheel that was too large to travel whole


def found_beside(folder: Path, out: Path) -> dict[str, str]:
    """Put together in DIR what lies in pieces, and what makes pip look there and nowhere else.

    Raises:
        ValueError: there is no wheel in the folder.
    """
    pieces = sorted(path for path in folder.iterdir() if PIECE.fullmatch(path.name))
    whole = out / "wheels"
    for name, parts in groupby(pieces, lambda path: path.name.rpartition(".")[0]):
        whole.mkdir(exist_ok=True)
        with (whole / name).open("wb") as joined:
            for part in parts:
                with part.open("rb") as one:
                    shutil.copyfileobj(one, joined)
    if not pieces and not any(folder.glob("*.whl")):
        raise ValueError(f"{folder} has no wheel, whole or in pieces; put there what pip downloads")
    return {"PIP_FIND_LINKS": f"{folder} {whole}" if pieces else str(folder), "PIP_NO_INDEX": "1"}
