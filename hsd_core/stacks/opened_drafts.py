"""A preset's trained drafts, opened over its decoders: each once, and kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard
from weakref import WeakKeyDictionary

from hsd_core.drafts.draft_file import fingerprint, read_draft
from hsd_core.drafts.known_drafts import FOLDER, shipped
from hsd_core.levels.built.draft_run import TrainedDraft
from hsd_core.levels.trunk import Layered
from hsd_core.models.lean.decoder import LeanDecoder

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder


class OpenedDrafts:
    """A preset's drafts as its levels read them; each is opened once for a decoder and kept, read-only."""

    def __init__(self, preset: str, folder: Path = FOLDER) -> None:
        self._preset, self._folder = preset, folder
        # a decoder that is let go takes its drafts along
        self._open: WeakKeyDictionary[Layered, dict[Path, TrainedDraft]] = WeakKeyDictionary()

    def all(self, decoder: Layered) -> list[TrainedDraft]:
        """Every shipped draft that was trained for this decoder, shallowest first."""
        if not _reads(decoder):
            return []
        own = [d for d in shipped(self._preset, self._folder) if d.fingerprint == fingerprint(decoder)]
        return [self._read(draft.path, decoder) for draft in own]

    def at(self, depth: int, name: str | None, decoder: Layered) -> TrainedDraft | None:
        """The draft that a level at a depth (0: a nano) reads through; None where nothing is named and nothing shipped.

        Args:
            name: a shipped draft's name, or the path of a .safetensors file.
        Raises:
            ValueError: no such draft, or it was trained for another target or place; the message says which.
        """
        path = self._path(depth, name)
        if path is None:
            return None
        draft = self._read(path, decoder)
        if draft.at != depth:
            cure = f"write exit@at={draft.at}" if draft.at else "write nano"
            raise ValueError(f"draft {draft.name} was trained for depth {draft.at}; {cure}")
        return draft

    def _path(self, depth: int, name: str | None) -> Path | None:
        drafts = shipped(self._preset, self._folder)
        if name is None:
            return next((Path(draft.path) for draft in drafts if draft.at == depth), None)
        for draft in drafts:
            if draft.name == name:
                return Path(draft.path)
        if Path(name).suffix == ".safetensors" and Path(name).is_file():
            return Path(name)
        known = ", ".join(draft.name for draft in drafts if (draft.at > 0) == (depth > 0)) or "none"
        raise ValueError(f"no draft {name!r}; those of preset {self._preset} are: {known}")

    def _read(self, path: Path, decoder: Layered) -> TrainedDraft:
        known = self._open.setdefault(decoder, {})
        if path not in known:
            if not _reads(decoder):
                raise ValueError("trained drafts read a model's layers, and this target runs through transformers")
            known[path] = read_draft(path, decoder)
        return known[path]


def _reads(decoder: Layered) -> TypeGuard[LeanDecoder | CompiledDecoder]:
    """Whether a decoder is one that drafts can be opened over."""
    if isinstance(decoder, LeanDecoder):
        return True
    if find_spec("onnxruntime") is None:
        return False
    from hsd_core.models.compiled.decoder import CompiledDecoder

    return isinstance(decoder, CompiledDecoder)
