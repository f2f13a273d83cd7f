"""A system that the package does not have: a level with a key of its own, a note on its drafts, and a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar import LevelSpec
from hsd_core.grammar.key import Whole
from hsd_core.grammar.keys import VERIFIES
from hsd_core.grammar.kind import Colour, Kind, KindText, Look, Placement, Site

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("echo of the text")]


def build(spec: LevelSpec, site: Site) -> Level:
    from hsd_core.systems.echo.echo_level import EchoLevel

    return EchoLevel(site.tokenizer.vocab_size, spec[BACK])


BACK = Whole(name="back", low=1, high=9, usual=1, tip="how many tokens it looks back")
KINDS = (
    Kind(
        name="echo",
        order=15,
        look=Look("Y", Colour("#336699", "#99CCFF", 68), "wavy"),
        text=KindText(title="echo", about="It repeats what stood before.", help="@back= says how many tokens before."),
        keys=(*VERIFIES, BACK),
        placement=Placement(block=3, cheap=True),
        offer=offer,
        build=build,
    ),
)
