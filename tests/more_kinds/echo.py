"""A kind of level that the package does not have: all that there is of it stands in this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar import LevelSpec
from hsd_core.grammar.key import Whole
from hsd_core.grammar.keys import VERIFIES
from hsd_core.grammar.kind import Colour, Kind, KindText, Look, Placement, Site

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry("echo of the text")]


def build(spec: LevelSpec, site: Site) -> Level:
    import torch

    from hsd_core.core.level import LevelAbout
    from hsd_core.systems.table.table_level import TableLevel

    class EchoLevel(TableLevel):
        """It expects the token that stood `back` tokens before."""

    vocabulary, back = site.tokenizer.vocab_size, spec[BACK]

    def echo(prefix: tuple[int, ...]) -> Tensor:
        row = torch.full((vocabulary,), 0.1 / vocabulary)
        row[prefix[-back] if len(prefix) >= back else 0] += 0.9
        return row

    level = EchoLevel(echo, vocabulary, name="echo", label=f"echo of {back} back")
    level.about = LevelAbout(kind="echo", label=level.about.label, params={"back": back})
    return level


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
