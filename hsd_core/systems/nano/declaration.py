"""A small trained draft over the target's token embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import StackError, Value, WeightsName
from hsd_core.grammar.keys import DEVICE, DTYPE, ID, VERIFIES
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
from hsd_core.grammar.registry import Extension, draft_forms
from hsd_core.grammar.spec import LevelSpec
from hsd_core.levels.building import split_layers
from hsd_core.models.drafts import known_drafts

if TYPE_CHECKING:
    from hsd_core.core.level import Level
    from hsd_core.grammar.preset import Preset
    from hsd_core.models.drafts.draft_file import DraftInfo
    from hsd_core.systems.nano.nano_level import NanoLevel


MISS = WeightsName(name="miss", place=60, known=("nano",))


def drafts(preset: Preset) -> list[dict[str, Any]]:
    """The preset's trained drafts that read the embeddings."""
    return [
        {"name": draft.name, "title": _title(draft), "fed": draft.follows}
        for draft in known_drafts.shipped(preset.name)
        if reads_draft(draft) is not None
    ]


def reads_draft(draft: DraftInfo) -> dict[str, Value] | None:
    own = not draft.window and not draft.states
    opens = own or any(form.takes(draft) for form in draft_forms())
    return {} if opens and not (draft.at or draft.heads or draft.masked) else None


def _title(draft: DraftInfo) -> str:
    if draft.window:
        return f"a window of {draft.window}, and the target's last keys and values"
    if draft.states:
        return "embeddings alone, with running states"
    if not draft.fed:
        return "embeddings alone"
    several = f" from {len(draft.joined)} of its layers" if draft.joined else ""
    return f"fed by the target{several}" + (f", {draft.ahead} tokens a pass" if draft.ahead > 1 else "")


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    found = drafts(preset)
    reason = preset.whole if preset.whole else "" if found else "no nano draft was trained for this preset's target"
    return [kind.entry("small draft", reason=reason, drafts=found)]


def unplanned(spec: LevelSpec) -> Unplanned | None:
    """The reason if a level's draft predicts several tokens in one pass: its cost does not depend on its length."""
    named = spec.get(ID)
    path = known_drafts.file_of(named) if named else None
    if path is None or known_drafts.ahead_of(path) < 2:
        return None
    cure = "a draft that is said in one pass costs the same however long it is; calibrate one that goes token by token"
    return Unplanned("a draft that is said in one pass", cure)


def build(spec: LevelSpec, site: Site) -> NanoLevel:
    from hsd_core.levels.opened_drafts import draft_of
    from hsd_core.systems.nano.nano_level import NanoLevel

    decoder = site.layered(spec)
    draft = draft_of(spec, site, decoder)
    if draft is None:
        raise StackError(f"preset {site.preset.name} ships no trained nano; write nano@id=FILE or leave nano out")
    if draft.joined:
        split_layers(decoder, draft.joined)
    return NanoLevel(decoder, draft, weights={**site.preset.target.as_dict(site.folder), "draft": draft.name})


KIND = Kind(
    name="nano",
    order=20,
    look=Look("D", SKY, "dashed"),
    text=KindText(
        title="small draft",
        about="A trained one- or two-layer draft over the target's embeddings.",
        help="@id= names the draft; a fed one also reads the last hidden state of the full pass above it.",
        in_names=NameForms(("[a ]small draft",)),
    ),
    keys=(*VERIFIES, ID),
    placement=Placement(block=3, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=0), of_target=lambda spec: True, draft=reads_draft),
    planning=Planning(unplanned=unplanned),
    offer=offer,
    build=build,
)
KINDS = (KIND,)


def build_behind(spec: LevelSpec, site: Site, plain: Callable[[LevelSpec, Site], Level]) -> Level:
    """Lookups, with the draft that `@miss=` names when they find nothing."""
    from hsd_core.levels.fused import Lookups, OrderedLevel

    name = None if spec[MISS] == KIND.name else spec[MISS]
    drafter = build(LevelSpec(KIND.name).having(id=name, dtype=spec.get(DTYPE), device=spec.get(DEVICE)), site)
    lookups = plain(spec, site)
    assert isinstance(lookups, Lookups)
    return OrderedLevel(lookups, drafter, drafter.draft.name)


EXTENDS = tuple(
    Extension(
        of=lookups,
        keys=(MISS,),
        build=build_behind,
        help="@miss=nano lets a small draft write where they have no answer.",
        around={MISS.name: "{level} or a small draft"},
        entry=lambda preset: {"drafts": drafts(preset)},
        of_target=True,
        unplanned=Unplanned(
            "@miss=, two drafters in one",
            f"a lookup with @miss= is two drafters in one; calibrate {lookups} and nano, each by itself",
        ),
    )
    for lookups in ("ngram", "suffix")
)
