"""The server's figures for Prometheus: how its runs ended and what they came to, who waits, what is in memory.

Acceptance of a level over any time is the ratio of two counters, `hsd_accepted_total` / `hsd_judged_total`. With
`--batch`, the runs in a pass of a level are that of `hsd_pass_runs_total` / `hsd_passes_total`.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.words import watch as says

End = Literal["done", "stopped", "refused", "error"]
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250)
RATE_S = 10.0
STATES = ("ok", "starting", "loading", "restarting", "down")


class Metrics:
    """
    Args:
        health: how page and engine are, as `GET /health` says it; asked whenever the figures are.
    """

    def __init__(self, health: Callable[[], dict[str, Any]]) -> None:
        self._registry = own = CollectorRegistry()
        own.register(_Now(health, self._rate))
        self._written = deque[tuple[float, int]]()  # when, tokens; of the last `RATE_S`
        self._runs = Counter("hsd_runs", says.RUNS, ("job", "preset", "end"), registry=own)
        self._refused = Counter("hsd_refused", says.REFUSED, registry=own)
        self._errors = Counter("hsd_errors", says.ERRORS, registry=own)
        self._tokens = Counter("hsd_tokens", says.TOKENS, ("preset",), registry=own)
        self._rounds = Counter("hsd_rounds", says.ROUNDS, ("preset",), registry=own)
        self._judged = Counter("hsd_judged", says.JUDGED, ("preset", "level"), registry=own)
        self._accepted = Counter("hsd_accepted", says.ACCEPTED, ("preset", "level"), registry=own)
        self._passes = Counter("hsd_passes", says.PASSES, ("preset", "level"), registry=own)
        self._shares = Counter("hsd_pass_runs", says.SHARES, ("preset", "level"), registry=own)
        self._waits = Histogram("hsd_wait_seconds", says.WAITS, buckets=_SECONDS, registry=own)
        self._turns = Histogram("hsd_turn_seconds", says.TURNS, ("job", "preset"), buckets=_SECONDS, registry=own)

    def waited(self, seconds: float) -> None:
        """A run had its turn after so long."""
        self._waits.observe(seconds)

    def count(self, tally: Tally, payload: dict[str, Any]) -> None:
        """Count a payload of a run that goes on."""
        before = tally.tokens
        tally.count(payload)
        if more := tally.tokens - before:
            self._written.append((time.monotonic(), more))
            self._rate()  # drops what is old

    def _rate(self) -> float:
        since = time.monotonic() - RATE_S
        while self._written and self._written[0][0] < since:
            self._written.popleft()
        return sum(tokens for _, tokens in self._written) / RATE_S

    def ended(self, job: str, preset: str, end: End, tally: Tally, took: float | None) -> None:
        """A run is over. took: seconds of its turn, None where it had none."""
        self._runs.labels(job, preset, end).inc()
        if end == "refused":
            self._refused.inc()
        elif end == "error":
            self._errors.inc()
        if took is None:
            return
        self._turns.labels(job, preset).observe(took)
        self._tokens.labels(preset).inc(tally.tokens)
        self._rounds.labels(preset).inc(tally.rounds)
        for kind, judged, accepted in tally.levels.values():
            self._judged.labels(preset, kind).inc(judged)
            self._accepted.labels(preset, kind).inc(accepted)
        for kind, (passes, runs) in tally.passes.items():
            self._passes.labels(preset, kind).inc(passes)
            self._shares.labels(preset, kind).inc(runs)

    def text(self) -> bytes:
        """All of it, in Prometheus' text form."""
        return generate_latest(self._registry)


class _Now(Collector):
    """What is read when it is asked for."""

    def __init__(self, health: Callable[[], dict[str, Any]], rate: Callable[[], float]) -> None:
        self._health, self._rate = health, rate

    def collect(self) -> Iterable[Metric]:
        how = self._health()
        engine = how["engine"]
        yield GaugeMetricFamily("hsd_waiting", says.WAITING, value=how["waiting"])
        yield GaugeMetricFamily("hsd_running", says.RUNNING, value=how["running"])
        yield GaugeMetricFamily("hsd_places", says.PLACES, value=how["places"])
        yield GaugeMetricFamily("hsd_tokens_per_second", says.RATE, value=self._rate())
        yield CounterMetricFamily("hsd_page_restarts", says.PAGE_RESTARTS, value=how["restarts"])
        yield CounterMetricFamily("hsd_engine_restarts", says.RESTARTS, value=engine["restarts"])
        state = GaugeMetricFamily("hsd_engine_state", says.STATE, labels=["state"])
        for name in STATES:
            state.add_metric([name], float(name == engine["state"]))
        yield state
        memory = GaugeMetricFamily("hsd_memory_bytes", says.MEMORY, labels=["process"])
        memory.add_metric(["page"], how["memory"])
        if engine["pid"] != os.getpid():
            memory.add_metric(["engine"], engine["memory"])
        yield memory


# ---- What a run came to, counted from its payloads as they pass: tokens, rounds, what each level judged and accepted


@dataclass(slots=True)
class Tally:
    """
    Attributes:
        tokens: committed; rounds: of the target.
        levels: by index, the kind of each that judged, how many places, and at how many of them it accepted a token.
        passes: by kind, the level's passes in a batch, one of k runs as 1/k of a pass, and the runs in them.
    """

    tokens: int = 0
    rounds: int = 0
    levels: dict[int, tuple[str, int, int]] = field(default_factory=dict)
    passes: dict[str, tuple[float, int]] = field(default_factory=dict)
    _kinds: list[str] = field(default_factory=list)
    _seen: int = 0

    def count(self, payload: dict[str, Any]) -> None:
        """Count a payload's records that were not counted before."""
        start, records = payload["from"], payload["ev"]
        for record in records[max(0, self._seen - start) :]:
            kind = record["event"]
            if kind == "header":
                self._kinds = [level["kind"] for level in record["levels"]]
            elif kind == "snapshot":
                self.tokens = record["committed"]
                self.rounds += 1
            elif "batch" in record.get("notes", ()):
                self._share(self._kinds[record["level"]], record["notes"]["batch"])
            elif kind == "gauge" and record["judged"]:
                level = record["level"]
                self.levels[level] = self._kinds[level], record["judged"], record["accepted"]
        self._seen = max(self._seen, start + len(records))

    def _share(self, kind: str, note: dict[str, Any]) -> None:
        passes, runs = self.passes.get(kind, (0.0, 0))
        self.passes[kind] = passes + note["passes"] / len(note["runs"]), runs + note["passes"]
