"""Heads over the target's last state, one for each of the next tokens (Medusa: Cai et al. 2024, arXiv 2401.10774)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import FUSE, GROW, ID, POLICY, REPLACE, TREE
from hsd_core.grammar.kind import (
    SKY,
    Kind,
    KindText,
    Look,
    NameForms,
    Placement,
    Planning,
    Reads,
    Shares,
    Site,
    Unplanned,
)
from hsd_core.models.drafts import known_drafts
from hsd_core.models.drafts.draft_file import DraftForm, DraftInfo, named

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.systems.medusa.compiled_heads import CompiledHeads
    from hsd_core.systems.medusa.lean_heads import DraftHeads
    from hsd_core.systems.medusa.medusa_level import Heads, MedusaLevel

HEADS = ("read", "gate_up", "down")  # products of a head


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    found = [
        {"name": draft.name, "title": f"{draft.ahead} heads", "fed": True}
        for draft in known_drafts.shipped(preset.name)
        if draft.heads
    ]
    reason = preset.whole or ("" if found else "no heads were trained for this preset's target")
    return [kind.entry("Medusa heads", reason=reason, drafts=found)]


def build(spec: LevelSpec, site: Site) -> MedusaLevel:
    from hsd_core.levels.opened_drafts import draft_of
    from hsd_core.systems.medusa.medusa_level import MedusaLevel

    decoder = site.layered(spec)
    heads = cast("Heads | None", draft_of(spec, site, decoder))
    if heads is None:
        cure = "train some with --recipe medusa, and write medusa@id=FILE"
        raise StackError(f"preset {site.preset.name} ships no trained heads; {cure}")
    return MedusaLevel(decoder, heads, weights={**site.preset.target.as_dict(site.folder), "draft": heads.name})


KIND = Kind(
    name="medusa",
    order=22,
    look=Look("H", SKY, "double"),
    text=KindText(
        title="Medusa heads",
        about="Trained heads over the target's last hidden state, each for a token further on.",
        help="One small pass says all tokens of a draft, none of which has read the others, so a tree (@tree=) gains "
        "most. @id= names the heads.",
        in_names=NameForms(("Medusa heads", "Medusa")),
    ),
    keys=(POLICY, TREE, GROW, REPLACE, FUSE, ID),
    placement=Placement(block=3, verifies=False, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=0), of_target=lambda spec: True, draft=lambda draft: {} if draft.heads else None),
    planning=Planning(
        unplanned=lambda spec: Unplanned(
            "Medusa's heads, whose draft costs the same however long it is",
            "a draft of Medusa's heads costs the same however long it is; calibrate a nano or an exit",
        )
    ),
    offer=offer,
    build=build,
)
KINDS = (KIND,)


def tensors(info: DraftInfo) -> set[str]:
    return set().union(*(named(f"heads.{i}.", HEADS, ("mlp_norm", "norm")) for i in range(info.ahead)))


def open_heads(
    info: DraftInfo, given: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder
) -> DraftHeads | CompiledHeads:
    from hsd_core.models.lean.decoder import LeanDecoder

    if isinstance(decoder, LeanDecoder):
        from hsd_core.systems.medusa.lean_heads import DraftHeads

        return DraftHeads(info, given, decoder)
    from hsd_core.systems.medusa.compiled_heads import CompiledHeads

    return CompiledHeads(info, given, decoder)


DRAFT_FORMS = (DraftForm(lambda info: info.heads, tensors, open_heads),)
