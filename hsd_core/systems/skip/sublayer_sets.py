"""Sets of sublayers that a self-draft leaves out: small JSON files, each for the weights that it was searched with.

`python -m hsd_core sets` searches them (see `search.py`). Listing them imports no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.typed import Malformed, Wrong, decode, json_decoder

if TYPE_CHECKING:
    from hsd_core.models.lean.sublayers import Sublayers

FORMAT, SUFFIX = "hsd-sublayers/1", ".json"
EMPTY = "none"  # the name of the set that leaves nothing out
LARGEST = 1_000_000  # bytes of a file
Layer = Annotated[int, Meta(ge=0, le=4095)]


class SetError(ValueError):
    """A file is no set of sublayers, or one of other weights; the message says which, and names the command to run."""


class _File(Struct):
    """A file's contents. fingerprint: of the target's last norm (see `draft_file.fingerprint`)."""

    format: str
    preset: str
    target: str
    fingerprint: str
    layers: Layer
    attention: list[Layer]
    mlp: list[Layer]
    measured: dict[str, Any] = {}


_decoder = json_decoder(_File)


@dataclass(frozen=True, slots=True)
class SublayerSet:
    """A set: the layers whose attention, and those whose MLP, are left out, of a model of `layers` layers. measured: by
    the search."""

    name: str
    preset: str
    target: str
    fingerprint: str
    layers: int
    attention: tuple[int, ...]
    mlp: tuple[int, ...]
    measured: dict[str, Any]

    @property
    def count(self) -> int:
        return len(self.attention) + len(self.mlp)

    @property
    def sublayers(self) -> Sublayers:
        from hsd_core.models.lean.sublayers import Sublayers

        return Sublayers(frozenset(self.attention), frozenset(self.mlp))


def read_set(path: Path) -> SublayerSet:
    """
    Raises:
        SetError: the file is no set of sublayers.
    """
    cure = f"search one with python -m hsd_core sets --out {path.name}"
    try:
        if path.stat().st_size > LARGEST:
            raise SetError(f"{path.name} is no set of sublayers: {path.stat().st_size} bytes are too many; {cure}")
        found = decode(path.read_bytes(), _decoder)
    except OSError as error:
        raise SetError(f"{path.name} cannot be read ({error.strerror}); {cure}") from error
    except (Malformed, Wrong) as error:
        raise SetError(f"{path.name} is no set of sublayers ({error}); {cure}") from error
    if found.format != FORMAT:
        raise SetError(f"{path.name} is of format {found.format[:40]!r}, and {FORMAT!r} is read here; {cure}")
    beyond = [layer for layer in (*found.attention, *found.mlp) if layer >= found.layers]
    if beyond:
        raise SetError(f"{path.name} leaves out layer {beyond[0]} of {found.layers}, which count from 0; {cure}")
    return SublayerSet(
        path.stem,
        found.preset,
        found.target,
        found.fingerprint,
        found.layers,
        tuple(sorted({*found.attention})),
        tuple(sorted({*found.mlp})),
        found.measured,
    )


def shipped_sets(preset: str, folder: Path = FOLDER) -> Sequence[SublayerSet]:
    """A preset's sets, smallest first."""
    own = [read_set(path) for path in sorted(folder.glob(f"{preset}-skip*{SUFFIX}"))]
    return sorted((one for one in own if one.preset == preset), key=lambda one: one.count)


def find_set(name: str | None, preset: str, file: Path | None = None) -> SublayerSet | None:
    """The set of that name: a shipped one, or a file; without a name the smallest shipped one. None for the empty set.

    Raises:
        SetError: there is none.
    """
    if name == EMPTY:
        return None
    known = shipped_sets(preset)
    if name is None and known:
        return known[0]
    if found := next((one for one in known if one.name == name), None):
        return found
    if file is not None and file.suffix == SUFFIX and file.is_file():
        return read_set(file)
    there = ", ".join([*(one.name for one in known), EMPTY])
    missing = f"no set {name!r}" if name else "no set"
    raise SetError(
        f"{missing} for preset {preset}; there are {there}; search one with python -m hsd_core sets --preset {preset}"
    )
