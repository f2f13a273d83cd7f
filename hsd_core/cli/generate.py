"""`generate`: decodes a prompt with a stack; the text goes to stdout, the totals to stderr. `--repeat` runs a trace
again from its header and compares the two.

A run is a function of its header: weights, stack, prompt, sampling, seed and, if plans changed, the profile and the
replanner's settings. Times differ; ids and plans must be the same.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hsd_core.cli.options import flag, option, reads, writes
from hsd_core.cli.shared_options import (
    add_preset,
    add_sampling,
    check_sampling,
    command,
    opened,
    progress,
    prompt_of,
    prompt_progress,
    sampled,
)
from hsd_core.cli.terminal import ACCEPTED, SUPPLIED, Tint, printable, totals_lines
from hsd_core.core import events as trace
from hsd_core.core.events import Event
from hsd_core.core.run_plans import Round, RunPlan
from hsd_core.grammar.stack_text import LevelSpec, parse
from hsd_core.measure.bench.prompts import DEFAULT
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.presets import PRESETS
from hsd_core.stacks.targets import preset_chosen
from hsd_core.trace import file as tracefile
from hsd_core.trace import metrics
from hsd_core.trace.comparison import shared_prefix


def add(commands: Any) -> None:
    parser = command(commands, "generate", "decode a prompt with a stack", act)
    add_preset(parser)
    option(parser, "--stack", "levels, cheapest first (default: `default`, this machine's), e.g. ngram:2,int8:8,target")
    what = parser.add_mutually_exclusive_group(required=True)
    option(what, "--prompt TEXT", "the prompt; - reads it from stdin")
    reads(what, "--repeat TRACE", "run a trace again from its header and compare")
    add_sampling(parser)
    flag(parser, "--baseline", "also measure plain decoding of the same prompt")
    flag(parser, "--replan", "choose levels and T of --stack again while generating")
    reads(parser, "--profile FILE", "with --replan: plan with this (default: calibrated, else shipped)")
    option(parser, "--explore N", "with --replan: every N rounds, one round of levels not seen lately", type=int)
    option(
        parser,
        "--by",
        "colour the text by the level that supplied a token, or by the highest that accepted it before the target",
        choices=(SUPPLIED, ACCEPTED),
    )
    writes(parser, "--trace FILE", "write the run to FILE (.jsonl or .jsonl.gz)")


def act(options: argparse.Namespace) -> int:
    from hsd_core.theory import read_profile
    from hsd_core.theory.replan import Pace
    from hsd_core.theory.stack_table import replanner_of

    if options.repeat:
        return _repeat(options)
    if options.profile and not options.replan:
        raise ValueError("--profile is what --replan plans with; add --replan")
    if options.explore is not None and not options.replan:
        raise ValueError("--explore is how --replan looks around; add --replan")
    check_sampling(options)
    pace = Pace(explore=options.explore or 0)
    profile = read_profile(options.profile) if options.profile else None
    prompt = prompt_of(options)
    stack = None if options.stack == DEFAULT else options.stack
    pipeline = opened(options, stack)
    events: list[trace.Event] = []
    tint = Tint(colour=sys.stdout.isatty(), by=options.by) if options.by else None
    text = _Text(tint)
    run = pipeline.run(
        stack or pipeline.default_stack,
        prompt,
        baseline=options.baseline,
        replan=options.replan and pace,
        profile=profile,
        reading=prompt_progress(),
        **sampled(options),
    )
    try:
        for event in run:
            events.append(event)
            text.feed(event)
    finally:
        run.close()
        text.close()
        if options.trace and events:  # an interrupted run is written too: its trace has no footer
            tracefile.write(options.trace, events)
    for line in totals_lines(events, colour=sys.stderr.isatty()):
        print(line, file=sys.stderr)
    asked = len(pipeline.encode(prompt, raw=options.raw)) + options.max_new_tokens
    header = metrics.header_of(events)
    longest = None if header.replan is None else replanner_of(header, parse(header.stack)).longest
    memory = pipeline.memory(header.stack, asked, longest)
    if memory.weights:
        print(f"memory: {memory}", file=sys.stderr)
    return 0


def _repeat(options: argparse.Namespace) -> int:
    """0 if the two runs are the same, 1 if not."""
    events = tracefile.read(options.repeat)
    where = {name: getattr(options, name) for name in ("target", "draft", "device", "dtype")}
    pipeline = reopened(events, **where, progress=progress())
    same = repeat(pipeline, events)
    print(same)
    return 0 if same else 1


class _Text:
    """Prints committed tokens as text at once; a character that spans tokens is printed with its last byte."""

    def __init__(self, tint: Tint | None = None) -> None:
        self._tint = tint
        self._pieces: dict[int, bytes] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # control characters are replaced on a terminal, but not in a pipe or a file
        self._clean = printable if sys.stdout.isatty() else str

    def feed(self, event: trace.Event) -> None:
        if self._tint is not None:
            print(self._tint.of(event), end="", flush=True)
        elif isinstance(event, trace.Piece):
            self._pieces[event.id] = b"" if event.special else base64.b64decode(event.b64)
        elif isinstance(event, trace.Commit):
            data = b"".join(self._pieces[token.id] for token in event.tokens)
            print(self._clean(self._decoder.decode(data)), end="", flush=True)

    def close(self) -> None:
        print(self._tint.end() if self._tint is not None else self._clean(self._decoder.decode(b"", final=True)))


@dataclass(frozen=True, slots=True)
class Repeat:
    """How many leading ids and plan changes agree, of how many; true if all do.

    `recorded`, `here`: the machines. Another processor may sum the products of a row in another order, so that logits
    differ in their last bits, which can change an acceptance or decide a near tie the other way.
    """

    ids: int
    ids_of: int
    plans: int
    plans_of: int
    recorded: str = ""
    here: str = ""

    def __bool__(self) -> bool:
        return self.ids == self.ids_of and self.plans == self.plans_of

    def __str__(self) -> str:
        plans = f"; {self.plans} of {self.plans_of} plans" if self.plans_of else ""
        text = f"{'the same' if self else 'not the same'}: {self.ids} of {self.ids_of} ids{plans}"
        if self or self.recorded == self.here:
            return text
        return (
            f"{text}; it was recorded on {self.recorded}, this is {self.here}: there sums of float products may differ "
            "in their last bits, and a sampled token with them"
        )


def reopened(
    events: Sequence[Event],
    *,
    target: str | None = None,
    draft: str | None = None,
    device: str | None = None,
    dtype: str | None = None,
    progress: Callable[[str, float, float], None] | None = None,
) -> Pipeline:
    """The pipeline of a trace, opened with its device and dtype unless others are named.

    Args:
        target, draft: the weights of a run whose target is not a preset's; a trace does not record their location.
    Raises:
        ValueError: the header names an unknown preset and no target is given, or the run was simulated.
    """
    header = metrics.header_of(events)
    if header.simulated:
        raise ValueError("the trace is simulated: no model ran, so none can run again; see the command whatif")
    if not target and header.preset not in PRESETS:
        raise ValueError(
            f"the trace is of {header.preset!r}, which is not a preset here (those are {', '.join(PRESETS)}); "
            "name its weights: --target FOLDER-OR-ID, and --draft where a model drafted"
        )
    preset, last = preset_chosen(header.preset or "", target=target, draft=draft, stack=header.stack), header.levels[-1]
    return Pipeline.open(
        preset,
        stack=header.stack,
        device=device or (None if preset.toy else last.device),
        dtype=dtype or (None if preset.toy else last.dtype),
        progress=progress,
    )


def repeat(pipeline: Pipeline, events: Sequence[Event]) -> Repeat:
    """Runs a trace again from its header and compares. An interrupted trace is compared up to its end. A run of a batch
    is told that there are as many others as there were.

    Raises:
        ValueError: the header's stack or profile cannot be used.
    """
    from hsd_core.stacks.prepared import run

    header = metrics.header_of(events)
    entries = pipeline.entries(header.stack)
    by = None
    if header.replan is not None:
        by = _AmongAsMany(events, [entry.spec for entry in entries])
    events_of = run(
        entries,
        header.prompt_ids,
        Sampling(**header.sampling),
        header.seed,
        max_new_tokens=header.max_new_tokens,
        ends=pipeline.ends,
        heads=0,
        replan=by,
    )
    again = list(events_of)
    ids, same_ids = metrics.committed_ids(events), metrics.committed_ids(again)
    rounds = max((e.round for e in events if isinstance(e, trace.Commit)), default=-1)
    plans, same_plans = _plans(events, rounds), _plans(again, rounds)
    # a complete run must also end at the same token
    of = max(len(ids), len(same_ids)) if metrics.finished(events) else len(ids)
    return Repeat(
        shared_prefix(ids, same_ids),
        of,
        shared_prefix(plans, same_plans),
        max(len(plans), len(same_plans)),
        _where(header.machine, header.versions),
        _where(pipeline.about["machine"], pipeline.about["versions"]),
    )


class _AmongAsMany:
    """The replanner of a recorded run, told of as many runs at once as there were."""

    def __init__(self, events: Sequence[Event], specs: Sequence[LevelSpec]) -> None:
        from hsd_core.theory.stack_table import replanner_of

        self._loads = {e.round: e.load for e in events if isinstance(e, trace.Plan) and e.load}
        self._load = self._loads.get(0, 1)
        self._by = replanner_of(metrics.header_of(events), specs, lambda: self._load)
        self.longest, self.settings, self.first = self._by.longest, self._by.settings, self._by.first

    def after(self, past: Round) -> RunPlan | None:
        self._load = self._loads.get(past.index + 1, self._load)
        return self._by.after(past)


def _where(machine: str, versions: Mapping[str, str]) -> str:
    return f"{machine or 'a machine without a name'} with torch {versions.get('torch', 'of an unknown version')}"


def _plans(events: Sequence[Event], last: int) -> list[tuple[Any, ...]]:
    """The plans of rounds up to `last`, without their times."""
    return [
        (e.round, e.stack, e.levels, e.blocks, e.predicted_ms, e.left_ms, e.why, e.acceptance, e.load or 1)
        for e in events
        if isinstance(e, trace.Plan) and e.round <= last
    ]
