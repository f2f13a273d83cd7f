"""A public EAGLE-3 drafter over the target that it was trained for (Li et al. 2025, arXiv 2503.01840)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.keys import ID, VERIFIES
from hsd_core.grammar.kind import SKY, Kind, KindText, Look, NameForms, OwnModel, Placement, Reads, Shares, Site
from hsd_core.systems.eagle3.eagle3_config import is_eagle3

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.draft_level import DraftLevel


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    reason = "name a drafter that was trained for this target: eagle3@id=HUB-OR-FOLDER"
    return [kind.entry("EAGLE-3 drafter", reason=reason)]


def build(spec: LevelSpec, site: Site) -> DraftLevel:
    from hsd_core.levels.draft_level import DraftLevel
    from hsd_core.levels.opened_drafts import drafter_of
    from hsd_core.systems.eagle3.eagle3_draft import open_eagle3

    decoder, draft, weights = drafter_of(spec, site, open_eagle3)
    of, label = draft.of or site.preset.target.title, f"EAGLE-3, {len(draft.ids):,} ids"
    return DraftLevel(decoder, draft, name=spec.name, label=label, weights=weights, embeds=draft, more={"of": of})


KIND = Kind(
    name="eagle3",
    order=21,
    look=Look("G", SKY, "dotted"),
    text=KindText(
        title="EAGLE-3 drafter",
        about="A public one-layer draft that reads three of the target's layers.",
        help="@id= names its checkpoint: a Hub id or a folder. It has to be trained for this target.",
        in_names=NameForms(("[an ]EAGLE-3 drafter",)),
    ),
    keys=(*VERIFIES, ID),
    placement=Placement(block=4, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(
        reads=Reads(depth=0),
        whole=True,
        of_target=lambda spec: True,
        own=OwnModel(tokenizer="none", takes=is_eagle3),
    ),
    offer=offer,
    build=build,
)
KINDS = (KIND,)
