"""What a builder keeps open: levels, and the decoders that they read, which are what costs memory.

At most `MOST_DECODERS` and `MOST_LEVELS` stay, or as many as one stack needs; the least recently used are let go, and
with a decoder every level that reads it. What a run in progress holds lives until that run is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

from hsd_core.core.level import Level
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.models import Decoder

Key = tuple[Path, str, str, str, int]  # folder, dtype, device, kind of decoder, ids
MOST_DECODERS = 4  # as one target has dtypes
MOST_LEVELS = 32


class LevelPool:
    """Levels and decoders by what they were asked for, the least recently used first."""

    def __init__(self) -> None:
        self._levels: dict[LevelSpec, tuple[Level, set[Key]]] = {}  # with the decoders that they read
        self._decoders: dict[Key, Decoder] = {}
        self._keys: WeakKeyDictionary[object, Key] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._begin()

    @contextmanager
    def stack(self) -> Iterator[None]:
        """One stack is built, by one thread: whatever it asks for meanwhile stays."""
        with self._lock:
            self._begin()
            yield

    def _begin(self) -> None:
        self._needed: set[LevelSpec] = set()
        self._read: set[Key] = set()
        self._asked: set[Key] = set()  # by the level that is being built

    def level(self, kind: LevelSpec, build: Callable[[LevelSpec], Level]) -> Level:
        """The level of this kind, built if it is not open."""
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
        """The decoder of these weights, loaded if it is not open; room is made before that, not after."""
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
        """What a decoder was asked for, whether it is still open or not."""
        return self._keys[decoder]

    def _use(self, key: Key) -> Decoder:
        self._read.add(key)
        self._decoders[key] = decoder = self._decoders.pop(key)
        return decoder
