"""Any model as a target: a preset made from the weights alone, without measurements.

`with_config` fills in what is only known once the weights are on the disk, such as the number of layers and whether
they can run one by one. Imports no torch.
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
    """From a model's config.json: the number of layers (0 if unknown), and `refused` and `whole` as in `Preset`."""

    layers: int = 0
    refused: str = ""
    whole: str = ""


def target_preset(target: str, draft: str | None = None, *, models: Path | None = None) -> Preset:
    """A preset for any target, optionally with a smaller model of its family.

    Args:
        target, draft: a Hub id, a folder, a .gguf file, or the name of a model in the folder `models`.
    Raises:
        WeightsError: there is no such model.
    """
    return with_cross_draft(with_config(unread_preset(target, draft, models=models)))


def unread_preset(target: str, draft: str | None = None, *, models: Path | None = None) -> Preset:
    """The same preset before the config is read from the disk."""
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
        stacks=(Example("lookup", "Lookups", "ngram:3,target", "drafts repeat the text so far"), *pair, _PLAIN),
    )


def preset_option(preset: Preset | str) -> str:
    """The option of a command line for a preset: `--preset NAME`, or `--target ID`. A name, which is what visitors see,
    gives no folder away."""
    name = preset if isinstance(preset, str) else preset.name
    if name in PRESETS:
        return f"--preset {name}"
    if isinstance(preset, str):
        return f"--target {name if '/' in name else 'FOLDER'}"
    return " ".join((f"--target {preset.target.id}", *(f"--draft {draft.id}" for draft in preset.drafts[:1])))


def preset_chosen(
    preset: str, *, target: str | None = None, draft: str | None = None, stack: str | None = None
) -> Preset:
    """The preset of a command line: for the target that an option or the stack names, else `preset`.

    Args:
        draft: the default weights of the level `model`.
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
    """The preset of a stack: for the target that the stack names, else the given one.

    Raises:
        UnknownPreset, StackError: bad names. WeightsError: there is no such model.
    """
    own = preset_of(preset) if isinstance(preset, str) else preset
    last = parse(stack)[-1] if stack else None
    named = last.get(ID) if last and kind_of(last).placement.stands == LAST else None
    if named is None or named == own.name or source_of(named, models) == own.target:
        return own
    return target_preset(named, models=models)


def source_of(name: str, models: Path | None = None, tokenizer: bool = True) -> Source:
    """The weights of this name; see `target_preset`. tokenizer: whether they need one.

    Raises:
        WeightsError: there are none.
    """
    return replace(local_source(name, models, tokenizer) or Source.parse(name), tokenizer=tokenizer)


def weights_named(preset: Preset, name: str, models: Path | None = None, tokenizer: bool = True) -> Source:
    """The weights that a level of a preset names: the preset's own, another preset's target, or any others. tokenizer:
    whether they need one.

    Raises:
        WeightsError: there are none of this name.
    """
    own = {one.name: one.source for one in preset.strangers} | {source.id: source for source in preset.drafts}
    if name in own:
        return own[name]
    if name in PRESETS and not PRESETS[name].toy:
        return PRESETS[name].target
    return source_of(name, models, tokenizer)


def with_config(preset: Preset) -> Preset:
    """The same preset, completed from its target's config if that is on the disk and was not read yet."""
    if preset.layers or preset.toy or (folder := local_config(preset.target)) is None:
        return preset
    config = config_of(folder)
    shown = [*preset.stacks]
    if config.layers > 3 and not config.whole:
        low, high = max(1, config.layers // 8), max(2, config.layers // 4)
        exits = f"exit:2@at={low}@id={LENS},exit:4@at={high}@id={LENS},target"
        shown.insert(1, Example("exits", "Early exits", exits, "the target's first layers, by its own head"))
    if not config.whole:
        copy = Example("copy", "A copy checks", "ngram:3,int8:6,target", "lookups, checked by the target in 8 bits")
        shown.insert(1, copy)
    gpu = None if config.whole or preset.drafts else "ngram:3,int4:6,target"  # a copy that a GPU has a kernel for
    return replace(
        preset, layers=config.layers, refused=config.refused, whole=config.whole, stacks=tuple(shown), gpu_stack=gpu
    )


def with_cross_draft(preset: Preset) -> Preset:
    """The same preset, with its draft as a `cross` level if the tokenizers differ. They are compared if both models
    are on the disk."""
    draft, target = preset.draft and local_folder(preset.draft), local_folder(preset.target)
    if preset.toy or preset.draft is None or not draft or not target or not _other_tokenizer(draft, target):
        return preset
    stranger = Stranger(preset.draft.id, preset.draft)
    crossed = replace(preset, drafts=preset.drafts[1:], strangers=(stranger, *preset.strangers))
    if preset.name in PRESETS:  # whose stacks name its own draft
        return crossed
    stacks = tuple(replace(one, stack=one.stack.replace(_PAIR, _CROSSED)) for one in preset.stacks)
    return replace(crossed, default_stack=preset.default_stack.replace(_PAIR, _CROSSED), stacks=stacks)


def _other_tokenizer(draft: Path, target: Path) -> bool:
    from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences

    try:
        one, other = Tokenizer(draft), Tokenizer(target)
    except TokenizerError:
        return False  # opening the model refuses it with the reason
    try:
        special_differences(one, other)
    except TokenizerError:
        return True
    return False


def config_of(folder: Path) -> Config:
    """The facts in a folder's config.json; read again after a change."""
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
    """The weights that stacks of a preset need and that are not on the disk, without repetition, the target's first.

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
            named, reads = spec.get(ID), own.tokenizer != "none"
            found = weights_named(preset, named, models, reads) if named else own.default(preset)
            if found is not None:
                yield found
