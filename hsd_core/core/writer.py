"""Records a run as events, while the engine's clock is stopped.

The writer numbers tokens (serials), remembers which levels accepted them and counts each level's work. It decides
nothing: a run that records less makes the same choices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hsd_core.core import events as trace
from hsd_core.core.clock import EngineClock
from hsd_core.core.level import LevelRun, Proposal, Work
from hsd_core.core.notes import Dropped, Note, Stale, Threshold, noted
from hsd_core.core.requests import Judged, KeepRequest, ScoreRequest
from hsd_core.core.rules import Verdict
from hsd_core.core.run_plans import RunPlan
from hsd_core.core.tree import Token, Tree
from hsd_core.models.best_acceptance import reach
from hsd_core.models.sampling import OneHot, dense, entries, shortlists

NOTHING_MEASURED: Mapping[str, Note] = MappingProxyType({})


@dataclass(slots=True)
class _Total:
    forwards: int = 0
    rows: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    ns: int = 0


class TraceWriter:
    """Makes the events of one run.

    heads: how many likeliest tokens of each row to write; 0 writes none.
    prompt_length: positions before it are the prompt; events count from its end.
    bounded: the levels that write a bound for each judged position, if heads are written.
    """

    def __init__(
        self, clock: EngineClock, levels: int, prompt_length: int, heads: int, bounded: Collection[int] = ()
    ) -> None:
        self.clock = clock
        self.round = 0
        self.committed = prompt_length
        self._prompt = prompt_length
        self._heads = heads
        self._bounded = bounded if heads else ()
        self._serials = 0
        self._passed: dict[int, tuple[int, ...]] = {}
        self._drawn_from: dict[int, trace.Row | None] = {}  # serial -> head of the row that a token came from
        self._own: trace.Row | None = None  # the same for the own token of the last verifier
        self._totals = [_Total() for _ in range(levels)]

    @property
    def next_serial(self) -> int:
        """The serial of the next token."""
        return self._serials

    def token(self, id_: int, *, level: int, how: trace.How, source: str) -> Token:
        token = Token(self._serials, id_, level, how, source)
        self._serials += 1
        return token

    def draft(
        self,
        level: int,
        start: int,
        tree: Tree,
        proposal: Proposal,
        t0: int,
        t1: int,
        theta: float | None,
        measured: Mapping[str, Note] = NOTHING_MEASURED,
        *,
        stale: bool = False,
        onto: Sequence[int] = (),
    ) -> trace.Draft:
        """The draft of a level after the first `start` tokens of the context.

        stale: that text was cut while the draft ran. onto: for a draft that continues earlier drafts, the serial of
        each token's parent; -1 if that is the text or a token of this draft. measured: see `notes.gauges`.
        """
        with self.clock.stopped():
            work = proposal.work
            self._count(level, work, 0, t1 - t0)
            self._totals[level].tokens_out += len(tree)
            confidence: list[float | None] = [None] * len(tree)
            if self._heads and tree.logits is not None and len(tree):
                ranked = tree.logits.likeliest(self._heads)
                for fork in tree.forks.values():
                    drawn = [row for o in fork if (row := tree.offers[o].row) is not None]
                    for o in fork if drawn else ():  # a named sibling of a drawn token was chosen by the same row
                        node, row = tree.offers[o].node, tree.offers[o].row
                        likeliest = ranked[drawn[0] if row is None else row]
                        confidence[node] = _short(likeliest[0][1])
                        self._drawn_from[tree.tokens[node].serial] = self._head(likeliest)
            return trace.Draft(
                self.round,
                level,
                start - self._prompt,
                tuple(
                    trace.Drafted(token.serial, token.id, source, _short(q), sure, parent)
                    for token, source, q, sure, parent in zip(
                        tree.tokens, proposal.sources, _drawn_with(tree), confidence, _parents(tree, onto), strict=True
                    )
                ),
                trace.Work(work.forwards, work.rows, work.catch_up, work.ran),
                t0,
                t1,
                {
                    **{name: note.placed(self._prompt) for name, note in proposal.notes.items()},
                    **noted(_threshold(theta), Stale() if stale else None),
                    **measured,
                },
            )

    def stale(self, asked: ScoreRequest, work: Work, below: int | None, t0: int, t1: int) -> trace.Verify:
        """A verification whose text was cut while it ran: it has no verdict."""
        with self.clock.stopped():
            self._count(asked.level, work, 0, t1 - t0)
            at = len(asked.context) - self._prompt
            notes = {**work.notes, **noted(Stale())}
            return trace.Verify(self.round, asked.level, below, at, _work(work), (), t0, t1, notes=notes)

    def verify(
        self,
        asked: KeepRequest,
        work: Work,
        t0: int,
        t1: int,
        dropped: Iterable[int] = (),
        measured: Mapping[str, Note] = NOTHING_MEASURED,
    ) -> trace.Verify:
        """A verification. dropped: tokens after the judged ones that go
        too. measured: see `notes.gauges`."""
        with self.clock.stopped():
            judged, level, start = asked.judged, asked.level, len(asked.context)
            tree, verdict = judged.tree, judged.verdict
            self._count(level, work, len(tree), t1 - t0)
            self._totals[level].tokens_out += len(verdict.path) + (verdict.token is not None)
            p_of, q_of = self._chances(judged), _drawn_with(tree)
            parents, last = tree.lineage, verdict.path[-1] if verdict.path else -1
            forks = (-1, *(verdict.path if verdict.token is not None else verdict.path[:-1]))  # that decided something
            ranked = judged.line[1][: len(forks)].likeliest(self._heads) if self._heads else []
            p_heads = {fork: self._head(row) for fork, row in zip(forks, ranked, strict=False)}
            self._own = p_heads.get(last)
            judgements = _judged_offers(tree, verdict)
            ends = [node for node in judgements if parents[node] == last]  # the fork at the end of the path
            checks = []
            outcome: trace.Outcome
            for node, o in judgements.items():
                token, fork = tree.tokens[node], parents[node]
                residual = None
                if node in verdict.path:
                    outcome = "accepted"
                    self._passed[token.serial] = (*self._passed.get(token.serial, ()), level)
                elif fork == last and verdict.residual is not None:
                    outcome = "rejected"
                    if node == ends[-1]:
                        residual = self._residual(verdict)
                else:
                    outcome = "rejected" if verdict.alphas[o] is not None and not tree.is_chain else "unjudged"
                q_head = self._drawn_from.get(token.serial) or self._certain(token.id)
                checks.append(
                    trace.Check(
                        token.serial,
                        token.id,
                        _short_or_none(verdict.alphas[o]),
                        verdict.coins[o],
                        outcome,
                        _short(p_of[o]),
                        _short(q_of[node]),
                        p_heads.get(fork),
                        q_head,
                        residual,
                    )
                )
            for node in verdict.path:  # for the level above they are tokens of this level's distribution
                self._drawn_from[tree.tokens[node].serial] = p_heads.get(parents[node])
            did, fallen = _work(work, len(asked.probed)), tuple(dropped)
            notes = noted(_threshold(asked.theta), Dropped(fallen) if fallen else None)
            return trace.Verify(
                self.round,
                level,
                asked.below,
                start - self._prompt,
                did,
                tuple(checks),
                t0,
                t1,
                self._bounds(level, judged),
                {**work.notes, **notes, **measured},
            )

    def own(self, asked: KeepRequest, token: Token) -> trace.Correct | trace.Bonus:
        """A verifier's correction or bonus."""
        with self.clock.stopped():
            event = trace.Correct if token.how == "correct" else trace.Bonus
            at, (dists, _) = asked.judged.verdict.accepted, asked.judged.line
            head = self._drawn_from[token.serial] = self._own
            chance = _short(entries(dists, [at], [token.id])[0])
            place = len(asked.context) + at - self._prompt
            return event(self.round, token.level, place, token.serial, token.id, chance, self.clock.now(), head)

    def commit(self, block: Tree, pending: int | None = None) -> trace.Commit:
        """The tokens that the target commits. pending: the first serial that may still be judged; None: none may."""
        at = self.committed - self._prompt
        self.committed += len(block)
        self._drawn_from = {
            serial: row for serial, row in self._drawn_from.items() if pending is not None and serial >= pending
        }
        tokens = tuple(
            trace.Committed(t.serial, t.id, t.level, t.how, t.source, self._passed.get(t.serial, ()))
            for t in block.tokens
        )
        return trace.Commit(self.round, at, tokens, self.clock.now())

    def rollback(self, level: int, before: int, after: int) -> trace.Rollback:
        return trace.Rollback(self.round, level, before, after, self.clock.now())

    def kv(self, caches: Iterable[tuple[int, LevelRun]], length: int) -> trace.Kv:
        """The cache lengths of levels, given as (index, run), over a context of `length` tokens."""
        held = length - self.committed
        lengths = tuple(trace.KvLength(i, run.cached, length - run.cached, self.committed, held) for i, run in caches)
        return trace.Kv(self.round, lengths, self.clock.now())

    def report(self, level: int, note: Note, t0: int) -> trace.Report:
        """A note of a level's system, at a commit or after the prompt is read."""
        return trace.Report(level, t0, self.clock.now(), noted(note.placed(self._prompt)))

    def plan(self, chosen: RunPlan, stack: str, t0: int) -> trace.Plan:
        return trace.Plan(
            self.round,
            stack,
            chosen.levels,
            chosen.blocks,
            t0,
            self.clock.now(),
            _short_or_none(chosen.predicted_ms),
            _short_or_none(chosen.left_ms),
            chosen.why,
            {k: _short(x) for k, x in chosen.acceptance.items()},
            chosen.load,
        )

    def footer(self, reason: trace.Ending, *, prefill_ns: int, decode_ns: int) -> trace.Footer:
        totals = tuple(
            trace.LevelTotal(i, t.forwards, t.rows, t.tokens_in, t.tokens_out, t.ns) for i, t in enumerate(self._totals)
        )
        counted = self.round, self.committed - self._prompt
        return trace.Footer(reason, *counted, prefill_ns, decode_ns, totals)

    def _bounds(self, level: int, judged: Judged) -> tuple[trace.Bound, ...]:
        """For each judged position the probability with which a candidate could be kept."""
        if level not in self._bounded:
            return ()
        tree, rows, found = judged.tree, dense(judged.rows.dists), list[trace.Bound]()
        for fork in (-1, *judged.verdict.path):
            offers = [tree.offers[o] for o in tree.forks.get(fork, ())]
            if not offers:
                continue
            drawn = [offer.row for offer in offers if offer.row is not None]
            named = [tree.ids[offer.node] for offer in offers if offer.row is None]
            q = tree.rows[drawn[0]].double().numpy() if drawn and tree.rows is not None else None
            p = rows[judged.rows.places[fork]].double().numpy()
            best = reach(p, q, len(drawn), named, repeats=tree.repeats)
            first = tree.tokens[offers[0].node].serial
            found.append(trace.Bound(first, _short_or_none(best.rule), _short(best.best)))
        return tuple(found)

    def _count(self, level: int, work: Work, tokens_in: int, ns: int) -> None:
        total = self._totals[level]
        total.forwards += work.forwards
        total.rows += work.rows
        total.tokens_in += tokens_in
        total.ns += ns

    @staticmethod
    def _head(likeliest: list[tuple[int, float]]) -> trace.Row:
        ids, probs = zip(*likeliest, strict=True)
        chances = tuple(map(_short, probs))
        return trace.Row(ids, chances, _short(max(0.0, 1.0 - sum(chances))))

    def _residual(self, verdict: Verdict) -> trace.Row | None:
        """The head of the distribution that a correction is drawn from."""
        dist = verdict.residual
        if isinstance(dist, OneHot):
            return self._certain(dist.ids[0])
        return self._head(shortlists(dist[None].clone(), self._heads)[0]) if self._heads and dist is not None else None

    def _certain(self, id_: int) -> trace.Row | None:
        """The head of a one-hot row."""
        return trace.Row((id_,), (1.0,), 0.0) if self._heads else None

    @staticmethod
    def _chances(judged: Judged) -> list[float]:
        """Every offered token's probability under the verifier's row at its fork."""
        tree = judged.tree
        if not len(tree):
            return []
        parents = tree.lineage
        forks = [judged.rows.places[parents[offer.node]] for offer in tree.offers]
        return entries(judged.rows.dists, forks, [tree.ids[offer.node] for offer in tree.offers])


def _drawn_with(tree: Tree) -> list[float]:
    """Each token's probability under the row that it was drawn from; 1 for a named or a greedily drawn one."""
    chances = [1.0] * len(tree)
    if tree.rows is not None and (drawn := [offer for offer in tree.offers if offer.row is not None]):
        rows, ids = zip(*((offer.row, tree.ids[offer.node]) for offer in drawn), strict=True)
        for offer, chance in zip(drawn, entries(tree.rows, rows, ids), strict=True):
            chances[offer.node] = chance
    return chances


def _judged_offers(tree: Tree, verdict: Verdict) -> dict[int, int]:
    """Node -> the index of its offer in the verdict, in judging order: the first offer, or the one that was kept."""
    found: dict[int, int] = {}
    for o, offer in enumerate(tree.offers):
        if offer.node not in found or (offer.node in verdict.path and verdict.alphas[o] is not None):
            found[offer.node] = o
    return found


def _short_or_none(x: float | None) -> float | None:
    return None if x is None else _short(x)


def _short(x: float) -> float:
    """Six significant digits: enough to read and replay, half the size of a trace."""
    return float(f"{x:.6g}")


def _work(work: Work, probes: int = 0) -> trace.Work:
    """The work of a verifier, which counts as one forward (`events.Work`)."""
    return trace.Work(1, work.rows, work.catch_up, work.ran, probes)


def _parents(tree: Tree, onto: Sequence[int]) -> Iterable[int | None]:
    """See `events.Drafted`."""
    if tree.parents is None:
        return (None,) * len(tree)
    ends = onto or (-1,) * len(tree)
    return (end if above < 0 else tree.tokens[above].serial for above, end in zip(tree.parents, ends, strict=True))


def _threshold(theta: float | None) -> Threshold | None:
    return None if theta is None else Threshold(_short(theta))
