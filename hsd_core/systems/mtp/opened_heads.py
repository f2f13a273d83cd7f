"""Opening the heads for multi-token prediction of a target's checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hsd_core.models.drafts.public_draft import Checkpoint
from hsd_core.models.loading import opened_weights, read_config
from hsd_core.systems.mtp.chain_run import ChainMtp
from hsd_core.systems.mtp.lean_mtp import LeanMtp
from hsd_core.systems.mtp.mtp_names import heads_in
from hsd_core.systems.mtp.whole_mtp import WholeMtp, open_whole

if TYPE_CHECKING:
    from hsd_core.models.drafts.public_draft import Over


def open_heads(folder: Path, name: str, over: Over) -> LeanMtp | WholeMtp | ChainMtp | None:
    """The heads in the folder of a target, over its decoder; None if there are none.

    Raises:
        DraftError: they cannot be opened; the message has the reason and the cure.
    """
    from hsd_core.models.hf import TransformersDecoder

    with opened_weights(folder) as (read, names):
        bare = {known.removeprefix("model."): known for known in names}
        if not (heads := heads_in(bare, over.layers)):
            return None
        if isinstance(over, TransformersDecoder):
            whole = open_whole(folder, name, over, heads)
            return whole[0] if len(whole) == 1 else ChainMtp(over, whole)
        given = Checkpoint(name, read_config(folder), frozenset(bare), over, name, lambda one: read(bare[one]))
        lean = [LeanMtp(given, one) for one in heads]
        return lean[0] if len(lean) == 1 else ChainMtp(over, lean)
