"""Opens presets, builds levels and fetches weights in threads of their own, tells how far that is, and keeps few of the
presets open.

What is loaded has a thread as long as somebody waits for it, so nobody's slow download keeps another's model from
loading. When the last one who waited has left, the loading ends the next time that it tells how far it is; who comes
before then finds it going on, who comes later begins again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

from app.serve.limits import prompt_tokens
from app.serve.shared_work import LOOK_S, LoadingLeft, Shared, SharedWork, Tell, apart
from app.words import run as says
from hsd_core.models.machine import device_name
from hsd_core.pipeline import Reading

OPEN = 2  # presets whose weights stay in memory: the one that runs and the one before it


class Request(Protocol):
    """What a visitor asks the engine for: the preset, device and stacks that it needs, and how it starts there."""

    @property
    def preset(self) -> str: ...
    @property
    def device(self) -> str | None: ...
    @property
    def stacks(self) -> Sequence[str]: ...
    def start(
        self, pipeline: Any, *, stop: Callable[[], bool], reading: Reading | None = None
    ) -> Generator[Any, None, None]: ...


class Loader:
    """`pipeline` is the class from hsd_core. Runs come one at a time, so what was asked for last is what runs.

    Args:
        opening: what `Pipeline.open` takes for a preset's name: a preset, and more of its options.
        prompt_tokens: of the longest prompt; device: where runs go that name none; None for the default.
    """

    def __init__(
        self,
        pipeline: Any,
        *,
        opening: Callable[[str], tuple[Any, dict[str, Any]]] = lambda name: (name, {}),
        prompt_tokens: int | None = None,
        device: str | None = None,
    ) -> None:
        self._pipeline, self._opening, self._prompt_tokens, self._device = pipeline, opening, prompt_tokens, device
        self._open, self._fetched = SharedWork[tuple[str, str], Any](OPEN), SharedWork[str, Any](0)

    @property
    def model(self) -> str:
        """The preset that was asked for last and is open; "" for none."""
        return next((preset for preset, _ in reversed(self._open.done())), "")

    def awaited(self, preset: str, device: str | None) -> AbstractContextManager[Shared[Any]]:
        """The pipeline of a preset on a device, awaited while the block runs; without a device, on the default one.

        Raises:
            ValueError: there is no such device.
        """
        name = device_name(device or self._device)
        return self._open.awaited((preset, name), partial(self._load, preset, name))

    def absent(self, request: Request) -> list[Any]:
        """The weights that a request needs and that are not on the disk yet (`Pipeline.missing_weights`)."""
        preset, options = self._opening(request.preset)
        found: list[Any] = self._pipeline.missing_weights(preset, request.stacks, models=options.get("models"))
        return found

    def lacks(self, request: Request) -> bool:
        """Whether weights that it needs are not on the disk yet. What is wrong with a request, its run will say."""
        try:
            return bool(self.absent(request))
        except ValueError:
            return False

    def fetching(self, source: Any) -> AbstractContextManager[Shared[Any]]:
        """Weights that are being fetched, awaited while the block runs."""
        return self._fetched.awaited(source.id, partial(self._pipeline.fetch, source))

    def starting(
        self, request: Request, opening: Shared[Any], stop: Callable[[], bool], reading: Reading | None = None
    ) -> Future[Generator[Any, None, None]]:
        """What the request starts, once its levels are built. They are closed if the run is over by then."""
        return apart(partial(self._start, request, opening, stop, reading), left=stop)

    def _load(self, name: str, device: str, tell: Tell) -> Any:
        gc.collect()  # what was let go is to be gone before the next weights come
        preset, options = self._opening(name)
        most = prompt_tokens(device, self._prompt_tokens)
        return self._pipeline.open(preset, device=device, progress=tell, prompt_tokens=most, **options)

    def _start(
        self, request: Request, opening: Shared[Any], stop: Callable[[], bool], reading: Reading | None
    ) -> Generator[Any, None, None]:
        pipeline = opening.done.result()
        while not opening.alone.acquire(timeout=LOOK_S):
            if stop():
                raise LoadingLeft(says.LEFT)
        try:
            events = request.start(pipeline, stop=stop, reading=reading)
        finally:
            opening.alone.release()
        if stop():
            events.close()  # a generator that was never begun frees nothing by itself
        return events
