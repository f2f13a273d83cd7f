"""Trained drafts of levels: finding the file that a level reads, and opening it over the level's decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar, cast

from hsd_core.grammar import LevelSpec, StackError, kind_of, kinds, reads_draft
from hsd_core.grammar.keys import DEVICE, DTYPE, ID
from hsd_core.grammar.kind import Site
from hsd_core.grammar.registry import draft_forms
from hsd_core.grammar.stack_text import format_stack
from hsd_core.levels.building import split_layers
from hsd_core.levels.draft_run import TrainedDraft
from hsd_core.models.decoder_protocol import Decoder, Layered, Recording
from hsd_core.models.drafts.draft_file import DraftForm, DraftInfo, fingerprint, read_draft, read_info
from hsd_core.models.drafts.known_drafts import FOLDER, shipped
from hsd_core.models.lean.decoder import LeanDecoder

if TYPE_CHECKING:
    from hsd_core.models.compiled.decoder import CompiledDecoder
    from hsd_core.models.drafts.public_draft import Over

T = TypeVar("T", bound="PublicDraft")
WHOLE = "trained drafts read a model's layers, and this target runs through transformers"


def draft_of(spec: LevelSpec, site: Site, decoder: Layered, forms: Sequence[DraftForm] = ()) -> TrainedDraft | None:
    """The trained draft that a level reads, over its decoder; None if it names none and none is shipped for it.

    Args:
        forms: how the level opens drafts that other kinds open otherwise.
    Raises:
        StackError: there is no such draft, or it was trained for another target or depth.
    """
    try:
        path = draft_file_of(spec, site.preset.name)
        return None if path is None else _opened(site, path, decoder, tuple(forms))
    except ValueError as error:
        raise StackError(f"{_called(spec)}: {error}") from error


class PublicDraft(Protocol):
    """joined: the depths whose states it reads."""

    @property
    def joined(self) -> tuple[int, ...]: ...


def drafter_of(
    spec: LevelSpec,
    site: Site,
    opens: Callable[[Path, str, Over], T],
) -> tuple[Over, T, dict[str, object]]:
    """The target's decoder, the public drafter whose checkpoint a level names, and its weights as a trace tells them.

    Args:
        opens: opens the folder of a drafter of this name over a decoder.
    Raises:
        StackError: the level names none, or it cannot be opened over this target.
    """
    found = site.fetched(spec[ID], tokenizer=False) if spec.get(ID) else None
    if found is None:
        raise StackError(f"{spec.name}: name a drafter that was trained for this target: {spec.name}@id=HUB-OR-FOLDER")
    source, folder = found
    decoder = target_of(spec, site)
    try:
        draft = site.opened(decoder, (spec.name, folder), lambda: opens(folder, source.title, decoder))
        split_layers(decoder, draft.joined)
    except ValueError as error:
        raise StackError(f"{spec.name}: {error}") from error
    return decoder, draft, source.as_dict(folder)


def target_of(spec: LevelSpec, site: Site) -> Over:
    """The target's decoder, for a drafter that reads its states.

    Raises:
        StackError: it gives none.
    """
    decoder = site.decoder(site.folder, spec[DTYPE], spec[DEVICE], spec.name)
    if opens_drafts(decoder) or isinstance(decoder, Recording):
        return cast("Over", decoder)
    raise StackError(f"{spec.name}: {WHOLE}")


def trained(site: Site, decoder: Layered) -> list[TrainedDraft]:
    """Every shipped draft with layers that was trained for this decoder, shallowest first, without those that read the
    target's keys and values, or tokens behind: their rows do not depend on a text's states only. Those with running
    states are left out too: one more reading of every token for a draft that no depth needs."""
    if not opens_drafts(decoder):
        return []
    drafts = [
        draft
        for draft in shipped(site.preset.name)
        if not (draft.heads or draft.window or draft.masked or draft.states)
    ]
    return [_opened(site, one.path, decoder) for one in drafts if one.fingerprint == fingerprint(decoder)]


def draft_file_of(spec: LevelSpec, preset: str, folder: Path = FOLDER) -> Path | None:
    """The file of the draft that a level reads: the one that it names (a shipped draft, or a .safetensors file), else
    the first shipped one that its kind reads at this depth; None if there is neither.

    Raises:
        ValueError: there is no such draft, or another level reads it; the message names it.
    """
    drafts, name = shipped(preset, folder), spec.get(ID)
    if name is None:
        return next((draft.path for draft in drafts if reads_draft(spec, draft)), None)
    own = Path(name)
    found = next((draft for draft in drafts if draft.name == name), None)
    if found is None and own.suffix == ".safetensors" and own.is_file():
        found = read_info(own)
    if found is None:
        known = ", ".join(draft.name for draft in drafts if kind_of(spec).shares.draft(draft) is not None) or "none"
        raise ValueError(f"no draft {name!r}; those of preset {preset} are: {known}")
    if not reads_draft(spec, found):
        what = f"was trained for depth {found.at}" if found.layers else "is heads over the target's last state"
        raise ValueError(f"draft {found.name} {what}; {_cure(found, name)}")
    return found.path


def opens_drafts(decoder: Decoder) -> TypeGuard[LeanDecoder | CompiledDecoder]:
    """Whether trained drafts can be opened over a decoder."""
    if isinstance(decoder, LeanDecoder):
        return True
    if find_spec("onnxruntime") is None:
        return False
    from hsd_core.models.compiled.decoder import CompiledDecoder

    return isinstance(decoder, CompiledDecoder)


def _opened(site: Site, path: Path, decoder: Layered, forms: tuple[DraftForm, ...] = ()) -> TrainedDraft:
    if not opens_drafts(decoder):
        raise ValueError(WHOLE)
    opening = partial(read_draft, path, decoder, (*forms, *draft_forms()))
    return cast("TrainedDraft", site.opened(decoder, (forms, path) if forms else path, opening))


def _cure(draft: DraftInfo, name: str) -> str:
    for kind in kinds().values():
        if kind.written is None and (values := kind.shares.draft(draft)) is not None:
            return f"write {format_stack([LevelSpec(kind.name, None, {**values, ID.name: name})])}"
    return "no level here reads it"


def _called(spec: LevelSpec) -> str:
    """The name of a level in errors, with the depth that it reads."""
    reads = kind_of(spec).shares.reads
    depth = spec.values.get(str(reads.depth)) if reads else None
    return spec.name if depth is None else f"{spec.name} at {depth}"
