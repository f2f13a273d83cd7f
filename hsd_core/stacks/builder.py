"""From a written level to a built one: weights, device, dtype, databases.

A `Builder` belongs to one pipeline. Levels are built on first use and kept in a `LevelPool`; they are read-only, so
all runs share them. A level that cannot be built is refused with the reason.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

import torch

from hsd_core.core.level import Level, StackEntry
from hsd_core.grammar import kind_of, kinds, tokenizer_of
from hsd_core.grammar.keys import DEVICE, DTYPE, FUSE
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import LevelSpec, StackError, bare, check_order
from hsd_core.levels.fused import FusedLevel, Lookups
from hsd_core.levels.trunk import Layered, Prepared
from hsd_core.models import QUANTISED, Decoder, DecoderError, known_device, load_decoder
from hsd_core.models.gpu.precision import quick
from hsd_core.models.gpu.tiled_int4 import copy_device, no_copy
from hsd_core.models.loading import DTYPES
from hsd_core.models.local import local_file
from hsd_core.models.one_pass import Pass
from hsd_core.models.tokenizer import TextCodec, Tokenizer
from hsd_core.models.weights import Source, ensure
from hsd_core.stacks.targets import weights_named

if TYPE_CHECKING:
    from hsd_core.models.compiled.node_profile import NodeProfile

Key = tuple[Path, str, str, str, int]  # folder, dtype, device, kind of decoder, ids
MOST_DECODERS = 4  # one target has as many dtypes
MOST_LEVELS = 32


class LevelPool:
    """Open levels and decoders by specification, least recently used first."""

    def __init__(self) -> None:
        self._levels: dict[LevelSpec, tuple[Level, set[Key]]] = {}  # each with the decoders that it uses
        self._decoders: dict[Key, Decoder] = {}
        self._keys: WeakKeyDictionary[object, Key] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._begin()

    @contextmanager
    def stack(self) -> Iterator[None]:
        """While one thread builds a stack, everything it uses stays open."""
        with self._lock:
            self._begin()
            yield

    def _begin(self) -> None:
        self._needed: set[LevelSpec] = set()
        self._read: set[Key] = set()
        self._asked: set[Key] = set()  # by the level that is being built

    def level(self, kind: LevelSpec, build: Callable[[LevelSpec], Level]) -> Level:
        """The level of this specification, built if it is not open."""
        self._needed.add(kind)
        if kind not in self._levels:
            self._asked = set()
            self._levels[kind] = (build(kind), self._asked)
            spare = [other for other in self._levels if other not in self._needed]
            for other in spare[: max(0, len(self._levels) - MOST_LEVELS)]:
                del self._levels[other]
        level, reads = self._levels[kind] = self._levels.pop(kind)
        for key in reads:
            self._use(key)
        return level

    def decoder(self, key: Key, load: Callable[[], Decoder]) -> Decoder:
        """The decoder of these weights, loaded if it is not open. Others are closed before loading, not after."""
        self._asked.add(key)
        if key not in self._decoders:
            spare = [other for other in self._decoders if other not in self._read]
            for other in spare[: max(0, len(self._decoders) - MOST_DECODERS + 1)]:
                del self._decoders[other]
                self._levels = {kind: held for kind, held in self._levels.items() if other not in held[1]}
            self._decoders[key] = made = load()
            self._keys[made] = key
        return self._use(key)

    def key(self, decoder: object) -> Key:
        """The key of a decoder, open or closed."""
        return self._keys[decoder]

    def _use(self, key: Key) -> Decoder:
        self._read.add(key)
        self._decoders[key] = decoder = self._decoders.pop(key)
        return decoder


T = TypeVar("T")
Progress = Callable[[str, float, float], None]
WARM_ROWS = (1, 8)


def pick_device(wanted: str | None) -> str:
    """The canonical name of the device to use: the wanted one, else an accelerator if there is one.

    Raises:
        StackError: this machine does not have the wanted device.
    """
    try:
        return known_device(wanted or ("cuda" if torch.cuda.is_available() else "cpu"))
    except DecoderError as error:
        raise StackError(str(error)) from error


class Builder:
    """Builds the levels of a preset on one device."""

    def __init__(
        self,
        preset: Preset,
        device: str | None,
        dtype: str | None,
        progress: Progress,
        models: Path | None = None,
        profile: NodeProfile | None = None,
        kind: str = "auto",
    ) -> None:
        if dtype is not None and preset.toy:
            raise StackError(f"preset {preset.name} has no weights and no dtype; leave the dtype {dtype!r} out")
        if dtype not in (None, *DTYPES):
            raise StackError(f"dtype {dtype!r} is not known; use one of {', '.join(DTYPES)}")
        self.preset, self._models, self._profile, self._kind = preset, models, profile, kind
        self.device = "cpu" if preset.toy else pick_device(device)
        self.dtype = dtype or quick(preset.dtype(self.device), self.device)
        self._progress = progress
        # what belongs to a decoder is closed with it
        self._beside: WeakKeyDictionary[Decoder, dict[Hashable, Any]] = WeakKeyDictionary()
        self._pool = LevelPool()
        self.tokenizer: TextCodec
        if preset.toy:
            self.tokenizer = tokenizer_of(preset)
        else:
            self.folder = ensure(preset.target, progress)
            self.tokenizer = Tokenizer(self.folder)
        self.ids = self.tokenizer.vocab_size  # fewer if the model lacks rows for some special tokens
        self.ends = self.tokenizer.eos_ids

    def entries(self, specs: Sequence[LevelSpec]) -> list[StackEntry]:
        """The levels of a stack, built from the target down; levels over its weights have its dtype and device.

        Raises:
            StackError: a level cannot be built; the message says which and why.
        """
        target = specs[-1]
        cuts = (spec for spec in specs[:-1] if (shares := kind_of(spec).shares).reads and not shares.whole)
        if self.preset.whole and (cut := next(cuts, None)):
            raise StackError(f"{cut.name}: {self.preset.whole}")  # before anything is loaded
        if kind_of(target).shares.reads:  # again, now that it is known which levels read the same weights
            dtype = target.get(DTYPE) or self.dtype
            own = [(reads := kind_of(spec).shares.reads) and not reads.weights for spec in specs]
            check_order([s.having(dtype=s.get(DTYPE) or dtype) if o else s for s, o in zip(specs, own, strict=True)])
        with self._pool.stack():
            levels = [self._level(spec, target) for spec in reversed(specs)][::-1]
            if specs[0][FUSE] and len(specs) > 1:
                levels[0] = FusedLevel(levels[0], self._lookups(specs[0][FUSE]))
        return [StackEntry(*parts) for parts in zip(levels, specs, blocks_of(specs), strict=True)]

    def _level(self, spec: LevelSpec, target: LevelSpec) -> Level:
        # T, policy and rule belong to the stack's entry and do not make another level.
        device = spec.get(DEVICE)
        wanted = bare(spec).having(device=device and pick_device(device))
        if kind_of(spec).shares.of_target(spec):
            wanted = self._of_the_target(wanted, target)
        return self._pool.level(wanted, self._build)

    def _lookups(self, count: int) -> Lookups:
        beside = [kind.lookup.beside for kind in kinds().values() if kind.lookup.beside and kind.suits(self.preset)]
        if not beside:
            raise StackError(f"preset {self.preset.name} has no lookups to merge into a draft; leave @fuse= out")
        level = self._pool.level(beside[0](count), self._build)
        assert isinstance(level, Lookups)
        return level

    def _build(self, spec: LevelSpec) -> Level:
        kind = kind_of(spec)
        if not kind.suits(self.preset):
            known = ", ".join(_offered(self.preset))
            raise StackError(f"preset {self.preset.name} has no level {spec.name!r}; its levels are {known}")
        level: Level = kind.build(spec, self)
        return level

    def _of_the_target(self, spec: LevelSpec, target: LevelSpec) -> LevelSpec:
        """A level over the target's layers with dtype and device filled in: the target's, or those of a copy."""
        dtype, asked, own = target.get(DTYPE) or self.dtype, target.get(DEVICE), spec.get(DTYPE)
        device = pick_device(asked) if asked else self.device
        if own in QUANTISED and own != dtype:
            device = copy_device(own, self.device)
        taken = {key.name: target.get(key) for key in kind_of(spec).shares.follows}
        return spec.having(dtype=own or dtype, device=device, **taken)

    def fetched(self, source: str | None, *, tokenizer: bool = True) -> tuple[Source, Path] | None:
        """See `Site.fetched`."""
        found = self._named(source, tokenizer) if source else self.preset.draft
        return None if found is None else (found, ensure(found, self._progress))

    def file(self, name: str) -> Path:
        """See `Site.file`."""
        return local_file(name, self._models) or Path(os.path.expanduser(name))

    def of_target(self, name: str | None) -> Source:
        """See `Site.of_target`.

        Raises:
            StackError: the level names other weights.
        """
        if name and name != self.preset.name and self._named(name) != self.preset.target:
            raise StackError(
                f"target@id={name}: this is open over {self.preset.title}; a stack with another target is opened again"
            )
        return self.preset.target

    def _named(self, name: str, tokenizer: bool = True) -> Source:
        return weights_named(self.preset, name, self._models, tokenizer)

    def layered(self, spec: LevelSpec) -> Layered:
        """See `Site.layered`.

        Raises:
            StackError: the decoder cannot stop between layers.
        """
        decoder = self.decoder(self.folder, spec[DTYPE], spec[DEVICE], spec.name)
        if not isinstance(decoder, Layered):
            raise StackError(f"{spec.name}: the target runs through transformers, which does not stop between layers")
        return decoder

    def opened(self, over: Decoder, key: Hashable, opening: Callable[[], T]) -> T:
        """See `Site.opened`."""
        known = self._beside.setdefault(over, {})
        if key not in known:
            known[key] = opening()
        return cast(T, known[key])

    def lean(self, decoder: Layered) -> Decoder:
        """A torch decoder with the weights of an open one, for training and for reading every layer."""
        with self._pool.stack():
            folder, dtype, device, *_ = self._pool.key(decoder)
            return self.decoder(folder, dtype, device, "target", kind="lean")

    def decoder(
        self, folder: Path, dtype: str, device: str, name: str, *, kind: str | None = None, vocab: int | None = None
    ) -> Decoder:
        """See `Site.decoder`.

        Args:
            name: of the level, for messages. vocab: the number of ids if they are not the target's.
        Raises:
            StackError: there is no kernel for this dtype on this device.
        """
        if reason := no_copy(dtype, device):
            raise StackError(f"{name}: {reason}")
        kind, size = kind or self._kind, vocab or self.tokenizer.vocab_size

        def load() -> Decoder:
            self._progress("load", 0.0, 1.0)
            progress = partial(self._progress, "load")
            try:
                decoder = load_decoder(
                    folder, dtype=dtype, device=device, kind=kind, vocab=size, progress=progress, profile=self._profile
                )
            except DecoderError as error:
                raise StackError(f"{name}: {error}") from error
            if decoder.vocab_size < size:
                self._refuse_text(name, decoder.vocab_size, None if vocab else self.tokenizer)
            if folder == self.folder:
                self.ids = decoder.vocab_size
            _warm_up(decoder)
            self._progress("load", 1.0, 1.0)
            return decoder

        return self._pool.decoder((folder, dtype, device, kind, size), load)

    @staticmethod
    def _refuse_text(name: str, rows: int, tokenizer: TextCodec | None) -> None:
        """Checks a model with fewer rows than its tokenizer has ids.

        Raises:
            StackError: text may need the missing rows; only special tokens, which occur in no text, may lack a row.
        """
        if isinstance(tokenizer, Tokenizer) and all(map(tokenizer.is_special, range(rows, tokenizer.vocab_size))):
            return
        more = "" if tokenizer is None else f" of {tokenizer.vocab_size}"
        raise StackError(
            f"{name}: its tokenizer gives ids{more} that the model has no row for (it has {rows}); use the tokenizer "
            "that it was trained with, or resize_token_embeddings and save it again"
        )


def blocks_of(specs: Sequence[LevelSpec]) -> list[int | None]:
    """T of each level; None for the target."""
    return [*(spec.block or len(spec.widths) or kind_of(spec).placement.block for spec in specs[:-1]), None]


def _warm_up(decoder: Decoder) -> None:
    """A first forward of each kind, because kernels are chosen on first use and no run should pay for that."""
    cache = decoder.new_cache(2 * max(WARM_ROWS))
    if isinstance(decoder, Prepared):
        decoder.prepare(cache, [decoder.layers])
    empty = cache.mark()
    for rows in WARM_ROWS:
        decoder.forward(Pass([0] * rows, wanted=rows), cache)
        cache.restore(empty)


def _offered(preset: Preset) -> Iterator[str]:
    """The levels of a preset as written in stacks."""
    for kind in kinds().values():
        entries = kind.offer(kind, preset) if kind.suits(preset) else []
        yield from (f"{kind.name}@id={e['params']['id']}" if len(entries) > 1 else kind.name for e in entries)
