"""A function from prefix to probabilities, without weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.levels.kinds.keys import ID, VERIFIES
from hsd_core.levels.kinds.kind import ANYWHERE, YELLOW, Kind, Site
from hsd_core.levels.kinds.spec import LevelSpec, StackError
from hsd_core.levels.toy import ORDERS, toy_level

if TYPE_CHECKING:
    from hsd_core.levels.protocol import Level
    from hsd_core.stacks.presets import Preset


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(f"character table, {order}", params={"id": order}) for order in ORDERS]


def build(spec: LevelSpec, site: Site) -> Level:
    if spec.id not in ORDERS:
        raise StackError(f"table@id={spec.id} is unknown; ids are {', '.join(ORDERS)}")
    return toy_level(spec.id)


KINDS = (
    Kind(
        name="table",
        order=70,
        title="table",
        about="A table of characters: the real engine without a model.",
        help="@id= says how many characters it looks back over: order1, order3 or order6.",
        letter="M",
        colour=YELLOW,
        underline="thick",
        keys=(*VERIFIES, ID),
        labelled=("tower",),
        stands=ANYWHERE,
        offer=offer,
        build=build,
    ),
)
