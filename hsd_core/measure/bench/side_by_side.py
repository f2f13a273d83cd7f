"""Interleaved measurement of stacks and plain decoding of the same target.

For every prompt, plain decoding and all stacks run one after another in an order that rotates from prompt to prompt,
with the same kernels, seed and length; one run of each on the first prompt is a warm-up and is dropped. A stack's
speed-up is the ratio of total tokens/s over all prompts; its interval is a bootstrap over prompts, so that an outlier
among them shows.

A conversation is one prompt: its turns are run one after another, each behind plain decoding's own answers to the turns
before, so that all read the same text; its figures are sums over the turns.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from hsd_core.core.events import Draft, Event, Footer
from hsd_core.grammar.stack_text import format_stack, parse, plain_target
from hsd_core.measure.bench.prompts import Prompt
from hsd_core.measure.tables import OnClock
from hsd_core.measure.timed import rotated
from hsd_core.theory.stack_table import whole
from hsd_core.trace import metrics
from hsd_core.trace.comparison import Comparison, compare, shared_prefix
from hsd_core.typed import Wrong, convert


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run. Times in ns on the engine's clock; `equal` and `margin` compare its ids with plain decoding's.

    stack: as `OnClock` writes it. judged, accepted: tokens of the level below that each level judged, and accepted.
    busy_ns: time of each level's drafting and verifying. offers: how often the lowest level was asked for a draft, and
    had one. Both are empty in files of earlier versions. spared: tokens that are not the target's own choice; surprise:
    the target's mean surprise at the text, nats a token; both of texts that the target read afterwards.
    """

    prompt: int
    category: str
    stack: str
    tokens: int
    decode_ns: int
    prefill_ns: int
    target_forwards: int
    judged: tuple[int, ...]
    accepted: tuple[int, ...]
    equal: int
    diverges: bool
    margin: float | None
    busy_ns: tuple[int, ...] = ()
    offers: tuple[int, ...] = ()
    spared: float | None = None
    surprise: float | None = None

    @property
    def holds(self) -> bool:
        """Equal to plain decoding as the project defines it."""
        return Comparison(self.equal, self.diverges, self.margin).holds


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One run of another program. equal: leading ids that agree with our plain decoding, of `of`. failed: why it wrote
    nothing, or ""."""

    prompt: int
    category: str
    peer: str
    tokens: int
    decode_ns: int
    equal: int
    of: int
    failed: str = ""


@dataclass(frozen=True, slots=True)
class PeerText:
    """A peer's text. tokens: number of ids behind its first pass, written in decode_ns. failed: see `PeerRun`."""

    ids: tuple[int, ...]
    tokens: int
    decode_ns: int
    failed: str = ""


@dataclass(frozen=True, slots=True)
class BenchPeer:
    """Another program that continues prompts greedily with the same target and number of threads."""

    name: str
    run: Callable[[Said], PeerText]


Said = str | tuple[str, ...]  # a prompt, or what user and model said in turn, the user first and last
Runner = Callable[[str, Any], Iterable[Event]]  # (stack, `Said`, or a text where no prompt is a conversation)


def plain_of(stack: str) -> str:
    """Plain decoding of a stack's target: its baseline."""
    return format_stack([plain_target(parse(whole(OnClock.read(stack).stack))[-1])])


def with_plain(stacks: Iterable[str]) -> list[str]:
    """Plain decoding of each target, then the stacks; each once."""
    stacks = list(stacks)
    return list(dict.fromkeys([*map(plain_of, stacks), *stacks]))


def interleaved(
    runner: Runner,
    stacks: Sequence[str],
    prompts: Sequence[Prompt],
    *,
    peers: Sequence[BenchPeer] = (),
    done: frozenset[int] = frozenset(),
    answer: Callable[[Sequence[int]], str] = str,
) -> Generator[Measurement | PeerRun, None, None]:
    """Measure stacks and peers.

    Args:
        runner: (stack, prompt) -> a run's events. done: prompts to skip. answer: the text of ids that were written, for
            conversations.
    """
    everything = with_plain(stacks)
    named: dict[str, BenchPeer] = {peer.name: peer for peer in peers}
    todo = [i for i in range(len(prompts)) if i not in done]
    order = [*everything, *named]
    for turn, i in enumerate([*todo[:1], *todo]):  # the first prompt twice: its first runs are a warm-up
        found: dict[str, list[Measurement | PeerRun]] = {name: [] for name in order}
        said: tuple[str, ...] = ()
        for asked in (prompts[i].text, *prompts[i].later):
            runs, texts = dict[str, list[Event]](), dict[str, PeerText]()
            for name in rotated(order, turn):
                if name in named:
                    texts[name] = _peer_text(named[name], (*said, asked) if said else asked)
                else:
                    runs[name] = list(runner(name, (*said, asked) if said else asked))
            plain = metrics.committed_ids(runs[plain_of(everything[0])])
            for stack in everything:
                found[stack].append(_measurement(i, prompts[i], stack, runs[stack], runs[plain_of(stack)]))
            for name, text in texts.items():
                found[name].append(_peer_run(i, prompts[i], name, text, plain))
            if prompts[i].later:
                said = (*said, asked, answer(plain))
        if turn:
            yield from (_over_turns(parts) for parts in found.values())


def sweep(
    runner: Runner, stacks: Sequence[str], prompts: Sequence[Prompt], *, done: frozenset[int] = frozenset()
) -> Generator[Measurement, None, None]:
    """Measure stacks only; see `interleaved`."""
    with closing(interleaved(runner, stacks, prompts, done=done)) as runs:
        yield from (run for run in runs if isinstance(run, Measurement))


def _over_turns(parts: Sequence[Any]) -> Any:
    """The run of a conversation from those of its turns: sums, and the worst of what is compared."""
    if len(parts) == 1:
        return parts[0]
    added = {name: sum(getattr(part, name) for part in parts) for name in ("tokens", "decode_ns", "equal")}
    if isinstance(parts[0], PeerRun):
        failed = next((part.failed for part in parts if part.failed), "")
        return replace(parts[0], **added, of=sum(part.of for part in parts), failed=failed)
    added |= {name: sum(getattr(part, name) for part in parts) for name in ("prefill_ns", "target_forwards")}
    levels = {
        name: tuple(map(sum, zip(*(getattr(part, name) for part in parts), strict=True)))
        for name in ("judged", "accepted", "busy_ns", "offers")
    }
    margins = [part.margin for part in parts if part.diverges]
    margin = None if None in margins else max(margins, default=None)
    if all(part.surprise is not None for part in parts):
        nats = sum(part.surprise * part.tokens for part in parts)
        added |= {"spared": sum(part.spared for part in parts), "surprise": nats / max(1, added["tokens"])}
    return replace(parts[0], **added, **levels, diverges=bool(margins), margin=margin)


def _peer_text(peer: BenchPeer, prompt: Said) -> PeerText:
    """A peer's text; a failure on one prompt does not end the benchmark."""
    try:
        return peer.run(prompt)
    except Exception as error:
        return PeerText((), 0, 0, f"{type(error).__name__}: {error}".splitlines()[0][:120])


def _peer_run(i: int, prompt: Prompt, name: str, text: PeerText, plain: Sequence[int]) -> PeerRun:
    equal = shared_prefix(text.ids, plain)
    return PeerRun(i, prompt.category, name, text.tokens, text.decode_ns, equal, len(plain), text.failed)


def _measurement(i: int, prompt: Prompt, stack: str, run: list[Event], plain: list[Event]) -> Measurement:
    figures = metrics.measure(run)
    footer = next(e for e in run if isinstance(e, Footer))
    drafts = [e.tokens for e in run if isinstance(e, Draft) and e.level == 0]
    same = compare(run, plain)
    return Measurement(
        prompt=i,
        category=prompt.category,
        stack=stack,
        tokens=footer.committed,
        decode_ns=footer.decode_ns,
        prefill_ns=footer.prefill_ns,
        target_forwards=footer.totals[-1].forwards,
        judged=tuple(level["judged"] for level in figures["levels"]),
        accepted=tuple(level["accepted"] for level in figures["levels"]),
        equal=same.equal,
        diverges=same.diverges,
        margin=same.margin,
        busy_ns=tuple(round(1e6 * level["busy_ms"]) for level in figures["levels"]),
        offers=(len(drafts), sum(map(bool, drafts))),
        spared=figures.get("spared"),
        surprise=figures.get("surprise"),
    )


def completed(measurements: Iterable[Measurement], stacks: Iterable[str]) -> list[Measurement]:
    """The measurements of prompts on which all stacks were run; an interrupted sweep has others too."""
    by_prompt: dict[int, list[Measurement]] = {}
    for m in measurements:
        by_prompt.setdefault(m.prompt, []).append(m)
    wanted = set(stacks)
    return [m for own in by_prompt.values() if {x.stack for x in own} == wanted for m in own]


def from_record(record: Mapping[str, Any]) -> Measurement:
    """The inverse of `asdict` of a stack's run, also after JSON.

    Raises:
        ValueError: it is not a measurement.
    """
    try:
        return convert(record, Measurement)
    except Wrong:
        raise ValueError(f"{str(record)[:60]} is not a measurement of this version; measure again") from None
