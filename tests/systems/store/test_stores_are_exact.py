"""kNN-LM as a target: whatever drafts below it, the output follows the mixture of model and store.

Whole runs over a model in float64 are enumerated. The draft's cache fills as the run asks, so what it hands up hangs on
all that came before: paths are not joined.
"""

from __future__ import annotations

from typing import Any

import notes_of
import pytest
import torch
from enumerator import SAMPLED, distance, run_distribution
from timed import Hand
from toy_states import StoreStacks, SumDecoder
from toys import output_of

import hsd_core
from hsd_core.core import rules
from hsd_core.core.choices import Judge
from hsd_core.core.clock import EngineClock
from hsd_core.core.events import Verify
from hsd_core.core.hierarchy import Hierarchy
from hsd_core.core.tree import Tree
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.grammar.strategies import RuleKind
from hsd_core.models.sampling import Sampling
from hsd_core.systems.store.mixture import Mixture
from hsd_core.systems.store.neighbours import FOLLOWING, Store, StoreCache
from hsd_core.systems.store.store_level import StoreRun
from hsd_core.trace import checks
from hsd_core.trace.metrics import measure

EXACT, WRONG = 1e-12, 0.003
STORE = "target@knn=store@near=4@mix=0.5@heat=0.3"
STACKS = [
    (STORE, 3),
    (f"ngram:2,{STORE}", 3),
    (f"cached:2,{STORE}", 3),
    (f"cached:2,{STORE}@rule=block", 3),
    (f"cached:2,{STORE}@rule=match", 2),
    (f"cached:2,{STORE}@bonus=0", 2),
    (f"cached:3@policy=confidence@theta=0.5,{STORE}", 3),
    (f"cached:2@tree=2.1,{STORE}", 2),
    (f"ngram:2,cached:2,{STORE}", 2),
    (f"model:1,cached:2@policy=flush,{STORE}", 2),
    (f"model:1,cached:2@rule=block,{STORE}@rule=block", 2),
    (f"cached:1,model:2,{STORE}", 2),
    (f"cached:1,cached:2,{STORE}", 2),
    ("cached:2,target@knn=store@near=1@mix=1", 2),
    ("cached:2,target@knn=store@near=2@mix=0", 2),
]


def off_by(text: str, tokens: int) -> float:
    made, prompt = StoreStacks(), [1, 0]
    return distance(run_distribution(made.stack(text), prompt, tokens), made.distribution(text, prompt, tokens))


@pytest.mark.covering("text")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("text", "tokens"), STACKS)
def test_the_output_follows_the_mixture(text: str, tokens: int) -> None:
    assert off_by(text, tokens) < EXACT


def test_the_mixture_is_not_the_models_own_distribution() -> None:
    made = StoreStacks()
    alone, mixed = (made.distribution(f"target@knn=store@mix={mix}", [1, 0], 1) for mix in ("0", "0.5"))
    assert distance(alone, mixed) > WRONG


def test_a_target_that_takes_the_caches_answer_for_the_stores_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Mixture._near

    def trusting(self: Mixture, read: torch.Tensor) -> Any:
        if self._store_cache is not None and len(self._store_cache._hits):
            self._source = self._store_cache
        return real(self, read)

    monkeypatch.setattr(Mixture, "_near", trusting)
    assert off_by(f"cached:2,{STORE}", 3) > WRONG


def test_states_that_outlive_a_rejected_token_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoreRun, "cached", property(lambda self: self._read))
    monkeypatch.setattr(StoreRun, "keep", lambda self, start, path: None)
    with pytest.raises(ValueError, match="tokens are new"):
        off_by(f"cached:2,{STORE}", 3)


def test_a_match_by_coins_of_two_that_is_judged_as_drawn_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Token against token says which draft stays; behind a miss what was drawn stays too, never the residual."""

    def half(tree: Tree, p: Any, judge: Judge, bonus: bool) -> rules.Verdict:
        found = rules.match(tree, p, judge, bonus)
        if found.residual is None or tree.rows is None:
            return found
        at = len(found.path)
        residual = (found.residual - tree.rows[at]).clamp_min(0.0)
        if not float(residual.sum()):
            return found
        drawn = Judge(judge._choices, 7, judge._start, judge._epoch).draw(residual / residual.sum(), at)
        return rules.Verdict(found.path, drawn, found.alphas, found.coins, residual)

    text = f"cached:2,{STORE}@rule=match"
    assert off_by(text, 2) < EXACT
    monkeypatch.setattr(RuleKind, "bind", lambda self, values: half)
    assert off_by(text, 2) > WRONG


@pytest.mark.covering
@pytest.mark.parametrize("text", [f"cached:3,{STORE}", f"ngram:2,cached:4,{STORE}", f"cached:3@tree=2.2.1,{STORE}"])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_texts_are_plain_decoding_s_and_the_store_is_asked_less_often(text: str, seed: int) -> None:
    made, found = StoreStacks(vocab=23, text=300, seed=seed), {}
    for written in (STORE, text):
        events = list(hsd_core.run(made.stack(written), [3, 1, 4], Sampling(0.0), seed=seed, max_new_tokens=24))
        assert checks.check(events) == []
        queries = [
            notes_of.asked(event).rows for event in events if isinstance(event, Verify) and notes_of.asked(event)
        ]
        figures = measure(events)
        assert (figures["asked"], figures["asked_rows"]) == (len(queries), sum(queries))
        found[written] = output_of(events), len(queries), sum(queries)
    assert found[STORE][0] == found[text][0] and found[STORE][1] == 24
    assert found[text][1] < 24 <= found[text][2]


@pytest.mark.covering
@pytest.mark.parametrize("text", [f"ngram:2,{STORE}", f"cached:3,{STORE}", f"model:1,cached:3@policy=os3,{STORE}"])
@pytest.mark.parametrize("seed", range(6))
def test_one_seed_is_one_text_with_and_without_speculation(text: str, seed: int) -> None:
    """Under rule match the target draws its token at each place by the place's own coin; what was dropped leaves no
    trace."""
    made = StoreStacks(vocab=23, seed=seed)
    texts = [
        output_of(list(hsd_core.run(made.stack(written), [3, 1, 4], SAMPLED, seed=seed, max_new_tokens=24)))
        for written in (STORE, f"{text}@rule=match")
    ]
    assert texts[0] == texts[1] and len(texts[0]) == 24


def test_one_seed_is_another_text_where_coins_hang_on_what_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Hierarchy, "_judge", lambda self, i, start: Judge(self.choices, i, start, self.epochs.of(i, start))
    )
    with pytest.raises(AssertionError):
        test_one_seed_is_one_text_with_and_without_speculation(f"cached:3,{STORE}", 0)


def test_a_draft_runs_the_layers_and_its_verifier_one_row_of_them() -> None:
    events = list(
        hsd_core.run(StoreStacks(9, 90).stack(f"cached:3,{STORE}"), [3, 1], Sampling(0.0), 1, max_new_tokens=9)
    )
    verified = [event for event in events if isinstance(event, Verify)]
    assert all(sum(span.rows for span in event.work.ran) == 1 for event in verified)
    assert max(event.work.rows for event in verified) == 4


ON_LANES = [
    (f"cached:2,{STORE}@with=ahead", 3),
    (f"cached:1,{STORE}@with=ahead@least=2", 2),
    (f"cached:2,{STORE}@with=ahead@rule=match", 2),
    (f"ngram:1,cached:1,{STORE}@with=ahead", 2),
    (f"cached:1@policy=os3,{STORE}@with=ahead@ahead=4", 2),
]


def on_lanes(made: StoreStacks, text: str, monkeypatch: pytest.MonkeyPatch, query: int = 10) -> tuple[Any, Any]:
    """A stack, and a clock on which a pass of the model takes 3, and a query of the store `query`."""
    hand = Hand()
    for of, name, ns in ((SumDecoder, "forward_layers", 3), (Store, "nearest", query)):
        real = getattr(of, name)

        def spent(self: Any, *given: Any, real: Any = real, ns: int = ns) -> Any:
            hand.ns += ns
            return real(self, *given)

        monkeypatch.setattr(of, name, spent)
    return made.stack(text), EngineClock(hand.now)


@pytest.mark.covering("text")
@pytest.mark.parametrize("query", [10, 1])
@pytest.mark.parametrize(("text", "tokens"), ON_LANES)
def test_with_the_query_on_a_lane_of_its_own_it_does_too(
    text: str, tokens: int, query: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, prompt = StoreStacks(), [1, 0]
    truth = made.distribution(text, prompt, tokens)
    stack, clock = on_lanes(made, text, monkeypatch, query)
    assert distance(run_distribution(stack, prompt, tokens, clock=clock), truth) < EXACT


def test_a_query_on_a_lane_runs_no_layer_and_takes_less_reckoned_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, made = {}, StoreStacks(vocab=23, text=300, seed=2)
    for text in (f"cached:2,{STORE}", f"cached:2,{STORE}@with=ahead"):
        with monkeypatch.context() as patch:
            stack, clock = on_lanes(made, text, patch)
            events = list(hsd_core.run(stack, [3, 1, 4], Sampling(0.0), 1, max_new_tokens=24, clock=clock))
        ends[text] = output_of(events), max(event.t1 for event in events if isinstance(event, Verify))
        asked = [event for event in events if isinstance(event, Verify) and event.checks]
        if "ahead" in text:
            assert events[0].reckoned and events[0].levels[0].shares == 1
            assert not any(span.rows for event in asked for span in event.work.ran)
    (plain, before), (meanwhile, after) = ends.values()
    assert plain == meanwhile and after < before


def test_results_of_a_query_under_way_are_not_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    store_cache = StoreCache(Store(torch.eye(9), torch.arange(9)))
    store_cache.late = True
    store_cache.put(torch.tensor([[5]]))
    assert not len(store_cache._hits)
    store_cache.arrive()
    assert len(store_cache._hits) == 1


def test_lanes_that_compute_rows_of_one_model_are_refused() -> None:
    with pytest.raises(StackError, match="write @with=ahead, where target asks its store alone"):
        parse(f"cached:2,{STORE}@with=pearl")


def test_a_shelf_holds_hits_and_what_follows_them_and_forgets_the_oldest() -> None:
    store = Store(torch.nn.functional.normalize(torch.randn(60, 4, dtype=torch.float64), dim=-1), torch.arange(60))
    store_cache = StoreCache(store, kept=25)

    def held() -> set[int]:
        return set(store_cache.nearest(store.keys[:1], 60).places[0].tolist())

    assert held() == set()
    store_cache.put(torch.tensor([[5, 6]]))
    assert held() == set(range(5, 5 + FOLLOWING + 2))
    near, whole = store_cache.nearest(store.keys[9:10], 2), store.nearest(store.keys[9:10], 60)
    assert near.ids[0, 0] == 9 and float(near.distances[0, 0]) < 1e-9
    at = whole.places[0].tolist().index(int(near.places[0, 1]))
    assert float(near.distances[0, 1]) == pytest.approx(float(whole.distances[0, at]))
    store_cache.put(torch.tensor([[30, 58]]))
    store_cache.put(torch.tensor([[20]]))
    assert len(held()) == 25 and 5 not in held() and {20, 40, 59} <= held()
    store_cache.put(torch.tensor([[5]]))
    assert len(held()) == 25 and 5 in held()
