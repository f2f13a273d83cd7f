"""Suffix decoding drafts what the paper's score says, counted naively, and leaves the target's distribution alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import notes_of
import pytest
from enumerator import SAMPLED, distance, run_distribution, target_distribution
from toys import output_of, toy_stack

import hsd_core
from app.serve.offer import ServerOffer
from app.serve.settings import RequestError
from app.serve.settings import check as refuse
from app.serve.settings import parse as asked
from hsd_core.core.events import Draft, Event
from hsd_core.core.level import StackEntry
from hsd_core.grammar.stack_text import parse
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.ngram.suffix_db import BREAK, OUTPUTS, Earlier, Limits, Occurrences, Suffixes
from hsd_core.theory import Costs, Profile, ProfileLevel, expected, plan_of
from hsd_core.theory.latency.plans import stack_text
from hsd_core.trace.checks import check

PROMPT = [0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 2, 2, 0]
OTHER = ([1, 1], [0, 2, 1, 0, 0, 2, 1, 2, 0, 2])
EXACT = 1e-12


def followers(text: Sequence[int], key: Sequence[int]) -> list[int]:
    """What followed every occurrence of a key, in order."""
    n = len(key)
    found = [text[i + n] for i in range(len(text) - n) if list(text[i : i + n]) == list(key)]
    return [token for token in found if token != BREAK]


def naively(
    text: Sequence[int], tail: Sequence[int], limits: Limits, depth: int, nodes: int
) -> tuple[float, set[tuple[int, ...]]]:
    """The best score of all suffixes, and its paths: at each step the likeliest token of any path, of equal ones the
    one that was found first, and of equal followers the one that occurred last."""
    best: tuple[float, set[tuple[int, ...]]] = (0.0, set())
    for length in range(len(tail), limits.shortest - 1, -1):
        taken: dict[tuple[int, ...], float] = {(): 1.0}
        frontier: dict[tuple[int, ...], float] = {}
        last: tuple[int, ...] = ()
        while len(taken) - 1 < min(nodes or depth, int(length * limits.factor)):
            after = followers(text, [*tail[len(tail) - length :], *last]) if len(last) < depth else []
            order = sorted(set(after), key=lambda token, after=after: (-after.count(token), after[::-1].index(token)))
            for token in order if nodes else order[:1]:
                share = taken[last] * after.count(token) / len(after)
                frontier |= {(*last, token): share} if share >= limits.share else {}
            if not frontier:
                break
            last = max(frontier, key=lambda path, frontier=frontier: frontier[path])
            taken[last] = frontier.pop(last)
        score = sum(share for path, share in taken.items() if path)
        if score > best[0]:
            best = (score, {path for path in taken if path})
    return best


@pytest.mark.parametrize("nodes", [0, 3, 12])
def test_a_draft_is_that_of_the_best_suffix_counted_naively(nodes: int) -> None:
    rng, branched, drafted = random.Random(nodes), 0, set()
    for _ in range(150):
        text = [rng.choice([0, 1, 2, BREAK] if rng.random() < 0.1 else [0, 1, 2]) for _ in range(rng.randint(0, 60))]
        limits = Limits(rng.choice([1, 1, 3]), rng.choice([0.5, 1.0, 2.5]), rng.choice([0.0, 0.1, 0.4]))
        tail = [rng.choice([0, 1, 2]) for _ in range(rng.randint(1, 9))]
        depth = rng.randint(1, 6)
        occurrences = Occurrences("c", text[: (cut := rng.randint(0, len(text)))])
        occurrences.extend(text[cut:])
        found = occurrences.draft(tail, limits, depth, nodes)
        paths = {tuple(one.token for one in path[: i + 1]) for path in found.paths for i in range(len(path))}
        assert (found.score, paths) == naively(text, tail, limits, depth, nodes)
        branched += len(found.paths) > 1
        drafted.add(len(paths))
    assert bool(branched) == bool(nodes) and len(drafted) > 2


# ---- exactness


def suffixes(above: str, grow: int, earlier: Earlier | None = None, block: int = 2) -> list[StackEntry]:
    spec = parse(f"suffix:{block}{f'@grow={grow}' if grow else ''},target")[0]
    level = NgramLevel(lambda: Suffixes(Limits(share=0.0), earlier), 3, name="suffix", kind="suffix", guess=0)
    return [StackEntry(level, spec, block), *toy_stack(above, 3, seed=7)]  # type: ignore[list-item]


def drafts(stack: list[StackEntry], prompt: list[int], sampling: Sampling, **how: Any) -> list[Draft]:
    events: list[Event] = list(hsd_core.run(stack, prompt, sampling, 1, **how))
    assert check(events) == []
    return [event for event in events if isinstance(event, Draft)]


@pytest.mark.parametrize(
    ("above", "grow"),
    [
        ("table", 5),
        ("table:2,table", 5),
        ("table:2@policy=flush,table@rule=block", 0),
        *(
            pytest.param(above, grow, marks=pytest.mark.everything)
            for above, grow in (
                ("table", 0),
                ("table@bonus=0", 5),
                ("table:2@bonus=0,table", 2),
                ("table@rule=block", 0),
            )
        ),
    ],
)
def test_over_earlier_outputs_too_the_law_is_the_targets(above: str, grow: int) -> None:
    stack = suffixes(above, grow, Earlier([OTHER], files=False))
    made = drafts(stack, PROMPT, SAMPLED, max_new_tokens=24)
    assert {source for draft in made for source in draft.sources} == {"c", "e"}
    assert any(draft.is_tree for draft in made) == bool(grow)
    assert distance(run_distribution(stack, PROMPT, 3), target_distribution(stack, PROMPT, 3)) < EXACT


def test_run_after_run_greedy_text_is_plain_decoding_and_only_other_prompts_are_looked_in() -> None:
    earlier = Earlier()
    stack, plain = suffixes("table:2,table", 6, earlier, block=4), toy_stack("table:2,table", 3, seed=7)[-1:]
    seen = []
    for prompt in ([0, 1], [0, 1], [0, 2, 1]):
        both = [list(hsd_core.run(one, prompt, Sampling(), 0, max_new_tokens=40)) for one in (stack, plain)]
        assert output_of(both[0]) == output_of(both[1])
        seen.append({source for event in both[0] if isinstance(event, Draft) for source in event.sources})
    assert seen == [{"c"}, {"c"}, {"c", "e"}]
    for n in range(OUTPUTS):
        earlier.add([n], [n, n])
    assert len(earlier.beside([5])) == 3 * (OUTPUTS - 1) and earlier.largest == OUTPUTS - 1


def test_asked_again_a_prompt_finds_its_whole_answer_where_the_stack_wants_it() -> None:
    stack = suffixes("table", 0, Earlier(again=True), block=8)
    first, second = (list(hsd_core.run(stack, [0, 1], Sampling(), 0, max_new_tokens=40)) for _ in range(2))
    assert output_of(first) == output_of(second)
    rounds = [sum(isinstance(event, Draft) for event in events) for events in (first, second)]
    assert 2 * rounds[1] < rounds[0]


@pytest.mark.parametrize("grow", [0, 5])
def test_a_visitors_run_looks_in_what_it_is_given_alone_and_leaves_nothing(grow: int) -> None:
    ours = Earlier([([1], [1, 2, 1, 2])])
    stack, held = suffixes("table", grow, ours), ours.beside([5])
    for given, letters in (((), {"c"}), ((OTHER,), {"c", "e"})):
        made = drafts(stack, PROMPT, SAMPLED, max_new_tokens=24, earlier=given)
        assert {source for draft in made for source in draft.sources} == letters
        law = run_distribution(stack, PROMPT, 3, earlier=given)
        assert distance(law, target_distribution(stack, PROMPT, 3)) < EXACT
    assert ours.beside([5]) == held


def test_a_longer_match_drafts_more_and_a_trace_says_how_long_it_was() -> None:
    for draft in drafts(suffixes("table", 0, block=8), PROMPT, SAMPLED, max_new_tokens=60):
        keys = set(notes_of.keys(draft))
        assert len(keys) <= 1 and len(draft.ids) <= min(8, *keys, 8)


# ---- what one visitor's run wrote stays out of others' drafts (see tests/app/test_earlier.py)


def test_a_visitor_names_no_outputs_but_their_own_and_those_that_the_operator_offers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "ours.jsonl").write_text("", encoding="utf-8")
    bare = Pipeline.catalogue()
    ours = ServerOffer(models=tmp_path).catalogue(bare)

    def run(earlier: str, listed: list[dict[str, object]]) -> None:
        stack = f"suffix:8@earlier={earlier},target"
        refuse(asked({"run": "a" * 32, "prompt": "x", "preset": "smollm2", "stack": stack}), listed)

    for listed in (bare, ours):
        run("runs", listed)
        for name in ("theirs.jsonl", str(tmp_path / "ours.jsonl")):
            with pytest.raises(RequestError, match="has no outputs"):
                run(name, listed)
    run("ours.jsonl", ours)


def test_a_tree_of_its_own_is_priced_by_its_counted_candidates() -> None:
    def level(spec: str, ms: float, **more: Any) -> ProfileLevel:
        return ProfileLevel(spec, Costs((1, 16), (ms, 2 * ms)), spec, **more)

    chain = level("suffix", 0.1, hit_rate=0.5, reach=(1.0, 0.5))
    tree = level("suffix@grow=16", 0.1, hit_rate=0.5, reach=(1.0, 0.5), beside=(3.0, 2.0))
    accepts = ((1.0, 0.0, 0.4), (0.0, 1.0, 0.6), (0.0, 0.0, 1.0))
    profile = Profile((chain, tree, level("target", 20.0)), accepts, 16)
    one, several = (expected(profile, plan_of(profile, f"{spec},target")) for spec in ("suffix:2", "suffix:2@grow=16"))
    assert several.tokens_per_round > one.tokens_per_round
    assert stack_text(profile, plan_of(profile, "suffix:2@grow=16,target")) == "suffix:2@grow=16,target"
