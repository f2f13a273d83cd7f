"""A masked draft: a block of cells filled in one pass (SpecDiff), or a path through their candidates (DiffuSpec)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hsd_core.grammar.key import DRAFTER, Choice, StackError, Switch, Whole
from hsd_core.grammar.keys import ID, POLICY
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
from hsd_core.models.drafts.draft_file import LAYERS, DraftForm, DraftInfo

if TYPE_CHECKING:
    from torch import Tensor

    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.lean.decoder import LeanDecoder
    from hsd_core.systems.masked.lattice import Trigrams
    from hsd_core.systems.masked.masked_draft import MaskedDraft
    from hsd_core.systems.masked.masked_level import MaskedLevel

FILL = Choice(
    name="fill",
    place=8,
    counts=DRAFTER,
    usual="drawn",
    choices=("drawn", "surest", "searched"),
    words={
        "drawn": "drawn · from the left",
        "surest": "surest cells first · likeliest tokens",
        "searched": "searched · the line that reads best (DiffuSpec)",
    },
    terms={"surest": "surest first", "searched": "a searched line"},
    noted="{}",
    tip="how the cells of a block are filled; what is not drawn is offered as a certainty",
)
PASSES = Whole(
    name="passes",
    place=9,
    counts=DRAFTER,
    usual=1,
    low=1,
    high=8,
    noted="{} passes",
    tip="passes over a block; each fills a part of its cells",
)
RECENT = Switch(
    name="recent",
    place=9,
    counts=DRAFTER,
    usual=False,
    label="adaptive length",
    terms={"1": "adaptive length"},
    noted="{}",
    tip="whether the length of a draft follows what was kept of the last ones (DiffuSpec)",
)


def fills(info: DraftInfo) -> bool:
    """Whether a draft says several tokens in one pass of one layer, over the target's last states."""
    return not info.at and info.layers == 1 and info.fed and info.ahead > 1 and not (info.joins or info.gated)


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    found = [
        {"name": draft.name, "title": f"a block of {draft.ahead}", "fed": True}
        for draft in known_drafts.shipped(preset.name)
        if fills(draft)
    ]
    reason = preset.whole or ("" if found else "no masked draft was trained for this preset's target")
    return [kind.entry("masked draft", reason=reason, drafts=found)]


def build(spec: LevelSpec, site: Site) -> MaskedLevel:
    from hsd_core.levels.opened_drafts import draft_of
    from hsd_core.systems.masked.masked_level import Filling, MaskedLevel

    decoder, path, passes = site.layered(spec), spec[FILL], spec[PASSES]
    draft = cast("MaskedDraft | None", draft_of(spec, site, decoder, (FILLS,)))
    if draft is None:
        cure = "train one with --recipe masked, and write masked@id=FILE"
        raise StackError(f"preset {site.preset.name} ships no masked draft; {cure}")
    if path == "searched" and passes > 1:
        raise StackError(f"{spec.name}: a search reads the rows of one pass; leave @passes={passes} out")
    text = counts(site) if path == "searched" else None
    weights = {**site.preset.target.as_dict(site.folder), "draft": draft.name}
    how = Filling(path, passes, bool(spec[RECENT]), text=text)
    return MaskedLevel(decoder, draft, how, block=spec.block or KIND.placement.block, weights=weights)


def counts(site: Site) -> Trigrams:
    """The n-grams of the preset's general text; of no text if it ships none.

    Raises:
        StackError: its file is damaged, or of another tokenizer.
    """
    import numpy as np

    from hsd_core.models import database_file
    from hsd_core.systems.masked.lattice import Trigrams

    vocab, path = site.tokenizer.vocab_size, site.preset.text_db
    if path is None:
        return Trigrams(np.zeros(0, np.int64), vocab)
    try:
        text = database_file.load_text(path, tokenizer=site.tokenizer.digest)
    except database_file.NgramError as error:
        raise StackError(f"masked: {error}") from error
    return Trigrams(text.tokens, vocab)


KIND = Kind(
    name="masked",
    order=24,
    look=Look("B", SKY, "solid"),
    text=KindText(
        title="masked draft",
        about="A trained draft that fills a block of masks at once, in one small pass.",
        help="@fill=surest fills the surest cells first, over @passes=; @fill=searched offers the line that reads best "
        "from left to right (DiffuSpec). Both are offered as certainties. @recent=1 lets the length follow what was "
        "kept. @id= names the draft.",
        in_names=NameForms(("[a ]masked draft",)),
    ),
    keys=(POLICY, FILL, PASSES, RECENT, ID),
    placement=Placement(block=4, verifies=False, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=0), of_target=lambda spec: True, draft=lambda draft: {} if fills(draft) else None),
    planning=Planning(
        unplanned=lambda spec: Unplanned(
            "a masked draft, which costs the same however long it is",
            "a draft that fills a block of masks costs the same however long it is; calibrate a nano or an exit",
        )
    ),
    offer=offer,
    build=build,
)
KINDS = (KIND,)


def open_masked(info: DraftInfo, given: dict[str, Tensor], decoder: LeanDecoder | CompiledDecoder) -> MaskedDraft:
    from hsd_core.systems.masked.masked_draft import MaskedDraft

    return MaskedDraft(info, given, decoder)


FILLS = DraftForm(fills, LAYERS.tensors, open_masked)  # also one whose tokens do not see later ones
DRAFT_FORMS = (DraftForm(lambda info: info.masked, LAYERS.tensors, open_masked, fills),)
