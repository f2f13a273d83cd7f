"""A second bookkeeping of a run, from its events alone: what every cache and the context must be at every moment.

The engine reports `cached`, `held` and `committed`; here they are derived from what was computed and rolled back, so a
report that only agrees with itself does not pass.
"""

from __future__ import annotations

from collections.abc import Sequence

from hsd_core.core import events as trace


class Ledger:
    def __init__(self, header: trace.Header, cacheless: frozenset[int], ends: frozenset[int]) -> None:
        self.prompt = len(header.prompt_ids)
        self.context = list(header.prompt_ids)
        self.serials: list[int] = [-1] * self.prompt
        self.committed = self.prompt
        self.cached = dict.fromkeys((i for i in range(len(header.levels)) if i not in cacheless), 0)
        self.levels = header.levels
        self.plan = tuple(range(len(header.levels)))
        self.ends, self.limit = ends, header.max_new_tokens
        self.steps = self.last = self.seen = 0
        self.done = False

    def feed(self, event: trace.Event) -> None:
        self.steps += event.event in ("draft", "verify")
        assert not self.done, "an event after the footer"
        times = [getattr(event, name) for name in ("t0", "t1", "t") if hasattr(event, name)]
        assert times == sorted(times), f"{event.event}: ends before it begins"
        assert not times or times[-1] >= self.last, f"{event.event}: time ran backwards"
        self.last = times[-1] if times else self.last
        getattr(self, f"_{event.event}", lambda event: None)(event)
        assert len(self.context) - self.prompt <= self.limit, "a token behind the end of the text"
        assert not self.ends.intersection(self.context[self.prompt : -1]), "a token behind an end of sequence"

    def _add(self, level: int, at: int, serials: Sequence[int], ids: Sequence[int]) -> None:
        assert at == len(self.context) - self.prompt
        assert list(serials) == list(range(self.seen, self.seen + len(ids))), "serials are not in order"
        self.seen += len(ids)
        self.context += ids
        self.serials += serials

    def _reach(self, level: int, rows: int, end: int) -> None:
        """A level has processed `rows` more positions, up to `end`; exits of the same trunk below have them too."""
        info = self.levels[level]
        # These compute positions again: once true features are known; to compare every exit with the target; in order.
        if info.params.get("fed") or info.params.get("chooses") or info.params.get("calibrate"):
            self.cached[level] = end
            return
        self.cached[level] += rows
        for other in self.levels[:level]:
            lens = not any(other.params.get(name) for name in ("layers", "chooses", "calibrate"))
            if other.shares is not None and other.shares == info.shares and lens:
                self.cached[other.index] = max(self.cached[other.index], self.cached[level])

    def _plan(self, event: trace.Plan) -> None:
        assert event.levels[-1] == len(self.levels) - 1 and len(event.blocks) == len(event.levels) - 1
        assert len(self.context) == self.committed, "a plan that changes within a round"
        self.plan = event.levels

    def _prefill(self, event: trace.Prefill) -> None:
        assert event.level in self.plan, "a level that rests was prefilled"
        if event.round is not None:
            assert event.tokens == len(self.context) - 1 - self.cached[event.level] > 0
            self._reach(event.level, event.tokens, len(self.context) - 1)
            assert self.cached[event.level] == len(self.context) - 1
            return
        assert event.tokens == self.prompt
        if event.level in self.cached:
            self.cached[event.level] = self.prompt - 1

    def _draft(self, event: trace.Draft) -> None:
        self._add(event.level, event.at, event.serials, event.ids)
        assert event.work.rows - event.work.catch_up == event.work.forwards
        assert event.level == self.plan[0], "a draft of another level than the bottom"
        if event.level in self.cached:
            self._reach(event.level, event.work.rows, len(self.context) - 1)
            unread = len(self.context) - self.cached[event.level]
            unsure = self.levels[event.level].params.get("climbs") and event.work.forwards > len(event.ids)
            assert unread == (0 if unsure else 1) or not event.ids

    def _verify(self, event: trace.Verify) -> None:
        n = len(event.checks)
        assert event.level in self.plan and event.below in (None, *self.plan), "a level that rests was run"
        place = self.plan.index(event.level)
        assert event.below == (self.plan[place - 1] if place else None)
        start = len(self.context) - n
        assert event.at == start - self.prompt
        assert [check.id for check in event.checks] == self.context[start:]
        assert [check.serial for check in event.checks] == self.serials[start:]
        assert event.work.rows - event.work.catch_up in ((n, n + 1) if n else (1,))
        outcomes = [check.outcome for check in event.checks]
        accepted = outcomes.count("accepted")
        assert outcomes == (["accepted"] * accepted + ["rejected"] + ["unjudged"] * n)[:n]
        self._reach(event.level, event.work.rows, start + event.work.rows - event.work.catch_up - 1)
        del self.context[start + accepted :], self.serials[start + accepted :]

    def _rollback(self, event: trace.Rollback) -> None:
        unread = event.before == len(self.context)  # no token follows: the last one is to be read again
        assert event.before == self.cached[event.level] > event.after == len(self.context) - unread
        self.cached[event.level] = event.after

    def _correct(self, event: trace.Correct | trace.Bonus) -> None:
        self._add(event.level, event.at, [event.serial], [event.id])

    _bonus = _correct

    def _commit(self, event: trace.Commit) -> None:
        assert event.at == self.committed - self.prompt
        assert [token.id for token in event.tokens] == self.context[self.committed :]
        assert [token.serial for token in event.tokens] == self.serials[self.committed :]
        assert event.tokens, "a round that commits nothing"
        self.committed = len(self.context)
        for info in self.levels:
            if info.kind == "view":  # it takes over what the target has computed
                self.cached[info.index] = self.cached[len(self.levels) - 1]
        for info in self.levels:  # what was drafted in groups is true now as far as the level above has been
            if info.params.get("calibrate") and info.shares is not None:
                self.cached[info.index] = max(self.cached[info.index], self.cached[info.shares])

    def _kv(self, event: trace.Kv) -> None:
        assert [length.level for length in event.levels] == list(self.cached)
        for length in event.levels:
            assert length.cached == self.cached[length.level]
            assert (length.committed, length.held) == (self.committed, len(self.context) - self.committed)
            assert length.cached + length.catch_up == length.committed + length.held
            assert length.catch_up >= 1, f"level {length.level} has nothing left to process"

    def _footer(self, event: trace.Footer) -> None:
        assert event.committed == self.committed - self.prompt
        self.done = True


def audit(events: Sequence[trace.Event], *, cacheless: frozenset[int], ends: frozenset[int]) -> Ledger:
    """Feed a whole run; AssertionError where an event contradicts the ones before."""
    header = events[0]
    assert isinstance(header, trace.Header)
    ledger = Ledger(header, cacheless, ends)
    for event in events[1:]:
        ledger.feed(event)
    return ledger
