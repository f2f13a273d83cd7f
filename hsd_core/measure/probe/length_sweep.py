"""The same prompts at every draft length, one after another, and the file that keeps them: what `doctor` reads.

Every reply is kept as soon as it is there, so a sweep that is broken off goes on where it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hsd_core.doctor.reading.inputs import FORMAT, Runs
from hsd_core.doctor.reading.seen import Seen
from hsd_core.measure.probe.http_server import ProbeError
from hsd_core.measure.probe.one_prompt import Server, ask
from hsd_core.typed import Malformed, Wrong, convert, plain, pretty, put
from hsd_core.typed.bounded import whole

WARM_UP = 8  # tokens of a reply that nobody counts
_MOST = 20_000_000  # bytes of a file
_NAME = re.compile(r"k=(\d+), prompt (\d+) of (\d+), (\d+) tokens")


@dataclass
class Kept:
    """Replies by draft length and prompt, and the file where they are. prompts: how many; tokens: of a reply."""

    path: Path | None
    prompts: int
    tokens: int
    runs: dict[tuple[int, int], Seen] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path | None, prompts: int, tokens: int) -> Kept:
        """What a file has already.

        Raises:
            ProbeError: it is of other prompts or of another engine's output.
        """
        kept = cls(path, prompts, tokens)
        if path is None or not path.exists() or not path.stat().st_size:
            return kept
        try:
            read = convert(plain(whole(path, _MOST)), Runs)
        except (Malformed, Wrong, ValueError) as why:
            raise ProbeError(f"{path} is no file of a probe ({why}); name another --out") from None
        for run in read.runs:
            found = _NAME.fullmatch(run.name)
            if read.format != FORMAT or not found or (int(found[3]), int(found[4])) != (prompts, tokens):
                raise ProbeError(f"{path} holds other prompts or lengths of replies; name another --out, or move it")
            kept.runs[int(found[1]), int(found[2])] = run
        return kept

    def missing(self, k: int) -> list[int]:
        """Prompts, counted from 1, that have no reply at a draft length yet."""
        return [number for number in range(1, self.prompts + 1) if (k, number) not in self.runs]

    def add(self, k: int, number: int, seen: Seen) -> None:
        if self.runs and (other := next(iter(self.runs.values())).engine) != seen.engine:
            raise ProbeError(f"{self.path} holds runs of {other}, the server is {seen.engine}; name another --out")
        seen.name = f"k={k}, prompt {number} of {self.prompts}, {self.tokens} tokens"
        seen.kind = "runs"
        seen.notes = []
        self.runs[k, number] = seen
        self._write()

    def drop(self, k: int) -> None:
        """Forget a draft length."""
        self.runs = {at: run for at, run in self.runs.items() if at[0] != k}
        self._write()

    def listed(self) -> list[Seen]:
        return [run for _, run in sorted(self.runs.items())]

    def _write(self) -> None:
        if self.path is not None:
            put(self.path, pretty(Runs(format=FORMAT, runs=self.listed())).encode() + b"\n")

    def at_length(self, k: int) -> list[Seen]:
        return [run for (length, _), run in sorted(self.runs.items()) if length == k]

    def lengths(self) -> list[int]:
        return sorted({k for k, _ in self.runs})


def measure(
    server: Server,
    k: int,
    prompts: Sequence[str],
    kept: Kept,
    *,
    tell: Callable[[int, int], None],
    synthetic: bool = False,
) -> None:
    """Ask for all replies at a draft length that are not there yet.

    Args:
        k: what the server was started with, 0 for plain. tell: called with the length and prompts that are done.
        synthetic: what is accepted was told to the engine, so times alone are kept.
    Raises:
        ProbeError: the server does not run so, or does not tell what is needed.
    """
    missing = kept.missing(k)
    if not missing:
        return
    ask(server, prompts[0], WARM_UP)
    for number in missing:
        seen = ask(server, prompts[number - 1], kept.tokens)
        _check(seen, k, server)
        kept.add(k, number, _times_alone(seen, k) if synthetic and k else seen)
        tell(k, kept.prompts - len(kept.missing(k)))
    if k and not any(run.drafted for run in kept.at_length(k)):
        kept.drop(k)
        raise ProbeError(
            f"no drafts were made at length {k}: {server.asked.root} runs without speculation, or its drafter found "
            f"nothing. {_WHY[server.engine]}"
        )


_WHY: Mapping[str, str] = {
    "llama.cpp": "Start llama-server with --spec-type (its default is none) as well as with the draft",
    "vllm": "Start vLLM with --speculative-config",
    "sglang": "Start SGLang with --speculative-algorithm",
}


def _check(seen: Seen, k: int, server: Server) -> None:
    where = server.asked.root
    if not k and seen.drafts:
        raise ProbeError(f"{where} drafts, and plain decoding is to be measured; start it without a draft")
    longest = max(len(seen.kept), -(-(seen.drafted or 0.0) // seen.rounds) if seen.rounds else 0)
    if k and seen.drafts and longest > k:
        raise ProbeError(f"{where} drafts up to {longest:g} tokens, and length {k} is to be measured; start it anew")
    if not k:
        seen.k = None
        return
    seen.k = k
    seen.kept += [0.0] * (k - len(seen.kept)) if seen.kept and seen.rounds else []


def _times_alone(seen: Seen, k: int) -> Seen:
    """Without what was accepted, which says nothing of the drafter."""
    return Seen(
        engine=seen.engine,
        k=k,
        drafted=seen.drafted,
        decode_ms=seen.decode_ms,
        timed_tokens=seen.timed_tokens,
        timed_passes=seen.timed_passes,
    )


def rows(kept: Kept) -> Iterator[tuple[int, float, float, float]]:
    """By draft length: ms of a pass with its draft, tokens a pass, ms a token, over all prompts."""
    for k in kept.lengths():
        runs = kept.at_length(k)
        ms, tokens, passes = (
            sum(getattr(run, name) or 0.0 for run in runs) for name in ("decode_ms", "timed_tokens", "timed_passes")
        )
        if passes and tokens:
            yield k, ms / passes, tokens / passes, ms / tokens
