"""A store as a file in the cache folder: safetensors, with keys in float16 and its target in the header.

A store is built on each machine (`python -m hsd_core knn-store`) and not shipped: it holds the target's states for a
whole text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from hsd_core.grammar.key import StackError
from hsd_core.levels.opened_drafts import opens_drafts
from hsd_core.models.drafts.draft_file import fingerprint
from hsd_core.stacks.targets import preset_option
from hsd_core.systems.store.declaration import MAKING, store_path
from hsd_core.systems.store.neighbours import Store

if TYPE_CHECKING:
    from hsd_core.grammar.kind import Site
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.decoder_protocol import Layered
    from hsd_core.systems.store.neighbours import Store


FORMAT = "hsd-knn/1"


class StoreError(ValueError):
    """A store is missing, or of another target; the message names the command that builds it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The target of a store. preset_key: in the file's name. command: builds the store. fingerprint: of the target's
    last norm (`drafts.draft_file.fingerprint`). hidden, vocab_size: of the target."""

    preset_key: str
    command: str
    fingerprint: str
    hidden: int
    vocab_size: int


def write_store(path: Path, keys: Tensor, values: Tensor, about: Mapping[str, str]) -> None:
    """Write a store atomically."""
    from safetensors.torch import save_file

    partial = path.with_suffix(".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {"keys": keys.half().contiguous(), "values": values.int().contiguous()}
    save_file(tensors, partial, {"format": FORMAT, **about})
    partial.replace(path)


def read_store(owner: Owner, path: Path | None = None) -> Store:
    """The store of a target, in float32, as CPUs have no fast product in half precision.

    Raises:
        StoreError: there is none, or it is damaged or of another target.
    """
    from safetensors import SafetensorError, safe_open

    path = path or store_path(owner.preset_key)
    if not path.is_file():
        raise StoreError(f"there is no store for this target yet; make it once, in {MAKING}, with: {owner.command}")
    named = f"the store {path.name}"  # no folder: a visitor may read this
    again = f"make it anew with: {owner.command} --again"
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, Any] = dict(file.metadata() or {})
            keys, values = file.get_tensor("keys"), file.get_tensor("values")
    except (SafetensorError, OSError) as error:
        raise StoreError(f"{named} is damaged ({error}); {again}") from error
    if about.get("format") != FORMAT:
        raise StoreError(f"{named} is not a store of the format {FORMAT}; {again}")
    if about.get("fingerprint") != owner.fingerprint:
        theirs = about.get("fingerprint", "nobody knows which")
        raise StoreError(f"{named} was made for other weights ({theirs}, these are {owner.fingerprint}); {again}")
    n = len(keys)
    sound = keys.shape == (n, owner.hidden) and values.shape == (n,) and n > 0
    if not sound or not 0 <= int(values.min()) <= int(values.max()) < owner.vocab_size:
        raise StoreError(f"{named} is damaged: its keys and values are not this target's; {again}")
    return Store(torch.nn.functional.normalize(keys.float(), dim=-1), values, about)


def opened_store(spec: LevelSpec, site: Site, decoder: Layered) -> Store:
    """The store of a preset's target, opened again if the file has changed.

    Raises:
        StackError: there is none, or it is of another target.
    """
    try:
        owner, path = owner_of(site.preset, decoder), store_path(site.preset.key)
        age = path.stat().st_mtime_ns if path.is_file() else 0
        return site.opened(decoder, ("store", path, age), lambda: read_store(owner, path))
    except StoreError as error:
        raise StackError(f"{spec.name}: {error}") from error


def owner_of(preset: Preset, decoder: Layered) -> Owner:
    """The owner that a store must have.

    Raises:
        StoreError: the decoder does not run layer by layer.
    """
    if not opens_drafts(decoder):
        raise StoreError(f"a store is made of the last states of a model that runs layer by layer, and {decoder} does")
    command = f"python -m hsd_core knn-store {preset_option(preset.name)}"
    return Owner(preset.key, command, fingerprint(decoder), decoder.shape.hidden, decoder.vocab_size)
