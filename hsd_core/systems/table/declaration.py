"""Levels that are functions from a prefix to probabilities, without weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import ID, VERIFIES
from hsd_core.grammar.kind import ANYWHERE, YELLOW, Kind, KindText, Look, NameForms, Placement, Site
from hsd_core.systems.table.toy import ORDERS, ToyTokenizer, toy_level

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(f"character table, {order}", params={"id": order}) for order in ORDERS]


def build(spec: LevelSpec, site: Site) -> Level:
    order = spec.get(ID)
    if order not in ORDERS:
        raise StackError(f"table@id={order} is unknown; ids are {', '.join(ORDERS)}")
    return toy_level(order)


KINDS = (
    Kind(
        name="table",
        order=70,
        look=Look("M", YELLOW, "thick"),
        text=KindText(
            title="table",
            about="A table of characters: the real engine without a model.",
            help="@id= says how many characters it looks back over: order1, order3 or order6.",
            in_names=NameForms(
                ("[a ]table of {id}", "[a ]table"),
                terms={order: f"order {order.removeprefix('order')}" for order in ORDERS},
            ),
        ),
        keys=(*VERIFIES, ID),
        placement=Placement(stands=ANYWHERE, needs=frozenset({"tables"})),
        offer=offer,
        build=build,
    ),
)

TOKENIZERS = {"tables": ToyTokenizer}  # by the kind of a preset's levels
