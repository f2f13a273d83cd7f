"""A preset's trained drafts and its store of a text, opened over its decoders: each once, and kept."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from hsd_core.grammar.preset import Preset
from hsd_core.levels.draft_run import TrainedDraft
from hsd_core.levels.trunk import Layered
from hsd_core.models.drafts.draft_file import fingerprint, read_draft
from hsd_core.models.drafts.known_drafts import FOLDER, shipped
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.stacks.targets import option
from hsd_core.systems.store.neighbours import Store
from hsd_core.systems.store.store_file import Owner, StoreError, read_store
from hsd_core.systems.store.store_place import store_path

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.draft_file import DraftInfo, Opened
    from hsd_core.systems.medusa.medusa_level import Heads


class OpenedDrafts:
    """A preset's drafts as its levels read them; each is opened once for a decoder and kept, read-only."""

    def __init__(self, preset: str, folder: Path = FOLDER) -> None:
        self._preset, self._folder = preset, folder
        # a decoder that is let go takes its drafts along
        self._open: WeakKeyDictionary[Layered, dict[Path, Opened]] = WeakKeyDictionary()

    def all(self, decoder: Layered) -> list[TrainedDraft]:
        """Every shipped draft with layers of its own that was trained for this decoder, shallowest first, but for those
        that read the target's keys and values: their rows follow from more than a text's states."""
        if not _reads(decoder):
            return []
        drafts = [d for d in shipped(self._preset, self._folder) if not d.heads and not d.window]
        own = [d for d in drafts if d.fingerprint == fingerprint(decoder)]
        return [cast("TrainedDraft", self._read(draft.path, decoder)) for draft in own]

    def at(self, depth: int, name: str | None, decoder: Layered) -> TrainedDraft | None:
        """The draft that a level at a depth (0: a nano) reads through; None where nothing is named and nothing shipped.

        Args:
            name: a shipped draft's name, or the path of a .safetensors file.
        Raises:
            ValueError: no such draft, or it was trained for another target or place; the message says which.
        """
        path = self._path(name, lambda draft: not draft.heads and draft.at == depth, above=depth > 0)
        if path is None:
            return None
        draft = self._read(path, decoder)
        if not draft.layers:
            raise ValueError(f"draft {draft.name} is heads over the target's last state; write medusa@id={name}")
        if draft.at != depth:
            cure = f"write exit@at={draft.at}" if draft.at else "write nano"
            raise ValueError(f"draft {draft.name} was trained for depth {draft.at}; {cure}")
        return cast("TrainedDraft", draft)

    def heads(self, name: str | None, decoder: Layered) -> Heads | None:
        """The same of heads over the target's last state (Medusa)."""
        path = self._path(name, lambda draft: draft.heads)
        if path is None:
            return None
        draft = self._read(path, decoder)
        if draft.layers:
            kind = f"exit@at={draft.at}@id={name}" if draft.at else f"nano@id={name}"
            raise ValueError(f"draft {draft.name} has layers of its own; write {kind}")
        return cast("Heads", draft)

    def _path(self, name: str | None, suits: Callable[[DraftInfo], bool], *, above: bool = False) -> Path | None:
        """The file of a draft that suits: the named one, else the first that is shipped. above: it reads layers."""
        drafts = shipped(self._preset, self._folder)
        if name is None:
            return next((draft.path for draft in drafts if suits(draft)), None)
        for draft in drafts:
            if draft.name == name:
                return draft.path
        if Path(name).suffix == ".safetensors" and Path(name).is_file():
            return Path(name)
        known = ", ".join(draft.name for draft in drafts if suits(draft) or (above and draft.at > 0)) or "none"
        raise ValueError(f"no draft {name!r}; those of preset {self._preset} are: {known}")

    def _read(self, path: Path, decoder: Layered) -> Opened:
        known = self._open.setdefault(decoder, {})
        if path not in known:
            if not _reads(decoder):
                raise ValueError("trained drafts read a model's layers, and this target runs through transformers")
            known[path] = read_draft(path, decoder)
        return known[path]


def owner_of(preset: Preset, decoder: Layered) -> Owner:
    """Whose a store has to be.

    Raises:
        StoreError: nobody can tell, as the decoder has no last norm of its own.
    """
    if not _reads(decoder):
        raise StoreError(f"a store is made of the last states of a model that runs layer by layer, and {decoder} does")
    command = f"python -m hsd_core knn-store {option(preset.name)}"
    return Owner(preset.key, command, fingerprint(decoder), decoder.shape.hidden, decoder.vocab_size)


class OpenedStores:
    """Stores by file and age; one that no level reads any more is let go."""

    def __init__(self) -> None:
        self._open: WeakValueDictionary[tuple[str, str, int], Store] = WeakValueDictionary()

    def of(self, preset: Preset, decoder: Layered) -> Store:
        """The store of a preset's target.

        Raises:
            StoreError: there is none, or it is another target's.
        """
        owner, path = owner_of(preset, decoder), store_path(preset.key)
        key = (preset.key, owner.fingerprint, path.stat().st_mtime_ns if path.is_file() else 0)
        store = self._open.get(key)
        if store is None:
            store = self._open[key] = read_store(owner, path)
        return store


def _reads(decoder: Layered) -> TypeGuard[LeanDecoder | CompiledDecoder]:
    """Whether a decoder is one that drafts can be opened over."""
    if isinstance(decoder, LeanDecoder):
        return True
    if find_spec("onnxruntime") is None:
        return False
    from hsd_core.models.compiled.decoder import CompiledDecoder

    return isinstance(decoder, CompiledDecoder)
