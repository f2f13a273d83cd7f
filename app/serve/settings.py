"""What a visitor may ask for: one request, checked and clamped on the server before anything runs.

The page sends the same names that stand in its URL (`prompt`, `stack`, `preset`, ...). Out-of-range figures are
clamped and said so; things that are no figures at all are refused with a message that names the cure.
"""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.serve.line.known_runs import Written
from app.serve.line.run_lengths import RunKind
from app.words import run as says
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Event
from hsd_core.grammar import LevelSpec, keys, kinds
from hsd_core.grammar.key import FileKey, FileName, WeightsName
from hsd_core.grammar.stack_text import StackError
from hsd_core.grammar.stack_text import parse as parse_stack
from hsd_core.models.machine import device_name
from hsd_core.pipeline import Reading

LONGEST_S = 240.0  # of a run or a race, what is measured beside it included; loading is not counted
PROMPT_TOKENS = 2048  # on a CPU, which reads some hundred in a second
PROMPT_TOKENS_GPU = 8192
MAX_PROMPT = 8000  # characters
WIDEST_TOKEN = 6  # characters of a token, on average, of no text but code with deep indents
MAX_STACK = 400
DETAILS = ("full", "light")
LIMITS: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_k": (0, 1000),
    "top_p": (0.01, 1.0),
    "seed": (0, 2**31 - 1),
    "max_new_tokens": (1, 512),
}
DEFAULTS: dict[str, Any] = {
    "temperature": 0.0,
    "top_k": 0,
    "top_p": 1.0,
    "seed": 0,
    "max_new_tokens": 96,
    "raw": False,
    "baseline": True,
    "depths": False,
    "replan": False,
    "detail": "full",
}
HEADS = {"full": 8, "light": 0}  # likeliest tokens of each row that the trace keeps
_DEVICE = re.compile(r"@\s*device\s*=\s*([^@,]*)")
_NAME = re.compile(r"\s*([A-Za-z0-9_-]*)")
_RUN_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


class RequestError(ValueError):
    """A request that cannot be run; the message names what was given and the cure."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run as asked for. `notes` say what was clamped; `detail` "light" leaves probability rows out of the trace;
    `depths` asks for one more pass that reads every layer; `replan` for levels and block lengths that are chosen again
    while generating; `earlier`: what earlier runs of its visitor wrote."""

    run: str
    prompt: str
    stack: str
    preset: str
    device: str | None = None
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    max_new_tokens: int = 96
    raw: bool = False
    baseline: bool = True
    depths: bool = False
    replan: bool = False
    detail: str = "full"
    notes: tuple[str, ...] = ()
    earlier: tuple[Written, ...] = ()

    @property
    def looks_back(self) -> bool:
        """Whether a level looks in what earlier runs of its visitor wrote."""
        found = ((spec.get(key), key) for spec in parse_stack(self.stack) for key in kinds()[spec.name].keys)
        return any(isinstance(key, FileName) and value in key.own for value, key in found)

    def behind(self, earlier: tuple[Written, ...]) -> RunRequest:
        """The same run behind those."""
        return replace(self, earlier=earlier)

    @property
    def stacks(self) -> list[str]:
        return [self.stack]

    @property
    def kind(self) -> RunKind:
        """For estimates of what it takes."""
        beside = tuple(name for name in ("baseline", "depths", "replan") if getattr(self, name))
        return RunKind("run", self.preset, self.device, beside, self.max_new_tokens)

    def start(
        self,
        pipeline: Any,
        *,
        stop: Callable[[], bool] = lambda: False,
        reading: Reading | None = None,
        clock: EngineClock | None = None,
    ) -> Generator[Event, None, None]:
        """The run's events, from a pipeline that has the preset open; stopped after `LONGEST_S`.

        Args:
            clock: of a batch that the run is decoded in.

        Raises:
            ValueError: the engine refuses the request; its message names the cure.
        """
        more: dict[str, Any] = {name: True for name in ("depths", "replan") if getattr(self, name)}
        more |= {} if clock is None else {"clock": clock}
        events: Generator[Event, None, None] = pipeline.run(
            self.stack,
            self.prompt,
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            seed=self.seed,
            max_new_tokens=self.max_new_tokens,
            raw=self.raw,
            baseline=self.baseline,
            heads=HEADS[self.detail],
            earlier=self.earlier,  # also where there is none: other visitors' runs are never looked in
            stop=within(LONGEST_S, stop),
            reading=reading,
            **more,
        )
        return events


def parse(data: Any, longest: int = MAX_PROMPT) -> RunRequest:
    """A request from the page's JSON. longest: characters of a prompt.

    Raises:
        RequestError: a field is missing, too long or of the wrong type.
    """
    if not isinstance(data, Mapping):
        raise RequestError(says.EMPTY_REQUEST)
    notes: list[str] = []
    figures = {name: _figure(name, data.get(name, DEFAULTS[name]), notes) for name in LIMITS}
    detail = data.get("detail", "full")
    return RunRequest(
        run=run_id(data.get("run")),
        prompt=_prompt(data.get("prompt"), longest),
        stack=_text("stack", data.get("stack"), MAX_STACK),
        preset=_text("preset", data.get("preset"), 80),
        device=_text("device", data.get("device"), 20) if data.get("device") else None,
        temperature=figures["temperature"],
        top_k=int(figures["top_k"]),
        top_p=figures["top_p"],
        seed=int(figures["seed"]),
        max_new_tokens=int(figures["max_new_tokens"]),
        raw=data.get("raw", False) is True,
        baseline=data.get("baseline", True) is True,
        depths=data.get("depths", False) is True,
        replan=data.get("replan", False) is True,
        detail=detail if detail in DETAILS else "full",
        notes=tuple(notes),
    )


def check(request: RunRequest, catalogue: list[dict[str, Any]]) -> None:
    """A visitor may run what the catalogue calls usable, on devices that are here, and nothing else.

    Raises:
        RequestError: the preset, a level or a device cannot be used, a level names weights or databases that are not
            offered, or the stack is not written as the grammar has it.
    """
    preset = next((p for p in catalogue if p["name"] == request.preset), None)
    if preset is None:
        known = ", ".join(p["name"] for p in catalogue)
        raise RequestError(says.no_preset(request.preset, known))
    if not preset["usable"]:
        raise RequestError(says.unusable_preset(request.preset, preset["reason"]))
    for part in request.stack.split(","):
        name = _level_name(part)
        alike = [level for level in preset["levels"] if level["name"] == name]
        if alike and not any(level["usable"] for level in alike):
            raise RequestError(says.unusable_level(name, alike[0]["reason"]))
        for named in _ids(part):
            found = next((level for level in alike if level["params"].get("id") == named), None)
            if found is not None and not found["usable"]:
                raise RequestError(says.unusable_weights(name, named, found["reason"]))
    for device in (request.device, *_DEVICE.findall(request.stack)):
        try:
            name = device_name(device)
        except ValueError as error:
            raise RequestError(str(error)) from error
        found = next((one for one in preset.get("devices", []) if one["name"] == name.partition(":")[0]), None)
        if device and found is not None and not found["usable"]:
            raise RequestError(says.unusable_device(name, found["reason"]))
    check_ids(request, catalogue)
    try:  # before any weights are loaded
        specs = parse_stack(request.stack)
    except StackError as error:
        raise RequestError(str(error)) from error
    check_files(request.preset, specs, preset)


def check_files(name: str, specs: Sequence[LevelSpec], preset: dict[str, Any]) -> None:
    """A visitor may name no file but those that the catalogue lists: other paths would be the server's.

    Raises:
        RequestError: a level names another one.
    """
    for spec in specs:
        for key in kinds()[spec.name].keys:
            if isinstance(key, FileKey) and (value := spec.get(key)) is not None:
                listed = sorted({file for level in preset["levels"] for file in level.get(key.listed, [])})
                if others := [file for file in key.files(value) if file not in listed]:
                    raise RequestError(says.no_file(name, key.noun, others[0][:80], listed))


def check_ids(request: RunRequest, catalogue: list[dict[str, Any]]) -> None:
    """A visitor may name no weights but the preset's own: others would be fetched by the server.

    A level may also name the drafts that the catalogue lists for it, and the words of its own key that name none.

    Raises:
        RequestError: a level names weights that are in none of the preset's levels and stacks.
    """
    preset = next((p for p in catalogue if p["name"] == request.preset), {})
    own: defaultdict[str, set[str]] = defaultdict(set)
    everywhere: set[str] = set()
    for level in preset.get("levels", []):
        everywhere.update({str(level["params"]["id"])} if level["params"].get("id") else ())
        own[level["name"]].update(str(draft["name"]) for draft in level.get("drafts", []))
        heeded = [key for kind in kinds().values() if kind.name == level["name"] for key in kind.keys]
        own[level["name"]].update(word for key in heeded if isinstance(key, WeightsName) for word in key.known)
    for stack in preset.get("stacks", []):
        everywhere.update(named for _, named in _named(stack["stack"]))
    for name, named in _named(request.stack):
        if named not in everywhere and named not in own[name]:
            raise RequestError(says.no_weights(request.preset, name or "level", named[:80]))


def _named(stack: str) -> Iterator[tuple[str, str]]:
    """Level and id wherever a level of a stack names one, however oddly it is written."""
    for part in stack.split(","):
        for named in _ids(part):
            yield _level_name(part), named


def _ids(part: str) -> list[str]:
    """What a part of a stack names by keys that name weights."""
    names = "|".join(name for name, key in keys().items() if isinstance(key, WeightsName))
    return re.findall(rf"@\s*(?:{names})\s*=\s*([^@,]*)", part)


def _level_name(part: str) -> str:
    found = _NAME.match(part)
    return found[1] if found else ""


def run_id(value: Any) -> str:
    """A run's name as the page made it up: 8 to 64 letters, figures and hyphens.

    Raises:
        RequestError: it is none.
    """
    if not isinstance(value, str) or not _RUN_ID.fullmatch(value):
        raise RequestError(says.NO_RUN_NAME)
    return value


def whole_text(text: str) -> str:
    """The text with U+FFFD for each half of a character (a lone surrogate): those cannot be encoded or sent."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _prompt(value: Any, longest: int) -> str:
    value = whole_text(value) if isinstance(value, str) else value
    if not isinstance(value, str) or not value.strip():
        raise RequestError(says.EMPTY_PROMPT)
    if len(value) > longest:
        raise RequestError(says.long_prompt(len(value), longest))
    return value


def _text(name: str, value: Any, longest: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RequestError(says.nothing_given(name))
    if len(value) > longest:
        raise RequestError(says.long_text(name, len(value), longest))
    return whole_text(value.strip())


def _figure(name: str, value: Any, notes: list[str]) -> float:
    low, high = LIMITS[name]
    # a whole number may have hundreds of digits: it can be compared, but not made a float or written out
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        raise RequestError(says.out_of_range(name, low, high))
    clamped = min(max(value, low), high)
    if clamped != value:
        asked = f"{value:g}" if abs(value) < 1e300 else says.TOO_MANY_DIGITS
        notes.append(says.was_set(name, asked, clamped))
    return clamped


def within(seconds: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """`stop`, which also turns true so many seconds after it was first asked."""
    end: float | None = None

    def over() -> bool:
        nonlocal end
        now = time.monotonic()
        end = now + seconds if end is None else end
        return now > end or stop()

    return over


def prompt_tokens(device: str, most: int | None) -> int:
    """How many tokens a prompt may have on a device. most: what the operator says, None for the default."""
    return most or (PROMPT_TOKENS if device == "cpu" else PROMPT_TOKENS_GPU)


def prompt_characters(most: int | None) -> int:
    """How long a prompt may be before anybody has counted its tokens. most: as above."""
    return max(MAX_PROMPT, WIDEST_TOKEN * (most or 0))


class TimeLeft:
    """How long what is read in pieces will take yet, by the pieces so far."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._of = clock, ""
        self._begun, self._first = 0.0, 0

    def after(self, what: str, done: int, total: int) -> float | None:
        """Seconds for the rest of it; None at its first piece, behind which nothing is known."""
        now = self._clock()
        if what != self._of or done <= self._first:
            self._of, self._begun, self._first = what, now, done
            return None
        return (now - self._begun) / (done - self._first) * (total - done)
