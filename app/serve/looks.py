"""What the server finds out beside its answers: what the Hub says of a model, and whether tokenizers agree.

Nobody waits for it: what is not known yet is asked for in a thread, and stands in a later answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.serve.shared_work import apart
from hsd_core.models.weights import Source
from hsd_core.models.weights.hub import HubLookup, look_up

AGAIN_S = 60.0  # after what was wrong with the Hub or the network may be mended


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
