"""A stack for a notebook or the Python prompt: opened by one name, its runs shown as the page shows them.

from hsd_core import open_stack

stack = open_stack("ngram:3,int8:6,target")
run = stack.run("Why is the sky blue?", max_new_tokens=64)
run  # the last line of a cell: the text in colours, the tower of levels, the charts
run.table()
"""

from __future__ import annotations

import sys
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.export.run_page import frame, page
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_names import level_names, stack_name
from hsd_core.pipeline import Pipeline
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.conventions import accepted_by, round_number

LOOK_S = 0.1  # between two lines of progress
LEVELS, TOKENS = "levels", "tokens"


def open_stack(stack: str | None = None, preset: str | Preset = "smollm2", **how: Any) -> OpenStack:
    """A stack that is ready to run; None is the default one for this machine. Weights that it lacks are fetched.

    Args:
        how: `device`, `dtype` and the other arguments of `Pipeline.open`, which says what it raises.
    """
    with _Line() as line:
        pipeline = Pipeline.open(preset, stack=stack, progress=line.step, **how)
        opened = OpenStack(pipeline, stack or pipeline.default_stack)
        line.last = f"{opened.stack} is open"
    return opened


class OpenStack:
    """A stack, and the pipeline that runs it."""

    def __init__(self, pipeline: Pipeline, stack: str) -> None:
        self.pipeline, self.stack = pipeline, stack

    def run(self, prompt: str, *, max_new_tokens: int = 128, **how: Any) -> Run:
        """Decode a prompt; a line tells how far it is.

        Args:
            how: `temperature`, `seed`, `baseline` and the other arguments of `Pipeline.run`, which says what it raises.
        """
        events: list[Event] = []
        tokens = 0
        with _Line() as line:

            def reading(level: str, done: int, of: int) -> None:
                if done < of:
                    line.step(f"{level} reads the prompt", done, of)

            decoding = self.pipeline.run(self.stack, prompt, max_new_tokens=max_new_tokens, reading=reading, **how)
            for event in decoding:
                events.append(event)
                if isinstance(event, trace.Commit):
                    tokens += len(event.tokens)
                    line.tell(f"{tokens} of at most {max_new_tokens} tokens")
            run = Run(events)
            line.last = run.summary
        return run

    def other(self, stack: str) -> OpenStack:
        """Another stack over the same models.

        Raises:
            StackError: see `Pipeline.entries`.
        """
        self.pipeline.entries(stack)
        return OpenStack(self.pipeline, stack)

    def __repr__(self) -> str:
        return f"<{self.stack} over {self.pipeline.preset.title}, {self.pipeline.device}, {self.pipeline.dtype}>"


class Run:
    """A run that has ended, by its events. In a notebook it shows itself as the page does, without a server."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.header = metrics.header_of(events)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The figures of `trace.metrics`, and `speed_up` over plain decoding where the run has a baseline."""
        return {**metrics.measure(self.events), "speed_up": metrics.speed_up(self.events)}

    @cached_property
    def text(self) -> str:
        return b"".join(self._pieces[token.id] for _, token in self._tokens()).decode(errors="replace")

    @property
    def summary(self) -> str:
        """The stack and the main figures, in one line."""
        found = self.figures
        said = [
            f"{found['committed']} tokens",
            *(f"{value:.1f} {what}" for value, what in ((found["tokens_per_s"], "tokens/s"),) if value),
            *(f"{value:.2f} per target forward" for value in (found["tokens_per_target_forward"],) if value),
            *(f"{value:.2f} times plain decoding" for value in (found["speed_up"],) if value),
        ]
        exact = "exact" if self.header.lossless else "lossy"
        if (spared := found.get("spared")) is not None:
            exact += f": {spared / max(1, found['committed']):.1%} of the tokens are not the target's own choice"
        return f"{stack_name(self.header.stack)} ({self.header.stack}): {', '.join(said)}; {exact}"

    def table(self, of: str = LEVELS) -> Any:
        """A row for each of the run's levels (`trace.metrics` defines the figures) or of its tokens, as
        pandas.DataFrame where pandas is installed, else as a `Table`.

        Args:
            of: "levels" or "tokens".
        Raises:
            ValueError: it is neither.
        """
        if of not in (LEVELS, TOKENS):
            raise ValueError(f"there is no table of {of!r}; ask for {LEVELS!r} or {TOKENS!r}")
        rows = self._levels() if of == LEVELS else self._texts()
        try:
            from pandas import DataFrame
        except ImportError:
            return Table(rows)
        return DataFrame(rows)

    def save(self, path: str | Path) -> None:
        """Write the run: as a page of its own if the name ends in .html, else as a trace (.jsonl or .jsonl.gz)."""
        if Path(path).suffix == ".html":
            Path(path).write_text(page(self.events), encoding="utf-8")
        else:
            tracefile.write(path, self.events)

    def _repr_html_(self) -> str:
        return frame(self.events)

    def __repr__(self) -> str:
        return f"{self.text}\n\n{self.summary}"

    @cached_property
    def _pieces(self) -> dict[int, bytes]:
        found = (event for event in self.events if isinstance(event, trace.Piece))
        return {piece.id: b"" if piece.special else b64decode(piece.b64) for piece in found}

    @cached_property
    def _names(self) -> Sequence[str]:
        return level_names(self.header.stack, [level.label for level in self.header.levels])

    def _tokens(self) -> list[tuple[trace.Commit, trace.Committed]]:
        return [(event, token) for event in self.events if isinstance(event, trace.Commit) for token in event.tokens]

    def _levels(self) -> list[dict[str, Any]]:
        measured = zip(self._names, self.header.levels, self.figures["levels"], strict=True)
        return [{**figures, "level": name, "block": info.block} for name, info, figures in measured]

    def _texts(self) -> list[dict[str, Any]]:
        """`supplied`, `accepted`: the names of the level that made the token, and of the highest below the target that
        accepted it; `ms` since the end of the prefill."""
        names, top, times = self._names, len(self._names) - 1, metrics.token_times(self.events)
        return [
            {
                "text": self._pieces[token.id].decode(errors="replace"),
                "id": token.id,
                "round": round_number(commit.round),
                "supplied": names[token.level],
                "accepted": None if (by := accepted_by(token, top)) is None else names[by],
                "how": token.how,
                "ms": ns / 1e6,
            }
            for (commit, token), ns in zip(self._tokens(), times, strict=True)
        ]


class Table(list[dict[str, Any]]):
    """Rows by column, printed in aligned columns."""

    def __repr__(self) -> str:
        if not self:
            return "no rows"
        shown = [[*self[0]], *([_cell(value) for value in row.values()] for row in self)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in shown)


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


class _Line:
    """A line that replaces the one before: on a terminal, or in the output of a notebook's cell, where `last` stays."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.last = ""
        self._clock, self._told = clock, 0.0
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        self._cell = hasattr(shell, "kernel")
        self._handle: Any = None

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *raised: object) -> None:
        self._show(self.last)

    def step(self, stage: str, done: float, total: float) -> None:
        self.tell(f"{stage} {done / total:4.0%}" if total else stage)

    def tell(self, line: str) -> None:
        if (now := self._clock()) - self._told >= LOOK_S:
            self._told = now
            self._show(line)

    def _show(self, line: str) -> None:
        if self._cell:
            shown = {"text/plain": line}
            if self._handle is None:
                self._handle = sys.modules["IPython"].display.display(shown, raw=True, display_id=True)
            else:
                self._handle.update(shown, raw=True)
        elif sys.stderr.isatty():
            print(f"\r\033[K{'' if line == self.last else line}", end="", file=sys.stderr, flush=True)
