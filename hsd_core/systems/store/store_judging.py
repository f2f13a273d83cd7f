"""What a store is worth: the perplexity of places of its text that it does not hold, with shares of it and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from hsd_core.levels.trunk import Layered
from hsd_core.models.database_file import Text
from hsd_core.models.one_pass import Pass
from hsd_core.systems.store.mixture import directions_of
from hsd_core.systems.store.neighbours import Store, mixed
from hsd_core.systems.store.store_making import WARM, windows_of

WINDOWS = 12
SHARES = (0.0, 0.1, 0.25, 0.5)


def held_out(text: Text, asked: int, count: int = WINDOWS, seed: int = 0) -> list[tuple[int, int]]:
    """Some windows that a store of `asked` places does not hold.

    Raises:
        ValueError: it holds all of the text.
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
    """How many tokens were looked at, and their perplexity by the store's share; 0: the model alone."""
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
