"""Any model as a target: a preset made of what its weights say, and of no measurement.

What is not known before the weights are here (how many layers, whether they can be read one by one) is left open, and
filled in by `with_config` once they are. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hsd_core.grammar import kind_of
from hsd_core.grammar.keys import ID
from hsd_core.grammar.kind import LAST
from hsd_core.grammar.preset import Example, Preset, Stranger
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.drafts.known_drafts import LENS
from hsd_core.models.lean.shape import LeanShape, refuse_no_rollback
from hsd_core.models.loading import read_config
from hsd_core.models.local import local_source
from hsd_core.models.weights import Source, is_local, local_config, local_folder
from hsd_core.stacks.presets import PRESETS, preset_of

_NOTE = "any target: nothing was trained or measured for it"
_PAIR, _CROSSED = "model:4,target", "cross:4,target"
_PLAIN = Example("plain", "Plain decoding", "target", "one token per pass")


class Config(NamedTuple):
    """What a model's config.json says of it: layers (0: nothing), and as of `Preset`, `refused` and `whole`."""

    layers: int = 0
    refused: str = ""
    whole: str = ""


def target_preset(target: str, draft: str | None = None, *, models: Path | None = None) -> Preset:
    """A preset over any target, and perhaps a smaller model of its family.

    Args:
        target, draft: a Hub id, a folder, a .gguf file, or the name of a model in the folder `models`.
    Raises:
        WeightsError: there is no such model.
    """
    return with_cross_draft(with_config(unread_preset(target, draft, models=models)))


def unread_preset(target: str, draft: str | None = None, *, models: Path | None = None) -> Preset:
    """The same before its config is read, which is a file on a disk."""
    source = source_of(target, models)
    name = source.id if source.kind == "hub" else source.title
    drafts = (source_of(draft, models),) if draft else ()
    pair = (Example("pair", "Two models", _PAIR, f"{drafts[0].title} drafts"),) if drafts else ()
    return Preset(
        name=f"{name}-folder" if name in PRESETS else name,
        title=source.title,
        default_stack=_PAIR if drafts else "ngram:3,target",
        licence="",
        note=_NOTE,
        target=source,
        drafts=drafts,
        stacks=(Example("lookup", "Lookups", "ngram:3,target", "what the text itself has said before"), *pair, _PLAIN),
    )


def preset_option(preset: Preset | str) -> str:
    """What a command line calls a preset: `--preset NAME`, or `--target ID`. Of a name alone: as a visitor may see it,
    who knows no folders."""
    name = preset if isinstance(preset, str) else preset.name
    if name in PRESETS:
        return f"--preset {name}"
    if isinstance(preset, str):
        return f"--target {name if '/' in name else 'FOLDER'}"
    return " ".join((f"--target {preset.target.id}", *(f"--draft {draft.id}" for draft in preset.drafts[:1])))


def preset_chosen(
    preset: str, *, target: str | None = None, draft: str | None = None, stack: str | None = None
) -> Preset:
    """The preset that a command line means: the one over a target that it names, itself or in a stack, else `preset`.

    Args:
        draft: what the level `model` is where it names nothing.
    Raises:
        UnknownPreset, StackError: bad names. WeightsError: there is no such model.
    """
    if target:
        over = target_preset(target, draft)
        if preset_for(over, stack) is not over:
            raise StackError(f"the target is {target!r} and the stack names another; name one of them")
        return over
    own = preset_of(preset)
    if (over := preset_for(own, stack)) is own and own.toy and draft:
        raise StackError(f"preset {own.name} has no weights, so none can draft for it; leave the draft {draft!r} out")
    return with_cross_draft(replace(over, drafts=(source_of(draft), *over.drafts))) if draft else over


def preset_for(preset: str | Preset, stack: str | None, models: Path | None = None) -> Preset:
    """The preset that a stack runs over: another target's where the stack names one.

    Raises:
        UnknownPreset, StackError: bad names. WeightsError: there is no such model.
    """
    own = preset_of(preset) if isinstance(preset, str) else preset
    last = parse(stack)[-1] if stack else None
    named = last.get(ID) if last and kind_of(last).placement.stands == LAST else None
    if named is None or named == own.name or source_of(named, models) == own.target:
        return own
    return target_preset(named, models=models)


def source_of(name: str, models: Path | None = None) -> Source:
    """The weights that a name stands for; see `target_preset`.

    Raises:
        WeightsError: it stands for none.
    """
    return local_source(name, models) or Source.parse(name)


def weights_named(preset: Preset, name: str, models: Path | None = None) -> Source:
    """The weights that a level of a preset names: one of the preset's own, another preset's target, or any others.

    Raises:
        WeightsError: the name stands for none.
    """
    own = {one.name: one.source for one in preset.strangers} | {source.id: source for source in preset.drafts}
    if name in own:
        return own[name]
    if name in PRESETS and not PRESETS[name].toy:
        return PRESETS[name].target
    return source_of(name, models)


def with_config(preset: Preset) -> Preset:
    """The same preset with what its target's config says, where that is here and was not known."""
    if preset.layers or preset.toy or (folder := local_config(preset.target)) is None:
        return preset
    said = config_of(folder)
    shown = [*preset.stacks]
    if said.layers > 3 and not said.whole:
        low, high = max(1, said.layers // 8), max(2, said.layers // 4)
        exits = f"exit:2@at={low}@id={LENS},exit:4@at={high}@id={LENS},target"
        shown.insert(1, Example("exits", "Early exits", exits, "the target's first layers, by its own head"))
    if not said.whole:
        copy = Example("copy", "A copy checks", "ngram:3,int8:6,target", "lookups, checked by the target in 8 bits")
        shown.insert(1, copy)
    gpu = None if said.whole or preset.drafts else "ngram:3,int4:6,target"  # a copy that a GPU has a kernel for
    return replace(
        preset, layers=said.layers, refused=said.refused, whole=said.whole, stacks=tuple(shown), gpu_stack=gpu
    )


def with_cross_draft(preset: Preset) -> Preset:
    """The same preset; where its draft turns out to have another tokenizer, it drafts as `cross`. Both have to be here
    to be compared."""
    draft, target = preset.draft and local_folder(preset.draft), local_folder(preset.target)
    if preset.toy or preset.draft is None or not draft or not target or not _other_words(draft, target):
        return preset
    stranger = Stranger(preset.draft.id, preset.draft)
    said = replace(preset, drafts=preset.drafts[1:], strangers=(stranger, *preset.strangers))
    if preset.name in PRESETS:  # whose stacks name its own draft
        return said
    stacks = tuple(replace(one, stack=one.stack.replace(_PAIR, _CROSSED)) for one in preset.stacks)
    return replace(said, default_stack=preset.default_stack.replace(_PAIR, _CROSSED), stacks=stacks)


def _other_words(draft: Path, target: Path) -> bool:
    from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences

    try:
        one, other = Tokenizer(draft), Tokenizer(target)
    except TokenizerError:
        return False  # which is refused, with the reason, where it is opened
    try:
        special_differences(one, other)
    except TokenizerError:
        return True
    return False


def config_of(folder: Path) -> Config:
    """What the config.json in a folder says; read again when it changes."""
    path = folder / "config.json"
    return _read(folder, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=64)
def _read(folder: Path, changed: int) -> Config:
    try:
        config = read_config(folder)
        refuse_no_rollback(config)
    except DecoderError as error:
        return Config(refused=str(error))
    try:
        return Config(LeanShape.from_config(config).layers)
    except DecoderError as error:
        return Config(_layers(config), whole=f"the target runs whole, through transformers: {error}")


def _layers(config: dict[str, Any]) -> int:
    text = config.get("text_config") or config
    return next((int(text[key]) for key in ("num_hidden_layers", "n_layer", "num_layers") if text.get(key)), 0)


def missing_weights(preset: str | Preset, stacks: Sequence[str], *, models: Path | None = None) -> list[Source]:
    """The weights that stacks of a preset read and that are not on the disk, each once, the target's first.

    Args:
        models: a folder whose models may be named.
    Raises:
        UnknownPreset, StackError, WeightsError: as in `Pipeline.open`.
    """
    wanted = [source for stack in stacks for source in _weights_read(preset, stack, models)]
    return [source for source in dict.fromkeys(wanted) if not is_local(source)]


def _weights_read(asked: str | Preset, stack: str, models: Path | None) -> Iterator[Source]:
    preset = preset_for(asked, stack, models)
    if preset.toy:
        return
    yield preset.target
    for spec in parse(stack):
        if (own := kind_of(spec).shares.own) is not None:
            named = spec.get(ID)
            found = weights_named(preset, named, models) if named else own(preset)
            if found is not None:
                yield found
