"""The same prompts at every draft length, and the results: the length to use, and a profile for `plan`.

Every reply is stored at once in a file that `doctor` reads, so an interrupted sweep can resume.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hsd_core.doctor.draft_profile import DraftProfile, flat_share, profile_of
from hsd_core.doctor.gain import gain_of
from hsd_core.doctor.reading.counts import Counts
from hsd_core.doctor.reading.inputs import FORMAT, Runs
from hsd_core.measure.probe.engine_requests import Server, ask
from hsd_core.measure.probe.server import ProbeError
from hsd_core.measure.tables import markdown
from hsd_core.theory import Costs, Profile, ProfileLevel
from hsd_core.typed import Malformed, Wrong, convert, plain, pretty, write_whole
from hsd_core.typed.files import read_bytes

WARM_UP = 8  # tokens of a reply that is not counted
_MOST = 20_000_000  # bytes of a file
_NAME = re.compile(r"k=(\d+), prompt (\d+) of (\d+), (\d+) tokens")


@dataclass
class SweepFile:
    """Replies by draft length and prompt, in a file. prompts: their number; tokens: of a reply."""

    path: Path | None
    prompts: int
    tokens: int
    runs: dict[tuple[int, int], Counts] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path | None, prompts: int, tokens: int) -> SweepFile:
        """The contents of a file, if it exists.

        Raises:
            ProbeError: it is of other prompts, or not a probe's file.
        """
        kept = cls(path, prompts, tokens)
        if path is None or not path.exists() or not path.stat().st_size:
            return kept
        try:
            read = convert(plain(read_bytes(path, _MOST)), Runs)
        except (Malformed, Wrong, ValueError) as why:
            raise ProbeError(f"{path} is no file of a probe ({why}); name another --out") from None
        for run in read.runs:
            found = _NAME.fullmatch(run.name)
            if read.format != FORMAT or not found or (int(found[3]), int(found[4])) != (prompts, tokens):
                raise ProbeError(f"{path} holds other prompts or lengths of replies; name another --out, or move it")
            kept.runs[int(found[1]), int(found[2])] = run
        return kept

    def missing(self, k: int) -> list[int]:
        """The prompts, numbered from 1, without a reply at a draft length."""
        return [number for number in range(1, self.prompts + 1) if (k, number) not in self.runs]

    def add(self, k: int, number: int, seen: Counts) -> None:
        if self.runs and (other := next(iter(self.runs.values())).engine) != seen.engine:
            raise ProbeError(f"{self.path} holds runs of {other}, the server is {seen.engine}; name another --out")
        seen.name = f"k={k}, prompt {number} of {self.prompts}, {self.tokens} tokens"
        seen.kind = "runs"
        seen.notes = []
        self.runs[k, number] = seen
        self._write()

    def drop(self, k: int) -> None:
        """Delete the replies at a draft length."""
        self.runs = {at: run for at, run in self.runs.items() if at[0] != k}
        self._write()

    def listed(self) -> list[Counts]:
        return [run for _, run in sorted(self.runs.items())]

    def _write(self) -> None:
        if self.path is not None:
            write_whole(self.path, pretty(Runs(format=FORMAT, runs=self.listed())).encode() + b"\n")

    def at_length(self, k: int) -> list[Counts]:
        return [run for (length, _), run in sorted(self.runs.items()) if length == k]

    def lengths(self) -> list[int]:
        return sorted({k for k, _ in self.runs})


def measure(
    server: Server,
    k: int,
    prompts: Sequence[str],
    kept: SweepFile,
    *,
    progress: Callable[[int, int], None],
    synthetic: bool = False,
) -> None:
    """Request all missing replies at a draft length.

    Args:
        k: the length that the server was started with, 0 for plain. progress: called with the length and the number of
            prompts done.
        synthetic: the acceptance was set, so only times are stored.
    Raises:
        ProbeError: the server runs at another length, or does not report what is needed.
    """
    missing = kept.missing(k)
    if not missing:
        return
    ask(server, prompts[0], WARM_UP)
    for number in missing:
        seen = ask(server, prompts[number - 1], kept.tokens)
        _check(seen, k, server)
        kept.add(k, number, _times_alone(seen, k) if synthetic and k else seen)
        progress(k, kept.prompts - len(kept.missing(k)))
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


def _check(seen: Counts, k: int, server: Server) -> None:
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


def _times_alone(seen: Counts, k: int) -> Counts:
    """Without acceptances, which were set and say nothing about the drafter."""
    return Counts(
        engine=seen.engine,
        k=k,
        drafted=seen.drafted,
        decode_ms=seen.decode_ms,
        timed_tokens=seen.timed_tokens,
        timed_passes=seen.timed_passes,
    )


def rows(kept: SweepFile) -> Iterator[tuple[int, float, float, float]]:
    """By draft length: ms of a pass with its draft, tokens per pass, ms per token, over all prompts."""
    for k in kept.lengths():
        runs = kept.at_length(k)
        ms, tokens, passes = (
            sum(getattr(run, name) or 0.0 for run in runs) for name in ("decode_ms", "timed_tokens", "timed_passes")
        )
        if passes and tokens:
            yield k, ms / passes, tokens / passes, ms / tokens


CLOSE = 0.05  # of the time per token: lengths this close to the best count as equal


def recommended(kept: SweepFile) -> tuple[int, dict[int, float]]:
    """The draft length to use, 0 for none, and the ms per token at every length that was measured or lies between two.

    Raises:
        ProbeError: too little was measured.
    """
    gain = gain_of(profile_of(kept.listed())) if kept.runs else None
    if gain is None or 0 not in kept.lengths():
        raise ProbeError("no advice yet: measure without drafts (--length 0) and at two draft lengths or more")
    predicted = {length.k: length.ms for length in gain.lengths if length.k <= max(kept.lengths())}
    return min(predicted, key=lambda k: predicted[k]), predicted


def advice_lines(kept: SweepFile) -> Iterator[str]:
    """The lines to print: every length, and the advice."""
    figures = [(k or "none", f"{ms:.2f}", f"{tokens:.2f}", f"{each:.2f}") for k, ms, tokens, each in rows(kept)]
    yield markdown(("draft length", "ms a pass", "tokens a pass", "ms a token"), figures)
    profile = profile_of(kept.listed())
    if profile.conditional:
        shares = ", ".join(f"{share.value:.2f}" for share in profile.conditional)
        yield f"\naccepted, given that all before it were: {shares} (by position)"
    try:
        best, predicted = recommended(kept)
    except ProbeError as why:
        yield f"\n{why}"
        return
    plain = predicted[0]
    if best:
        more = "; longer ones were not measured, and may be better" if best == max(predicted) else ""
        gain = plain / predicted[best]
        yield f"\nuse drafts of {best}: {predicted[best]:.2f} ms a token, {gain:.2f} times plain decoding{more}"
    else:
        close = min((k for k in predicted if k), key=lambda k: predicted[k])
        yield (
            f"\nleave speculation off: the best length, {close}, takes {predicted[close]:.2f} ms a token and plain "
            f"decoding {plain:.2f}"
        )


def plan_profile(kept: SweepFile) -> Profile:
    """Two levels, the draft and the target, as a profile for `plan`.

    An engine reports one time for a pass with its draft. The draft's part is the largest that leaves no verification
    cheaper than a plain pass; the sum, which is all that a plan of two levels pays, is as measured. The profile's one
    acceptance gives the tokens per pass that were measured at the longest length.

    Raises:
        ProbeError: plain decoding or the drafts were not measured.
    """
    measured = {k: (ms, tokens) for k, ms, tokens, _ in rows(kept)}
    drafting = {k: ms for k, (ms, _) in measured.items() if k}
    profile = profile_of(kept.listed()) if kept.runs else DraftProfile("")
    if 0 not in measured or not drafting or profile.accepted is None:
        raise ProbeError("no profile yet: measure without drafts (--length 0) and with the engine's own drafts")
    plain = measured[0][0]
    draft_ms = min((ms - plain) / k for k, ms in drafting.items())
    draft_ms = max(draft_ms, 0.01 * plain)
    costs = {1: plain, **{k + 1: max(ms - k * draft_ms, plain) for k, ms in drafting.items()}}
    longest = max(drafting)
    share = flat_share(measured[longest][1] - 1.0, longest)
    about = {
        "engine": profile.engine,
        "note": "measured from outside by probe: draft and verification are told apart by the least that a pass takes",
        "acceptance_by_position": [round(one.value, 4) for one in profile.conditional],
        "prompts": kept.prompts,
        "tokens": kept.tokens,
    }
    target = ProfileLevel("target", Costs(tuple(costs), tuple(round(ms, 4) for ms in costs.values())))
    draft = ProfileLevel("draft", Costs.constant(round(draft_ms, 4)), draft_ms=round(draft_ms, 4))
    return Profile((draft, target), ((1.0, round(share, 4)), (0.0, 1.0)), max_block=max(16, longest), about=about)


def checked(kept: SweepFile, swept: SweepFile) -> tuple[str, bool]:
    """The advice of one sweep checked by the times of another on other prompts: a table, and whether it holds.

    Args:
        kept: the sweep with the advice. swept: every length, on prompts that are not in `kept`.
    Raises:
        ProbeError: one of them has too little.
    """
    best, predicted = recommended(kept)
    measured = {k: each for k, _, _, each in rows(swept)}
    if best not in measured:
        raise ProbeError(f"length {best} is recommended, and the other sweep has {sorted(measured)}; measure it too")
    quickest = min(measured, key=lambda k: measured[k])
    off = measured[best] / measured[quickest] - 1.0
    lines = [
        (
            k or "none",
            f"{predicted[k]:.2f}" if k in predicted else "",
            f"{each:.2f}",
            f"{measured[0] / each:.2f}" if 0 in measured else "",
            " and ".join(said for said, true in (("recommended", k == best), ("quickest", k == quickest)) if true),
        )
        for k, each in sorted(measured.items())
    ]
    head = ("draft length", "ms a token, predicted", "ms a token, measured on other prompts", "times plain", "")
    said = f"The recommended length takes {off:.1%} longer a token than the quickest one."
    return f"{markdown(head, lines)}\n\n{said}", off <= CLOSE
