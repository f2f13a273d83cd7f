"""A store as a file in the cache folder: safetensors, its keys in float16, the target that it belongs to in its header.

A store is made on a machine (`python -m hsd_core knn-store`) and never shipped: it holds what the target made of a
text, place by place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hsd_core.systems.store.neighbours import Store
from hsd_core.systems.store.store_place import MAKING, store_path

FORMAT = "hsd-knn/1"


class StoreError(ValueError):
    """A store that is not there, or not this target's; the message names the command that makes it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose store it is. preset_key: of the file's name. command: that makes it. fingerprint: of the target's last
    norm (`drafts.draft_file.fingerprint`). hidden, vocab_size: of the target."""

    preset_key: str
    command: str
    fingerprint: str
    hidden: int
    vocab_size: int


def write_store(path: Path, keys: Tensor, values: Tensor, about: Mapping[str, str]) -> None:
    """Write a store whole or not at all."""
    from safetensors.torch import save_file

    partial = path.with_suffix(".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {"keys": keys.half().contiguous(), "values": values.int().contiguous()}
    save_file(tensors, partial, {"format": FORMAT, **about})
    partial.replace(path)


def read_store(owner: Owner, path: Path | None = None) -> Store:
    """The store of a target, in float32: a CPU has no quick product in half precision.

    Raises:
        StoreError: there is none, it is damaged, or another target's.
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
