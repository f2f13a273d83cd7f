"""An exit that is chosen again in every round. In a stack it is an exit with `@policy=del`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hsd_core.drafts.known_drafts import LENS
from hsd_core.levels.declared.keys import FUSE, GROW, ID, POLICY, TREE
from hsd_core.levels.declared.kind import Site, Unplanned, WrittenAs
from hsd_core.levels.declared.said import Said
from hsd_core.levels.kinds import exits

if TYPE_CHECKING:
    from hsd_core.levels.declared.spec import LevelSpec
    from hsd_core.levels.protocol import Level
    from hsd_core.levels.readout import Readout


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.levels.built.choosing import ChoosingLevel
    from hsd_core.levels.readout import Lens

    decoder, deepest = exits.decoder_of(spec, site)
    found: dict[int, Readout] = {}
    if spec.get(ID) != LENS:
        found |= {draft.at: draft for draft in site.trained(decoder) if 1 <= draft.at <= deepest and not draft.fed}
    if not found:  # DEL's own setting: every layer, through the model's own head
        found = dict.fromkeys(range(1, deepest + 1), exits.lens(spec, site, decoder) or Lens(decoder))
    else:
        exits.refuse_trimmed(spec, next(iter(found.values())).name)
    exits.stop_at(decoder, found)
    return ChoosingLevel(decoder, found, weights=site.preset.target.as_dict(site.folder))


KINDS = (
    replace(
        exits.KIND,
        name="del",
        order=31,
        title="chosen exit",
        about="One of the target's exits, chosen again in every round with the length of its draft (DEL).",
        help="Written exit@at=N@policy=del: N is the deepest exit that may be chosen. It chooses among trained exits; "
        "with @id=lens, or where none is trained, among all layers up to N, read by the model's own head.",
        written=WrittenAs(
            exits.KIND.name,
            POLICY.name,
            "del",
            words="del · choose exit and length again in every round",
            wrong="policy del chooses an exit of the target right above it; write exit:6@at=8@policy=del,target",
            without={
                ID.name: "policy del chooses among all trained exits up to @at=; leave @id= out, or write @id=lens for "
                "every layer by the model's own head",
                TREE.name: "policy del drafts one candidate; leave @tree= out",
                GROW.name: "policy del drafts one candidate; leave @grow= out",
                FUSE.name: "policy del drafts one candidate; leave @fuse= out",
            },
            takes={ID.name: LENS},
        ),
        unplanned=lambda spec: Unplanned(
            "policy del, which chooses among exits",
            "policy del chooses among exits; calibrate exit@at=N, each by itself",
        ),
        offer=lambda kind, preset: [],  # the catalogue lists the exit
        build=build,
        said=Said(("an exit chosen each round",)),
    ),
)
