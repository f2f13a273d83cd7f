"""Building a store, and judging it.

The target reads windows of a text, and every place of them becomes a key. Windows are spread evenly over the text and
stay within its documents. The first `WARM` places of a window are not kept, as their states have too little context.
Finished parts are stored next to the store, so that a stopped call resumes; another target, text or size starts again.

A store is judged by the perplexity of parts of its text that it does not hold, with shares of it and without.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from hsd_core.levels.trunk import Layered
from hsd_core.models.database_file import Text
from hsd_core.models.one_pass import Pass
from hsd_core.systems.store.mixture import directions_of, keys_of
from hsd_core.systems.store.neighbours import Store, mixed
from hsd_core.systems.store.store_file import Owner, write_store

WINDOW = 256  # ids that are read at once
WARM = 32  # ids at a window's start that give no key
PART = 16  # windows in a part
DEFAULT_PLACES = 24_000
Progress = Callable[[str, float, float], None]


class Stopped(Exception):
    """`stop` ended the building; finished parts are kept."""


def windows_of(text: Text, places: int) -> list[tuple[int, int]]:
    """Windows [start, end) with about `places` places; the last id of a window is only a value."""
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
    """Build a target's store and write it; returns its number of places.

    Args:
        path: of the store; parts are stored next to it until it is complete.
    Raises:
        ValueError: the text is of another vocabulary, or too short.
        Stopped: `stop`, called between windows, returned True.
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
            shutil.rmtree(other)  # parts of another store
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


WINDOWS = 12
SHARES = (0.0, 0.1, 0.25, 0.5)


def held_out(text: Text, asked: int, count: int = WINDOWS, seed: int = 0) -> list[tuple[int, int]]:
    """Some windows that are not in a store of `asked` places.

    Raises:
        ValueError: the store has all windows of the text.
    """
    taken = set(windows_of(text, asked))
    left = [window for window in windows_of(text, 10**9) if window not in taken]
    if not left:
        raise ValueError("the store holds all windows of its text, so none is left to judge it by; make a smaller one")
    chosen = np.random.default_rng(seed).choice(len(left), min(count, len(left)), replace=False)
    return [left[int(i)] for i in chosen]


@torch.inference_mode()
def judged(
    decoder: Layered,
    text: Text,
    store: Store,
    windows: Sequence[tuple[int, int]],
    *,
    near: int,
    heat: float,
    shares: Sequence[float] = SHARES,
    progress: Callable[[str, float, float], None] = lambda stage, done, total: None,
) -> tuple[int, dict[float, float]]:
    """The number of tokens judged, and their perplexity by the store's share; 0: the model alone."""
    losses: dict[float, list[Tensor]] = {share: [] for share in shares}
    for done, (lo, hi) in enumerate(windows):
        progress("judging", done, len(windows))
        ids = text.tokens[lo:hi].astype(np.int64).tolist()
        given = Pass(ids[:-1], wanted=0)
        states = decoder.forward_layers(given, decoder.new_cache(len(ids)), 0, decoder.layers)[WARM:]
        true = torch.tensor(ids[WARM + 1 :], device=states.device)[:, None]
        logits, found = decoder.head(states), store.nearest(directions_of(decoder, states).cpu(), near)
        for share in shares:
            row = mixed(logits.clone(), found, mix=share, heat=heat)
            losses[share].append(-row.gather(1, true)[:, 0])
    progress("judging", len(windows), len(windows))
    whole = {share: torch.cat(some) for share, some in losses.items()}
    return len(whole[shares[0]]), {share: float(loss.mean().exp()) for share, loss in whole.items()}
