"""Heads for multi-token prediction in the target's own checkpoint (DeepSeek-V3, arXiv 2412.19437, section 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hsd_core.grammar.key import StackError
from hsd_core.grammar.keys import VERIFIES
from hsd_core.grammar.kind import SKY, Kind, KindText, Look, NameForms, Placement, Reads, Shares, Site
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.loading import read_config
from hsd_core.models.weights import local_config
from hsd_core.systems.mtp.mtp_names import has_heads

if TYPE_CHECKING:
    from hsd_core.grammar.preset import Preset
    from hsd_core.grammar.spec import LevelSpec
    from hsd_core.levels.draft_level import DraftLevel

LACKS = "this target's checkpoint has no head for multi-token prediction (num_nextn_predict_layers in its config.json)"


def offer(kind: Kind, preset: Preset) -> list[dict[str, Any]]:
    try:
        folder = local_config(preset.target)
        found = folder is not None and has_heads(read_config(folder))
    except DecoderError:
        found = False
    return [kind.entry("MTP head", reason="" if found else LACKS)]


def build(spec: LevelSpec, site: Site) -> DraftLevel:
    from hsd_core.levels.building import split_layers
    from hsd_core.levels.draft_level import DraftLevel
    from hsd_core.levels.opened_drafts import target_of
    from hsd_core.systems.mtp.opened_heads import open_heads

    decoder, title = target_of(spec, site), site.preset.target.title
    try:
        split_layers(decoder, [decoder.layers])
        draft = site.opened(decoder, spec.name, lambda: open_heads(site.folder, title, decoder))
    except ValueError as error:
        raise StackError(f"{spec.name}: {error}") from error
    if draft is None:
        raise StackError(f"{spec.name}: {LACKS}")
    count = draft.layers
    weights = {**site.preset.target.as_dict(site.folder), "draft": draft.name}
    return DraftLevel(decoder, draft, name=spec.name, label=f"MTP, {count} head{'s' * (count > 1)}", weights=weights)


KIND = Kind(
    name="mtp",
    order=24,
    look=Look("P", SKY, "thick"),
    text=KindText(
        title="MTP head",
        about="The layer of the target's own checkpoint that was trained to predict one token further.",
        help="It reads the target's last state and the next token, and is applied again to its own state for more.",
        in_names=NameForms(("[an ]MTP head",)),
    ),
    keys=VERIFIES,
    placement=Placement(block=2, cheap=True, needs=frozenset({"weights"})),
    shares=Shares(reads=Reads(depth=0), whole=True, of_target=lambda spec: True),
    offer=offer,
    build=build,
)
KINDS = (KIND,)
