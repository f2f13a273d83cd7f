"""Levels that offer several sequences: what is counted of their offers is what real runs make of them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from cases import first_always
from enumerator import every_path
from lean_stacks import LeanStacks, RandomDraft
from toys import output_of, table

from hsd_core.cli.calibrate import table as printed
from hsd_core.core.events import Commit, Draft, Event, Verify
from hsd_core.core.level import StackEntry
from hsd_core.core.rules import tokenwise
from hsd_core.core.tree import Offer, Tree, named
from hsd_core.grammar.keys import FUSE, GUESS, WINDOW
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.fused import FusedLevel
from hsd_core.measure.calibrate import acceptance, isolated_costs, measured_in_runs
from hsd_core.measure.calibrate.acceptance import BLOCK, count_offers, judge
from hsd_core.measure.calibrate.candidates import candidates, default_levels, is_run_only
from hsd_core.measure.calibrate.isolated_costs import Timings, time_levels
from hsd_core.measure.calibrate.measured_in_runs import ran
from hsd_core.measure.calibrate.profiling import Effort, calibrate
from hsd_core.measure.calibrate.reading import read
from hsd_core.measure.calibrate.run_costs import Observed, in_runs
from hsd_core.measure.intervals import Tally
from hsd_core.measure.texts import written_texts
from hsd_core.measure.texts.written_texts import WrittenText
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.prepared import run
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.table.table_level import TableLevel
from hsd_core.theory import Costs
from hsd_core.theory.profiles.profile_json import profile_from, to_dict

V = 4
SILENT = 8  # guesses of lookups whose keys are longer than any text
NONE: frozenset[int] = frozenset()
PROMPT = (0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 2, 2, 0)  # every pair of tokens goes on in several ways


def lookups(guess: int, vocab: int = V, *, window: int = 0, keys: tuple[int, int] = (1, 4)) -> NgramLevel:
    def databases() -> Databases:
        return Databases("c", reach={"c": LookupLimits(*keys)}, ahead=window > 0)

    return NgramLevel(databases, vocab, guess=guess, window=window, n=4)


def entry(level: Any, text: str) -> StackEntry:
    spec = parse(f"{text},target" if text != "target" else text)[0]
    return StackEntry(level, spec, spec.block)


def tables(*seeds: int, vocab: int = V, sharpness: float = 0.7) -> list[StackEntry]:
    made = [TableLevel(table(vocab, seed, sharpness=sharpness), vocab) for seed in seeds]
    return [entry(level, "table") for level in made]


def fused(guess: int, vocab: int = V) -> StackEntry:
    return entry(FusedLevel(tables(5, vocab=vocab)[0].level, lookups(guess, vocab)), f"table@fuse={guess}")


def trees(offers: Mapping[int, measured_in_runs.Offered]) -> dict[int, Tree]:
    return {start: offered.tree for start, offered in offers.items()}


def by_depth(events: Sequence[Event], before: int) -> Counter[tuple[int, bool]]:
    """(depth, whether one of the tokens there was accepted) of real rounds that began before a token: how often."""
    found: Counter[tuple[int, bool]] = Counter()
    tree: Draft | None = None
    for event in events:
        if isinstance(event, Draft):
            tree = event
        if isinstance(event, Verify) and event.at < before and tree is not None:
            parents = tree.parents
            accepted = {tree.serials.index(check.serial) for check in event.checks if check.outcome == "accepted"}
            last, depth = -1, 1
            while below := [node for node, parent in enumerate(parents) if parent == last]:
                kept = accepted.intersection(below)
                found[depth, bool(kept)] += 1
                if not kept:
                    break
                (last,), depth = kept, depth + 1
    return found


def sizes(event: Draft) -> Counter[int]:
    """How many tokens a draft has at each depth."""
    depths: list[int] = []
    for parent in event.parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return Counter(depths)


def first_places(found: Mapping[tuple[int, bool], float]) -> tuple[float, float]:
    """Forks that were kept, and that were judged, among the first ones of their offers."""
    kept = sum(found[m, True] for m in range(1, BLOCK + 1))
    return kept, kept + sum(found[m, False] for m in range(1, BLOCK + 1))


def test_greedy_offers_fare_exactly_as_in_the_engines_own_run() -> None:
    bottom, judges, tokens = entry(lookups(2), "ngram@guess=2"), tables(2, 1), 120
    output, offers = ran([bottom, judges[-1]], PROMPT, 0.0, 0, ends=NONE, tokens=tokens, stop=lambda: False)
    tally, before = Tally(1), min(tokens, len(output))
    count_offers(tally, 0, read(judges, WrittenText(PROMPT, output), 0.0, NONE), 2, trees(offers))
    whole = StackEntry(bottom.level, bottom.spec, 8)
    events = list(run([whole, judges[-1]], PROMPT, Sampling(), 0, max_new_tokens=tokens + 9))
    assert output_of(events)[: len(output)] == output
    drafts = [event for event in events if isinstance(event, Draft) and event.at < before]
    real = by_depth(events, before)
    assert len(drafts) > 20 and any(draft.is_tree for draft in drafts)
    assert real[1, True] > 5 and real[2, True] > 2 and real[1, False] > 5
    kept, judged = first_places(real)
    assert tally.weight(("pair", 2, 1)) == pytest.approx(judged)
    assert tally.ratio(("pair", 2, 1)) == pytest.approx(kept / judged)
    hits = [sizes(draft) for draft in drafts if draft.ids]
    assert tally.ratio(("hit", 2)) == pytest.approx(len(hits) / len(drafts))
    for m in range(1, 5):
        deep = [size[m] for size in hits if size[m]]
        assert tally.ratio(("reach", 2, m)) == pytest.approx(len(deep) / len(hits))
        assert tally.ratio(("beside", 2, m)) == pytest.approx(sum(deep) / len(deep))
    assert (tally.ratio(("beside", 2, 1)) or 0.0) > 1.2


@pytest.mark.parametrize("bottom", [entry(lookups(2), "ngram@guess=2"), fused(2)], ids=["lookups", "fused"])
def test_sampled_offers_are_accepted_as_enumeration_of_the_engine_says(
    bottom: StackEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over every path of a first round: its depths by the target, the first one by any other judge."""
    judges, depth = tables(2, 1), 2
    monkeypatch.setattr(measured_in_runs, "LONGEST", depth)

    def counted(above: StackEntry, places: int) -> tuple[Counter[Any], Counter[Any]]:
        """Sums over all paths: of the tally of so many places, and of what the engine did in the first round."""
        monkeypatch.setattr(acceptance, "BLOCK", places)
        told, done = Counter[Any](), Counter[Any]()

        def once(choices: Any) -> tuple[Tally, list[Event]]:
            events: list[Event] = []

            def engine(*given: Any, **more: Any) -> list[Event]:
                for event in run(*given, **more, choices=choices):
                    events.append(event)
                    if isinstance(event, Commit):
                        break
                return events

            monkeypatch.setattr(written_texts, "run", engine)
            output, offers = ran([bottom, above], PROMPT, 1.0, 0, ends=NONE, tokens=1, stop=lambda: False)
            tally = Tally(1)
            count_offers(tally, 0, read(judges, WrittenText(PROMPT, output), 1.0, NONE), 2, trees(offers))
            return tally, events

        for mass, (tally, events) in every_path(once):
            for key in tally.names():
                told[(*key, "under")] += mass * tally.weight(key)  # type: ignore[assignment]
                told[(*key, "over")] += mass * tally.weight(key) * (tally.ratio(key) or 0.0)  # type: ignore[assignment]
            for key, times in by_depth(events, 1).items():
                done[key] += mass * times  # type: ignore[assignment]
        return told, done

    told, done = counted(judges[1], depth)
    assert min(done[1, True], done[1, False], done[2, True], done[2, False]) > 0.02
    kept, judged = first_places(done)
    assert told["pair", 2, 1, "over"] == pytest.approx(kept, abs=1e-6)
    assert told["pair", 2, 1, "under"] == pytest.approx(judged, abs=1e-6)
    first, _ = counted(judges[1], 1)
    _, other = counted(judges[0], 1)
    assert first["pair", 2, 0, "over"] == pytest.approx(other[1, True], abs=1e-6)
    assert abs(other[1, True] - done[1, True]) > 0.02, "the judges differ"


class Refuses:
    """A judge who keeps nothing, so that a rule says how likely it would have kept each offer behind the others."""

    def accept(self, alpha: float, depth: int, number: int = 0) -> tuple[bool, float]:
        return False, 0.5

    def draw(self, row: Any, depth: int) -> int:
        return 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("drawn", [None, 1, 3])
def test_the_texts_token_weighs_what_the_rule_accepts_it_with_over_what_the_target_does(
    drawn: int | None, seed: int
) -> None:
    """A fork of two named tokens, and perhaps one that was drawn, with one more place behind each of its tokens."""
    generator = torch.Generator().manual_seed(seed)
    mid, top, low = (torch.rand(2, 5, generator=generator, dtype=torch.float64).pow(2) for _ in range(3))
    dists = {i: rows / rows.sum(1, keepdim=True) for i, rows in enumerate((mid, top))}
    first = [2, 4] if drawn is None else [drawn, 2, 4]
    ids, parents = [*first, *first], (*(-1 for _ in first), *range(len(first)))
    offered = tuple(Offer(node, 0 if node == 0 and drawn is not None else None) for node in range(len(ids)))
    rows = None if drawn is None else low / low.sum(1, keepdim=True)
    tree = replace(named(ids), parents=parents, offered=offered, rows=rows)
    for token in first:
        kept = []  # by judge: P(it accepts the token)
        for p in dists.values():
            fork = replace(named(first), parents=parents[: len(first)], offered=offered[: len(first)], rows=rows)
            alphas = tokenwise(fork, p[[0] * (len(first) + 1)], Refuses(), True).alphas  # type: ignore[arg-type]
            before = math.prod(1.0 - float(alpha or 0.0) for alpha in alphas[: first.index(token)])
            kept.append(before * float(alphas[first.index(token)] or 0.0))
        for i, (_, passed) in judge(dists, [token, 0], 0, tree).items():
            expected = min(1.0, kept[i] / kept[1]) if kept[1] else 0.0
            assert passed[0] == pytest.approx(expected) and passed[1] == 0.0
    assert judge(dists, [0, 2], 0, tree)[0][1].tolist() == [0.0], "nothing stands behind a token that was not offered"


def test_a_kept_sequence_that_ends_before_another_does_is_not_accepted_further_down() -> None:
    tree = replace(named((0, 1, 2)), parents=(-1, -1, 1))  # 0 by itself, and 1 with 2 behind it
    dists = {0: torch.tensor([[0.5, 0.3, 0.2]] * 3)}
    (short, passed), (deep, _) = (judge(dists, [first, 2, 0], 0, tree)[0] for first in (0, 1))
    assert short == pytest.approx([0.8, 0.0]) and passed.tolist() == [1.0, 0.0]
    assert deep == pytest.approx([0.8, 0.2])


@pytest.mark.everything
def test_sampled_offers_fare_as_in_many_real_rounds() -> None:
    bottom, judges, texts, tokens = fused(2), tables(2, 1), 60, 24
    tally, real = Tally(texts), Counter[tuple[int, bool]]()
    for seed in range(texts):
        output, offers = ran([bottom, judges[1]], PROMPT, 1.0, seed, ends=NONE, tokens=tokens, stop=lambda: False)
        count_offers(tally, seed, read(judges, WrittenText(PROMPT, output), 1.0, NONE), 2, trees(offers))
        whole = StackEntry(bottom.level, bottom.spec, 8)
        events = list(run([whole, judges[1]], PROMPT, Sampling(1.0), seed, max_new_tokens=tokens + 9))
        real += by_depth(events, min(tokens, len(output)))
    kept, n = first_places(real)
    share, found = kept / n, tally.ratio(("pair", 2, 1))
    assert n > 300 and tally.weight(("pair", 2, 1)) == pytest.approx(n, rel=0.02)
    # the same rounds: what differs are the engine's coins
    assert found == pytest.approx(share, abs=4.0 * math.sqrt(share * (1.0 - share) / n))


def test_a_window_rides_in_the_costs_of_every_verifier_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TURNS", 2), ("WARM_UP", 0), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)
    stacks = LeanStacks(layers=3)
    entries = stacks.stack("exit:2@at=1,int8:3,target")
    window = entry(lookups(2, stacks.target.vocab_size, window=3), "ngram@guess=2@window=3@n=4")
    scored: Counter[tuple[int, int]] = Counter()
    beside = Tree.with_probes

    def seen(self: Tree, probes: Any) -> Tree:
        both = beside(self, probes)
        scored[len(self), len(both) - len(self)] += 1
        return both

    monkeypatch.setattr(Tree, "with_probes", seen)
    text = WrittenText((3, 9, 27, 4, 3, 9), (7, 8, 50, 11))
    several_ = [entry(lookups(4, stacks.target.vocab_size), "ngram@guess=4"), window]
    found = time_levels(entries, [text], 0.0, run_only=several_, progress=lambda *_: None, stop=lambda: False)
    with_window = {pair for pair in found.edges if pair[0] == 4}
    assert with_window == {(4, 0), (4, 1), (4, 2)} and not any(pair[0] == 3 for pair in found.edges)
    assert all(found.edges[pair].rows == (1, 2, 3) for pair in with_window)
    full = len(window.level.window_probes(text.prompt).ids)
    assert {n for n, probes in scored if probes == full} == {0, 1, 2}, "one verification of 1, 2 and 3 rows each"
    assert {probes for _, probes in scored} == {0, full}


def test_a_level_that_judges_branch_by_branch_has_costs_of_its_own_for_several_sequences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("TURNS", 2), ("WARM_UP", 0), ("FEWEST", 1), ("ROWS", (1, 8)), ("EDGE_ROWS", (4,))):
        monkeypatch.setattr(isolated_costs, name, value)
    stacks = LeanStacks(layers=3)
    stacks.drafts = {"nano": RandomDraft(stacks.target, fed=True)}
    entries = stacks.stack("nano:2,int8:3,target")
    passes = Counter[int]()
    score = DraftRun._score

    def counted(self: DraftRun, ids: Sequence[int], rows: int, *more: Any) -> Any:
        passes[rows] += 1
        return score(self, ids, rows, *more)

    monkeypatch.setattr(DraftRun, "_score", counted)
    guesses = [entry(lookups(3, stacks.target.vocab_size), "ngram@guess=3")]
    text = WrittenText((3, 9, 27, 4, 3, 9), (7, 8, 50, 11))
    found = time_levels(entries, [text], 0.0, run_only=guesses, progress=lambda *_: None, stop=lambda: False)
    assert set(found.edges) == {(3, 0)} and found.edges[3, 0].rows == (1, 4, 8)
    # three branches each: one token deep for 4 rows, 3, 2 and 2 for 8
    assert passes[2] % 3 == 0 and passes[2] and passes[4] and passes[3] == 2 * passes[4]


def test_a_full_window_is_what_runs_carry_and_is_not_among_the_rows_of_their_costs() -> None:
    bottom, target = entry(lookups(2, window=3), "ngram:3@guess=2@window=3@n=4"), tables(1)
    events = list(run([bottom, *target], PROMPT, Sampling(), 0, max_new_tokens=30))
    verified = [event for event in events if isinstance(event, Verify)]
    full = len(bottom.level.window_probes(PROMPT).ids)
    assert [event.work.probes for event in verified[3:-4]] == [full] * len(verified[3:-4]) and len(verified) > 10
    seen = Observed()
    seen.add(events, (1, 0))
    assert sorted(rows for (_, rows), ms in seen.verify.items() for _ in ms) == sorted(
        event.work.rows - event.work.probes for event in verified
    )
    assert min(rows for _, rows in seen.verify) >= 1


def test_the_costs_beside_a_window_are_those_of_runs_where_it_was_met_and_else_scaled_as_its_verifiers_own() -> None:
    alone, wide = Costs((1, 4), (10.0, 20.0)), Costs((1, 4), (30.0, 40.0))
    seen = Observed()
    seen.verify[(0, 1), 4].extend([30.0] * 900)
    seen.verify[(3, 2), 4].extend([44.0] * 900)
    found = in_runs(Timings({1: alone, 2: alone}, {}, {(3, 1): wide, (3, 2): wide}), seen)
    assert found.edges[3, 2](4) == pytest.approx(44.0, rel=0.01)
    assert found.edges[3, 1](4) == pytest.approx(60.0, rel=0.02)  # its verifier was half as slow again
    assert found.verify[2] == alone


def test_lists_of_levels_hold_more_than_a_stack_and_keep_their_order() -> None:
    pipeline = with_lookups(Pipeline.open("toy"))
    asked = [f"ngram@guess={k}" for k in range(2, 9)] + ["table@id=order1", "ngram@window=2", "table@id=order3"]
    found = candidates(pipeline, ",".join([*asked, "table@id=order6"]))
    assert [found.names[i] for i in found.order] == [*asked, "table@id=order6"]
    assert found.stack == "table@id=order1,table@id=order3,table@id=order6" and found.target == 2
    assert len(found.run_only) == 8 and not found.left_out


def test_levels_that_offer_several_sequences_and_fail_are_left_out_with_the_reason() -> None:
    found = candidates(Pipeline.open("toy"), "ngram@guess=3,table@id=order1@fuse=2,table@id=order3,table@id=order6")
    assert found.names == ("table@id=order3", "table@id=order6") and found.run_only == ()
    assert "no level 'ngram'" in found.left_out["ngram@guess=3"]
    assert "leave @fuse= out" in found.left_out["table@fuse=2@id=order1"]


@pytest.mark.parametrize(
    ("levels", "wrong"),
    [
        ("ngram@guess=3@miss=nano,target", "calibrate ngram and nano"),
        ("nano@tree=2.1,target", "calibrate nano without @tree=2.1"),
        ("nano@grow=8,target", "calibrate nano without @grow=8"),
        ("ngram@guess=3,ngram@guess=3,target", "each level once"),
        ("int8,ngram,target", "can only be the first level"),
        (",".join(f"exit@at={at}" for at in range(1, 9)) + ",target", "8 is the limit"),
    ],
)
def test_lists_of_levels_that_make_no_profile_are_refused(levels: str, wrong: str) -> None:
    with pytest.raises(StackError, match=wrong):
        candidates(Pipeline.open("toy"), levels)


def test_a_presets_own_levels_have_lookahead_and_seven_guesses_beside_one() -> None:
    found, left_out = default_levels(PRESETS["smollm2"], "float32")
    assert found[:3] == ["ngram", "ngram@guess=7", "lookahead"] and "lookahead" not in left_out
    several_ = [name for name in found if is_run_only(parse(f"{name},target" if name != "target" else name)[0])]
    assert several_ == ["ngram@guess=7", "lookahead"]


def with_lookups(pipeline: Pipeline) -> Pipeline:
    """The toy preset, with lookups in what its runs write."""
    real = pipeline.entries

    def entries(stack: str) -> list[StackEntry]:
        first = parse(stack)[0]
        if first.name != "ngram" and not first[FUSE]:
            return real(stack)
        above = real(stack.partition(",")[2])
        guess, window = first.get(GUESS) or first[FUSE] or 1, first.get(WINDOW) or 0
        keys = (90, 90) if guess == SILENT else (1, 4)
        level: Any = lookups(guess, above[-1].level.vocab_size, window=window, keys=keys)
        if first[FUSE]:
            level = FusedLevel(real(stack.replace(f"@fuse={first[FUSE]}", ""))[0].level, level)
        return [StackEntry(level, first, first.block), *above]

    pipeline.entries = entries  # type: ignore[method-assign]
    return pipeline


@first_always("temperature", [0.8, 0.0])
def test_a_profile_has_such_levels_where_they_were_asked_for(
    temperature: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TURNS", 3), ("WARM_UP", 1), ("FEWEST", 1), ("ROWS", (1, 3)), ("EDGE_ROWS", (2,))):
        monkeypatch.setattr(isolated_costs, name, value)
    path, told = tmp_path / "prompts.jsonl", []
    path.write_text("\n".join(json.dumps({"prompt": text}) for text in ("The small level ", "The tower ")))
    below = f"ngram@guess={SILENT},ngram@guess=3,table@id=order1,table@id=order1@fuse=2,ngram@guess=2@window=2"
    levels = f"{below},table@id=order3,table@id=order6"
    (profile,) = calibrate(
        with_lookups(Pipeline.open("toy")),
        temperatures=[temperature],
        levels=levels,
        prompts=path,
        effort=Effort(tokens=24, runs_s=0.0),
        progress=lambda *step: told.append(step[0].split(" at ")[0]),
    )
    names = ("ngram@guess=3", "table@id=order1", "table@fuse=2@id=order1", "ngram@guess=2@window=2")
    assert profile.names == (*names, "table@id=order3", "table@id=order6") and "offers" in told
    assert "offered nothing" in profile.about["left_out"][f"ngram@guess={SILENT}"]
    guesses, plain, fuse, window, _, _ = profile.levels
    assert guesses.hit_rate is not None and guesses.beside[0] > 1.0 and guesses.reach[0] == 1.0
    assert fuse.hit_rate is None and fuse.beside[0] > 1.0 and fuse.draft_ms == fuse.cost(1)
    assert window.hit_rate is not None and not plain.beside and plain.hit_rate is None
    assert set(profile.edge_cost) == {(3, 4), (3, 5)}, "what rides is paid by every verifier above, and nobody below"
    assert set(profile.by_width) <= {(1, 4), (1, 5), (4, 5)} and profile.by_width, "offers have no forks of their own"
    assert profile.acceptance[0][2] == profile.acceptance[0][3] == 0.0, "who only drafts judges nobody"
    assert all(0.0 < profile.acceptance[j][5] < 1.0 and profile.interval[j][5] for j in (0, 2, 3))  # type: ignore[index]
    assert profile_from(to_dict(profile)).levels == profile.levels
    row = next(line for line in printed(profile).splitlines() if "table@fuse=2@id=order1" in line)
    assert f"{fuse.beside[0]:.1f} first tokens" in row and "by ngram" not in printed(profile)
