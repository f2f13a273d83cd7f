"""A preset, opened: prompts in, events out. What the page, the command line and the benchmark use.

Importing this module does not import torch, and the catalogue needs no weights and no network; opening does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any

from hsd_core import machine, metrics, trace
from hsd_core.equality import compare
from hsd_core.presets import PRESETS, Preset, UnknownPreset
from hsd_core.recorder import Pieces, record
from hsd_core.sampling import Sampling
from hsd_core.stacks import LevelSpec, StackError, parse

if TYPE_CHECKING:
    from hsd_core.building import Builder
    from hsd_core.decoders.lean import LeanDecoder
    from hsd_core.hierarchy import Seat

Progress = Callable[[str, float, float], None]


class Workbench:
    """One preset's tokenizer and levels. Levels are built when a stack first needs them, and kept, read-only."""

    def __init__(self, preset: Preset, builder: Builder) -> None:
        self.preset, self._builder = preset, builder
        self.default_stack = preset.stack(builder.device)
        self.device = builder.device
        self.about: dict[str, Any] = {
            "preset": preset.name,
            "machine": machine.describe(builder.device),
            "versions": dict(machine.versions()),
        }

    @staticmethod
    def catalogue() -> list[dict[str, Any]]:
        """Every preset and its levels as plain JSON types, each usable or with the reason why not. Instant."""
        from hsd_core.catalogue import catalogue

        return catalogue()

    @classmethod
    def open(
        cls, preset: str, *, stack: str | None = None, device: str | None = None, dtype: str | None = None,
        progress: Progress | None = None,
    ) -> Workbench:  # fmt: skip
        """Fetch and convert the preset's weights where needed; load a stack's levels (the default's) and warm them up.

        Raises:
            UnknownPreset, StackError: bad names. WeightsError: weights cannot be had; the message says what helps.
        """
        if preset not in PRESETS:
            raise UnknownPreset(f"unknown preset {preset!r}; presets are {', '.join(PRESETS)}")
        if stack:
            parse(stack)  # a typing error is met before anything is fetched
        from hsd_core.building import Builder

        bench = cls(PRESETS[preset], Builder(PRESETS[preset], device, dtype, progress or (lambda *_: None)))
        bench.seats(stack or bench.default_stack)
        return bench

    @property
    def tokenizer(self) -> Pieces:
        return self._builder.tokenizer

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text."""
        return self._builder.ends

    def lean_target(self, spec: str = "target") -> LeanDecoder:
        """The decoder of a target (a stack's last level as it is written), if it is a lean one.

        Raises:
            StackError: it cannot be built, or is no lean decoder; the message says what it is.
        """
        from hsd_core.decoders.lean import LeanDecoder

        level = self.seats(spec)[-1].level
        decoder = getattr(level, "decoder", None)
        if not isinstance(decoder, LeanDecoder):
            what = "runs through transformers" if decoder else "is no transformer"
            raise StackError(f'"{level.label}" {what}; this needs a model that the lean decoder runs')
        return decoder

    def seats(self, stack: str) -> list[Seat]:
        """The stack's levels, built.

        Raises:
            StackError: it cannot be read or built; the message says which level and why.
        """
        return [self._builder.seat(spec, last=i == 0) for i, spec in enumerate(reversed(parse(stack)))][::-1]

    def encode(self, prompt: str, *, raw: bool) -> list[int]:
        """Token ids of a prompt, in the model's chat template unless `raw`."""
        return self._builder.tokenizer.encode(prompt) if raw else self._builder.tokenizer.chat(prompt)

    def run(
        self,
        stack: str,
        prompt: str,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        max_new_tokens: int = 128,
        raw: bool = False,
        baseline: bool = False,
        heads: int = 8,
        stop: Callable[[], bool] | None = None,
        title: str = "",
    ) -> Generator[trace.Event, None, None]:
        """Decode a prompt with a stack. Close the generator to end the run early.

        Args:
            baseline: then decode the prompt plainly too and yield what that took. heads: likeliest tokens of each
                row that go into the trace (0: none). stop: asked before every forward.
        Raises:
            ValueError: bad input, at once; the message names the cure.
        """  # fmt: skip
        from hsd_core.engine import run

        seats = self.seats(stack)
        sampling = Sampling(temperature, top_k, top_p)
        ids = self.encode(prompt, raw=raw)
        about = {**self.about, "recorded": date.today().isoformat(), "title": title}
        stop = stop or (lambda: False)

        def decode(what: list[Seat], rows: int) -> Iterator[trace.Event]:
            return run(
                what, ids, sampling, seed, max_new_tokens=max_new_tokens, ends=self._builder.ends, heads=rows,
                stop=stop, about=about,
            )  # fmt: skip

        # Plain decoding keeps two likeliest tokens a row: enough for the margin at a divergence.
        plain = (lambda: decode(self._plain(seats), 2)) if baseline and len(seats) > 1 else None
        return _events(decode(seats, heads), plain, self.tokenizer)

    def _plain(self, seats: list[Seat]) -> list[Seat]:
        target = seats[-1].spec
        bare = LevelSpec(target.name, dtype=target.dtype, device=target.device, id=target.id)
        return [self._builder.seat(bare, last=True)]


def _events(
    run: Iterator[trace.Event], plain: Callable[[], Iterator[trace.Event]] | None, pieces: Pieces
) -> Generator[trace.Event, None, None]:
    seen: list[trace.Event] = []
    with closing(run):  # type: ignore[type-var]
        for event in record(run, pieces):
            if isinstance(event, (trace.Commit, trace.Footer)):
                seen.append(event)
            yield event
    if plain is None or any(isinstance(e, trace.Footer) and e.reason == "stopped" for e in seen):
        return
    beside = list(plain())
    header, footer = beside[0], beside[-1]
    if isinstance(header, trace.Header) and isinstance(footer, trace.Footer) and footer.reason != "stopped":
        same = compare(seen, beside)
        yield trace.Baseline(
            header.stack, footer.prefill_ns, tuple(metrics.token_times(beside)), same.equal, same.diverges, same.margin
        )
