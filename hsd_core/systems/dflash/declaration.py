"""A public DFlash drafter over the target that it was trained for (arXiv 2602.06036)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.keys import FUSE, GROW, ID, POLICY, REPLACE, TREE
from hsd_core.grammar.kind import (
    SKY,
    Kind,
    KindText,
    Look,
    NameForms,
    OwnModel,
    Placement,
    Planning,
    Reads,
    Shares,
    Site,
    Unplanned,
)
from hsd_core.systems.dflash.dflash_config import is_dflash

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.dflash.dflash_level import DFlashLevel


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    reason = "name a drafter that was trained for this target: dflash@id=HUB-OR-FOLDER"
    return [kind.entry("DFlash drafter", reason=reason)]


def build(spec: LevelSpec, site: Site) -> DFlashLevel:
    from hsd_core.levels.opened_drafts import drafter_of
    from hsd_core.systems.dflash.dflash_draft import open_dflash
    from hsd_core.systems.dflash.dflash_level import DFlashLevel

    decoder, draft, weights = drafter_of(spec, site, open_dflash)
    return DFlashLevel(decoder, draft, weights=weights)


KIND = Kind(
    name="dflash",
    order=23,
    look=Look("F", SKY, "wavy"),
    text=KindText(
        title="DFlash drafter",
        about="A public draft that fills a block of masks in one pass, from states of several of the target's layers.",
        help="@id= names its checkpoint: a Hub id or a folder. It has to be trained for this target.",
        in_names=NameForms(("[a ]DFlash drafter",)),
    ),
    keys=(POLICY, TREE, GROW, REPLACE, FUSE, ID),
    placement=Placement(block=7, verifies=False, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(
        reads=Reads(depth=0),
        whole=True,
        of_target=lambda spec: True,
        own=OwnModel(tokenizer="none", takes=is_dflash),
    ),
    planning=Planning(
        unplanned=lambda spec: Unplanned(
            "DFlash, whose draft costs the same however long it is",
            "a draft of DFlash costs the same however long it is; calibrate a draft that goes token by token",
        )
    ),
    offer=offer,
    build=build,
)
KINDS = (KIND,)
