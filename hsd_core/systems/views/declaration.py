"""Levels that run the target's weights over a part of its cache (TriForce: Sun et al. 2024, arXiv 2404.11912)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import DRAFTER, Choice, StackError, Whole
from hsd_core.grammar.keys import DTYPE, MAX_POSITIONS, VERIFIES
from hsd_core.grammar.kind import PURPLE, Kind, KindText, Look, NameForms, Placement, Planning, Reads, Shares, Site

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.systems.views.view_level import ViewLevel

KEEP = Choice(
    name="keep",
    place=62,
    counts=DRAFTER,
    usual="chunks",
    choices=("chunks", "stream"),
    noted="{}",
    tip="which positions of the prompt the view holds: the chunks that its last token asks for, or the first and the "
    "last ones",
    words={
        "chunks": "chunks · those that the prompt\u2019s last token asks for",
        "stream": "stream · the first positions and the last",
    },
)
BUDGET = Whole(
    name="budget",
    place=63,
    counts=DRAFTER,
    unit="positions",
    low=2,
    high=MAX_POSITIONS,
    usual=1024,
    noted="{} positions",
    tip="how many positions of the target\u2019s cache the view holds, in each layer and key head",
)
CHUNK = Whole(
    name="chunk",
    place=64,
    counts=DRAFTER,
    when=(KEEP.name, ("chunks",)),
    low=1,
    high=1024,
    usual=8,
    noted="chunks of {}",
    tip="positions that are chosen together, by the mean of their keys",
)
SINK = Whole(
    name="sink",
    place=65,
    counts=DRAFTER,
    when=(KEEP.name, ("stream",)),
    low=0,
    high=1024,
    usual=16,
    noted="the first {}",
    tip="how many of the first positions are always held",
)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    return [kind.entry(kind.text.title, reason=preset.whole)]


def build_view(spec: LevelSpec, site: Site) -> ViewLevel:
    from hsd_core.systems.views.selection import Chunks, Stream
    from hsd_core.systems.views.view_level import ViewLevel

    try:
        chunks = spec[KEEP] == "chunks"
        select = Chunks(spec[BUDGET], spec[CHUNK]) if chunks else Stream(spec[BUDGET], spec[SINK])
    except ValueError as error:
        raise StackError(f"{spec.name}: {error}") from error
    return ViewLevel(site.layered(spec), select, weights=site.preset.target.as_dict(site.folder))


KIND = Kind(
    name="view",
    order=64,
    look=Look("W", PURPLE, "dashed"),
    text=KindText(
        title="view of the cache",
        about="The target's weights over a part of the target's cache, chosen once the prompt is read (TriForce).",
        help="@budget= says how many positions it holds, @keep= which: chunks, or the first and the last. It pays "
        "where the cache, not the weights, is most of what a pass reads: in long texts. @dtype=int8 runs 8-bit "
        "weights over the same cache.",
        in_names=NameForms(("[a ]view of the cache with {dtype} weights", "[a ]view of the cache")),
    ),
    keys=(*VERIFIES, KEEP, BUDGET, CHUNK, SINK, DTYPE),
    placement=Placement(block=6, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(part=True), of_target=lambda spec: True),
    planning=Planning(named=True),
    offer=offer,
    build=build_view,
)
KINDS = (KIND,)
