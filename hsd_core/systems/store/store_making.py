"""Making a store: the target reads windows of a text, and every place of them becomes a key.

Windows lie evenly in the text, within its documents. The first `WARM` places of a window are read and not kept: their
states know too little of what stands before. What is done lies in parts beside the store, so that a call that was
stopped goes on where it ended; another target, text or size begins anew.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from hsd_core.levels.trunk import Layered
from hsd_core.models.database_file import Text
from hsd_core.systems.store.mixture import keys_of
from hsd_core.systems.store.store_file import Owner, write_store

WINDOW = 256  # ids that are read at once
WARM = 32  # of them, those at the beginning that give no key
PART = 16  # windows that are kept together
DEFAULT_PLACES = 24_000
Progress = Callable[[str, float, float], None]


class Stopped(Exception):
    """Somebody asked the making to stop; what is done lies there."""


def windows_of(text: Text, places: int) -> list[tuple[int, int]]:
    """Windows [start, end) that give about so many places: the last id of each is a value alone."""
    ends = np.flatnonzero(text.tokens == text.vocab_size)
    whole: list[tuple[int, int]] = []
    for start, end in zip([0, *(ends + 1)], [*ends, len(text.tokens)], strict=True):
        at = range(int(start), int(end) - WARM - 1, WINDOW - WARM)
        whole += [(lo, min(lo + WINDOW + 1, int(end))) for lo in at]
    wanted = max(1, round(places / (WINDOW - WARM)))
    if wanted >= len(whole):
        return whole
    return [whole[int(i)] for i in np.linspace(0, len(whole) - 1, wanted)]


def make_store(
    decoder: Layered,
    text: Text,
    owner: Owner,
    path: Path,
    *,
    places: int = DEFAULT_PLACES,
    source: str = "",
    progress: Progress = lambda stage, done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Make a target's store and write it; returns how many places it holds.

    Args:
        path: of the store; parts lie beside it until it is whole.
    Raises:
        ValueError: the text is another vocabulary's, or too short. Stopped: `stop`, asked between windows, turned true.
    """
    if text.vocab_size > owner.vocab_size:
        raise ValueError(f"the text has a vocabulary of {text.vocab_size} ids, the target of {owner.vocab_size}")
    windows = windows_of(text, places)
    if not windows:
        raise ValueError(f"the text has {len(text.tokens)} ids, too few for a window; give a longer one")
    task = hashlib.sha256(f"{owner.fingerprint} {text.tokens.tobytes().hex()} {windows}".encode()).hexdigest()[:12]
    folder = path.with_suffix(f".{task}")
    for other in path.parent.glob(f"{path.stem}.*"):
        if other.is_dir() and other != folder:
            shutil.rmtree(other)  # of another making
    folder.mkdir(parents=True, exist_ok=True)
    parts = list(_parts(decoder, text, windows, folder, progress, stop))
    keys, values = (torch.cat(column) for column in zip(*parts, strict=True))
    digest = hashlib.sha256(keys.half().numpy().tobytes() + values.int().numpy().tobytes()).hexdigest()[:16]
    about = {"fingerprint": owner.fingerprint, "digest": digest, "source": source, "asked": str(places)}
    write_store(path, keys, values, about)
    shutil.rmtree(folder)
    return len(values)


def _parts(
    decoder: Layered,
    text: Text,
    windows: Sequence[tuple[int, int]],
    folder: Path,
    progress: Progress,
    stop: Callable[[], bool],
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    from safetensors.torch import load_file, save_file

    for first in range(0, len(windows), PART):
        path = folder / f"{first:06}.safetensors"
        if not path.is_file():
            keys, values = list[torch.Tensor](), list[torch.Tensor]()
            for done, (lo, hi) in enumerate(windows[first : first + PART], first):
                if stop():
                    raise Stopped
                progress("store", done, len(windows))
                ids = text.tokens[lo:hi].astype(np.int64)
                keys.append(keys_of(decoder, ids[:-1].tolist())[WARM:].half())
                values.append(torch.from_numpy(ids[1 + WARM :].astype(np.int32)))
            part = path.with_suffix(".partial")
            save_file({"keys": torch.cat(keys), "values": torch.cat(values)}, part)
            part.replace(path)
        found = load_file(path)
        yield found["keys"], found["values"]
    progress("store", len(windows), len(windows))
