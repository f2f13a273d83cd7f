"""What an operator lets visitors load: which presets, which targets, which models of their own, and how they run."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.kit.faults import bare
from app.serve.loader import Loader, apart
from app.serve.settings import RequestError, RunRequest
from app.words import run as says
from hsd_core.grammar import kind_of, kinds
from hsd_core.grammar.key import FileKey
from hsd_core.grammar.keys import ID
from hsd_core.grammar.kind import LAST
from hsd_core.grammar.preset import Preset, memory_gb_here
from hsd_core.grammar.stack_text import StackError, format_stack, parse
from hsd_core.models import DTYPES, QUANTISED, DecoderError
from hsd_core.models.loading import read_config
from hsd_core.models.local import LocalModel, local_files, local_models, missing_part
from hsd_core.models.machine import device_name
from hsd_core.models.weights import Source, WeightsError, local_folder
from hsd_core.models.weights.hub import HubLookup, look_up
from hsd_core.stacks.presets import PRESETS, catalogue_entry
from hsd_core.stacks.targets import unread_preset, with_config
from hsd_core.stacks.weight_sizes import too_large
from hsd_core.theory.search.default_stack import with_default

LARGEST_PROMPT = 1_000_000  # tokens that an operator may allow
GGUF = ".gguf"  # a target goes by its file's name, with or without
AGAIN_S = 60.0  # after what was wrong with the Hub or the network may be mended


class OfferError(ValueError):
    """An operator's wish that cannot be had; the message says what there is."""


class Looks:
    """What was found out, by what was asked. `hub`: asks the Hub of a source. Thread-safe."""

    def __init__(self, hub: Callable[[Source], HubLookup] = look_up) -> None:
        self._hub = hub
        self._lock, self._one = threading.Lock(), threading.Lock()
        self._found: dict[Any, tuple[Any, float]] = {}  # with the moment when it is asked again
        self._asked: set[Any] = set()

    @property
    def busy(self) -> bool:
        """Whether something is being asked."""
        return bool(self._asked)

    def of_hub(self, source: Source) -> HubLookup | None:
        """What the Hub says of a model that is not here; None before it has answered."""
        found: HubLookup | None = self._known(source.id, lambda: self._hub(source))
        return found

    def apart(self, draft: Path, target: Path) -> str:
        """Why the tokenizer of one folder cannot draft for another's, "" if it can or is not compared yet."""
        marks = tuple((path, _changed(path / "tokenizer.json")) for path in (draft, target))
        return self._known(marks, lambda: _apart(draft, target)) or ""

    def _known(self, key: Any, ask: Callable[[], Any]) -> Any:
        with self._lock:
            found, until = self._found.get(key, (None, 0.0))
            if time.monotonic() >= until and key not in self._asked:
                self._asked.add(key)
                apart(lambda: self._ask(key, ask))
            return found

    def _ask(self, key: Any, ask: Callable[[], Any]) -> None:
        found = None
        try:
            with self._one:
                found = ask()
        finally:
            wrong = found is None or (isinstance(found, HubLookup) and bool(found.wrong))
            with self._lock:
                self._found[key] = found, time.monotonic() + AGAIN_S if wrong else float("inf")
                self._asked.discard(key)


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


def _apart(draft: Path, target: Path) -> str:
    from hsd_core.models.tokenizer import Tokenizer, TokenizerError, special_differences

    try:
        special_differences(Tokenizer(draft), Tokenizer(target))
    except TokenizerError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """What visitors may load, and how it runs.

    Attributes:
        presets: names of those that visitors may load, none for all. targets: presets over other targets.
        models: a folder of models and databases that they may name, as targets too.
        prompt_tokens: of the longest prompt; device: where levels run; dtype: of targets; None for the default.
        looks: what is found out meanwhile.
    """

    presets: tuple[str, ...] = ()
    targets: tuple[Preset, ...] = ()
    models: Path | None = None
    prompt_tokens: int | None = None
    device: str | None = None
    dtype: str | None = None
    looks: Looks = field(default_factory=Looks, compare=False)

    @classmethod
    def of(
        cls,
        presets: str,
        models: str,
        catalogue: Sequence[dict[str, Any]],
        *,
        targets: str = "",
        device: str = "",
        dtype: str = "",
        prompt_tokens: str = "",
    ) -> ServerOffer:
        """From the command line: names separated by commas, and a folder; "" for no limit and for none.

        Raises:
            OfferError: an unknown preset, target, device or dtype, no such folder, or no such number of tokens.
        """
        names = _listed(presets)
        known = [entry["name"] for entry in catalogue]
        for name in names:
            if name not in known:
                raise OfferError(f"there is no preset {name!r}; the presets are {', '.join(known)}")
        folder = Path(os.path.expanduser(models)) if models.strip() else None
        if folder is not None and not folder.is_dir():
            raise OfferError(f"{models!r} is not a folder; name one that holds models, each a folder or a .gguf file")
        asked = prompt_tokens.strip()
        if asked and (not (asked.isascii() and asked.isdecimal()) or not 1 <= int(asked[:9]) <= LARGEST_PROMPT):
            raise OfferError(
                f"--prompt-tokens (or HSD_PROMPT_TOKENS) is {asked[:20]!r}; write how many tokens a prompt may have, "
                f"1 to {LARGEST_PROMPT}, such as 8192"
            )
        over = tuple(_over(target) for target in _listed(targets))
        for i, one in enumerate(over):
            if any(one.name == other.name for other in over[:i]):
                raise OfferError(f"two targets are called {one.name!r}; rename the folder or file of one of them")
        return cls(names, over, folder, int(asked) if asked else None, *_runs(device.strip(), dtype.strip()))

    def catalogue(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The catalogue as visitors see it: what is not offered stays in it, with the reason; usable presets first."""
        shown = [*map(self._entry, entries), *map(self._target, self.over())]
        return sorted(shown, key=lambda entry: not entry["usable"])

    def opening(self, name: str) -> tuple[str | Preset, dict[str, Any]]:
        """What `Pipeline.open` takes for a preset that visitors call so."""
        over = next((with_config(one) for one in self.over() if one.name == name), None)
        toy = name in PRESETS and PRESETS[name].toy
        given = {"models": self.models, "dtype": None if toy else self.dtype}
        return over or name, {key: value for key, value in given.items() if value is not None}

    def source(self, name: str) -> str:
        """What a command line calls the target of that name, "" for a preset of this package."""
        return next((one.target.id for one in self.over() if one.name == name), "")

    def over(self) -> Iterator[Preset]:
        """The presets over other targets: those that the operator named, and those of the folder."""
        yield from self.targets
        known = {one.name for one in self.targets} | {name for names in self._drafters().values() for name in names}
        for model in local_models(self.models) if self.models else ():
            if model.reason:
                source = Source("folder", str(model.path), model.name)
                one = Preset(model.name, model.name, "target", "", "", source, refused=model.reason)
            else:
                one = unread_preset(model.name, models=self.models)
            if one.name not in known:
                yield one
            known.add(one.name)

    def _target(self, over: Preset) -> dict[str, Any]:
        preset = with_config(over)
        source, found = preset.target, None
        if source.kind == "hub" and local_folder(source) is None:
            found = self.looks.of_hub(source)
            mb = found.bytes / 1e6 if found else 0.0
            preset = replace(preset, target=replace(source, download_mb=mb), refused=preset.refused or _wrong(found))
        elif source.kind == "folder" and not preset.refused:
            preset = replace(preset, refused=missing_part(Path(source.id)))
        device = device_name(self.device)
        if not preset.refused and not device.startswith("cuda"):
            dtype, stored = self.dtype or preset.dtype(device), found.bytes if found else 0
            preset = replace(preset, refused=too_large(preset, dtype, memory_gb_here(), stored))
        preset = replace(preset, refused=bare(preset.refused), whole=bare(preset.whole))
        return {**self._more(with_default(catalogue_entry(preset), preset, device, self.dtype), preset), "target": True}

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        if self.presets and entry["name"] not in self.presets:
            offered = ", ".join((*self.presets, *(one.name for one in self.over())))
            return {**entry, "usable": False, "reason": says.offers(offered), "needs_download": False}
        preset = PRESETS.get(entry["name"])
        if preset and (self.device or self.dtype):
            entry = with_default(entry, preset, self.device, None if preset.toy else self.dtype)
        return self._more(entry, preset)

    def _more(self, entry: dict[str, Any], preset: Preset | None) -> dict[str, Any]:
        """What the operator's folder adds to a preset, and what the device leaves of it."""
        if self.device is not None:
            entry = {**entry, "devices": [self._device(one) for one in entry["devices"]]}
        if self.models is None:
            return entry
        named = [{**level, **self._files(level["name"])} for level in entry["levels"]]
        return {**entry, "levels": [*named, *self._models(entry, preset)]}

    def _files(self, level: str) -> dict[str, list[str]]:
        """The files of the operator's folder that levels of a kind may name, by the catalogue's field for them."""
        kind, folder = kinds().get(level), self.models
        keys = [key for key in kind.keys if isinstance(key, FileKey) and key.suffix] if kind else []
        return {key.listed: local_files(folder, key.suffix) for key in keys if folder}

    def _device(self, one: dict[str, Any]) -> dict[str, Any]:
        other = self.device is not None and one["name"] != self.device.partition(":")[0]
        return {**one, "usable": False, "reason": says.runs_on(self.device or "")} if other else one

    def _models(self, entry: dict[str, Any], preset: Preset | None) -> list[dict[str, Any]]:
        """One level for each model of the folder, where the preset's levels have models of their own at all; what has
        another tokenizer than the target is a level of a kind that allows it."""
        with_own = {kind.name: kind.shares.own for kind in kinds().values() if kind.shares.own}
        own = {level["name"]: level for level in entry["levels"] if level["name"] in with_own}
        if not own or self.models is None:
            return []
        target = local_folder(preset.target) if preset and not preset.refused else None
        drafters = self._drafters()
        drafting = {name for names in drafters.values() for name in names}
        others = [m for m in local_models(self.models) if m.path != target and m.name not in drafting]
        apart = {m.name: self._apart(m, target) for m in others if not m.reason}
        found: list[dict[str, Any]] = []
        for kind, level in own.items():
            if kind in drafters:
                named = [*drafters[kind].items()]
            elif with_own[kind].tokenizer == "any":
                named = [(name, "") for name, why in apart.items() if why]
            else:
                named = [(m.name, m.reason or apart[m.name]) for m in others]
            found += [
                {**level, "label": name, "params": {"id": name}, "usable": not why, "reason": why}
                for name, why in named
            ]
        return found

    def _drafters(self) -> dict[str, dict[str, str]]:
        """The folder's drafters by the kind of level that takes them: name -> why it cannot be used, "" if it can."""
        held = [m for m in local_models(self.models, tokenizer=False) if m.path.is_dir()] if self.models else []
        configs = {model.name: _config(model.path) for model in held}
        return {
            kind.name: {m.name: m.reason for m in held if own.takes(configs[m.name])}
            for kind in kinds().values()
            if (own := kind.shares.own) and own.tokenizer == "none"
        }

    def _apart(self, model: LocalModel, target: Path | None) -> str:
        return bare(self.looks.apart(model.path, target)) if target and model.path.is_dir() else ""


def _config(folder: Path) -> dict[str, Any]:
    try:
        return read_config(folder)
    except DecoderError:
        return {}


EVERYTHING = ServerOffer()


def loader_for(pipeline: Any, offer: ServerOffer) -> Loader:
    """What opens the presets of an offer. `pipeline`: the class."""
    return Loader(pipeline, opening=offer.opening, prompt_tokens=offer.prompt_tokens, device=offer.device)


def meant(request: RunRequest, catalogue: list[dict[str, Any]]) -> RunRequest:
    """The same run by its shortest name: where the stack's target is another one that is offered, of that one's preset.

    Raises:
        RequestError: it names a target that is not offered.
    """
    try:
        *below, last = parse(request.stack)
    except StackError:
        return request  # which `check` refuses
    if kind_of(last).placement.stands != LAST or (named := last.get(ID)) is None:
        return request
    known = [p["name"] for p in catalogue if named in (p["name"], p["name"] + GGUF)]
    if not known:
        raise RequestError(says.no_target(named[:80], [p["name"] for p in catalogue if p.get("target")]))
    stack = format_stack([*below, last.having(id=None)])
    return replace(request, preset=known[0], stack=stack)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _over(target: str) -> Preset:
    try:
        return unread_preset(target)
    except WeightsError as error:
        raise OfferError(f"--targets: {error}") from None


def _wrong(found: Any) -> str:
    return found.wrong if found else ""


def _runs(device: str, dtype: str) -> tuple[str | None, str | None]:
    """
    Raises:
        OfferError: there is no such device or dtype, or no kernel of the one on the other.
    """
    try:
        on = device_name(device or None)
    except ValueError as error:
        raise OfferError(f"--device: {error}") from None
    if dtype and dtype not in DTYPES:
        raise OfferError(f"--dtype is {dtype!r}; use one of {', '.join(DTYPES)}")
    if dtype in QUANTISED and on != "cpu":
        from hsd_core.models.gpu.tiled_int4 import no_copy

        if why := no_copy(dtype, on):
            raise OfferError(f"--dtype: {why.replace('@device=', '--device ')}")
    return on if device else None, dtype or None
