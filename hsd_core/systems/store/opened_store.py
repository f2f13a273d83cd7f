"""The store of a preset's target, opened beside the target's decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_core.grammar.key import StackError
from hsd_core.levels.opened_drafts import opens_drafts
from hsd_core.models.drafts.draft_file import fingerprint
from hsd_core.stacks.targets import preset_option
from hsd_core.systems.store.store_file import Owner, StoreError, read_store
from hsd_core.systems.store.store_place import store_path

if TYPE_CHECKING:
    from hsd_core.grammar.kind import Site
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.decoder_protocol import Layered
    from hsd_core.systems.store.neighbours import Store


def opened_store(spec: LevelSpec, site: Site, decoder: Layered) -> Store:
    """The store of a preset's target; one that is made anew is opened anew.

    Raises:
        StackError: there is none, or it is another target's.
    """
    try:
        owner, path = owner_of(site.preset, decoder), store_path(site.preset.key)
        age = path.stat().st_mtime_ns if path.is_file() else 0
        return site.opened(decoder, ("store", path, age), lambda: read_store(owner, path))
    except StoreError as error:
        raise StackError(f"{spec.name}: {error}") from error


def owner_of(preset: Preset, decoder: Layered) -> Owner:
    """Whose a store has to be.

    Raises:
        StoreError: nobody can tell, as the decoder has no last norm of its own.
    """
    if not opens_drafts(decoder):
        raise StoreError(f"a store is made of the last states of a model that runs layer by layer, and {decoder} does")
    command = f"python -m hsd_core knn-store {preset_option(preset.name)}"
    return Owner(preset.key, command, fingerprint(decoder), decoder.shape.hidden, decoder.vocab_size)
