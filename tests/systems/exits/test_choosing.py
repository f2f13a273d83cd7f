"""Policy `del`: which exit drafts, and how much, by what the last verifications showed."""

from __future__ import annotations

import itertools
import random
from typing import Any

import notes_of
import pytest
import torch
from covering import seeds
from lean_stacks import LeanStacks, RandomDraft, from_scratch
from ledger import audit
from tiny import tiny
from toys import output_of

import hsd_core
from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.exits import chosen_exit
from hsd_core.systems.exits.chosen_exit import (
    FIRST_GUESS,
    ChoosingLevel,
    ChoosingRun,
    Exit,
    best_plan,
    tokens_per_layer,
)
from hsd_core.trace.checks import check

GREEDY, SAMPLED = Sampling(0.0), Sampling(1.0)
TEXT = "exit:5@at=4@policy=del,target"


def stacks(kind: str = "llama", memory: float = 0.9) -> LeanStacks:
    """Exits at 1 to 4 of six layers; the second one has a layer of its own."""
    made = LeanStacks(kind, layers=6)
    made.drafts, made.memory = {"at2": RandomDraft(made.target)}, memory
    return made


def quiet_after(made: LeanStacks, depth: int) -> None:
    """Let the target's layers from `depth` on do nothing: an exit there is always right."""
    for i in range(depth, made.target.layers):
        layer = made.target.stack[i]
        for part in ("out", "down"):
            real = getattr(layer, part)
            object.__setattr__(layer, part, lambda x, real=real: torch.zeros_like(real(x)))


def test_tokens_per_layer_is_the_papers() -> None:
    a, d, cost, layers = 0.7, 4, 8, 32
    assert tokens_per_layer(a, d, cost, layers) == pytest.approx((1 - a ** (d + 1)) / (1 - a) / (d * cost + layers))
    assert tokens_per_layer(1.0, 3, 2, 10) == pytest.approx(4 / 16)
    assert tokens_per_layer(0.9, 0, 8, 30) == 1 / 30


def test_the_best_plan_is_found_among_all() -> None:
    rng = random.Random(3)
    for _ in range(200):
        chances, costs = [rng.random() for _ in range(3)], sorted(rng.sample(range(1, 30), 3))
        i, d = best_plan(chances, costs, 30, 8)
        best = max(tokens_per_layer(chances[j], n, costs[j], 30) for j, n in itertools.product(range(3), range(9)))
        assert tokens_per_layer(chances[i], d, costs[i], 30) == best


def test_a_draft_pays_from_an_acceptance_of_its_share_of_the_layers() -> None:
    assert best_plan([8 / 30 - 0.01], [8], 30, 6) == (0, 0)
    assert best_plan([8 / 30 + 0.01], [8], 30, 6) == (0, 1)
    assert best_plan([0.95, 0.99], [4, 8], 30, 6) == (0, 6)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[ChoosingRun]:
    """The chosen_exit runs that are opened from here on."""
    runs: list[ChoosingRun] = []
    real = ChoosingLevel.open

    def open_(self: ChoosingLevel, capacity: int, shared: Any) -> Any:
        runs.append(real(self, capacity, shared))  # type: ignore[arg-type]
        return runs[-1]

    monkeypatch.setattr(ChoosingLevel, "open", open_)
    return runs


def test_the_exit_that_is_always_right_is_found_and_drafts_to_the_full() -> None:
    made = stacks(memory=0.7)
    made.drafts = {f"at{at}": RandomDraft(made.target, seed=at) for at in (1, 2)}  # hardly ever right
    quiet_after(made, 3)
    events = list(hsd_core.run(made.stack(TEXT), [5, 6], GREEDY, 0, max_new_tokens=120, heads=0))
    late = [e for e in events if e.event == "draft"][-6:-2]
    assert all(len(e.ids) == 5 and max(span.hi for span in e.work.ran) == 3 for e in late)
    verdicts = [c.outcome for e in events if e.event == "verify" for c in e.checks][-20:]
    assert set(verdicts) == {"accepted"}


def test_where_no_exit_pays_nothing_is_drafted() -> None:
    made = stacks(memory=0.7)
    made.drafts = {f"at{at}": RandomDraft(made.target, seed=at, copies=False) for at in (1, 2, 3, 4)}
    events = list(hsd_core.run(made.stack(TEXT), [5, 6], GREEDY, 0, max_new_tokens=60, heads=0))
    drafts = [e for e in events if e.event == "draft"]
    assert [len(e.ids) for e in drafts[-10:]] == [0] * 10
    assert drafts[0].ids, "the first guess lets it try"


@pytest.mark.covering
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED, Sampling(0.7, top_k=9)])
@pytest.mark.parametrize(
    ("bonus", "trained", "together"), [("", True, 64), ("@bonus=0", True, 64), ("", False, 64), ("", False, 3)]
)
def test_estimates_are_those_of_a_straightforward_computation(
    sampling: Sampling, bonus: str, trained: bool, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, runs = stacks() if trained else LeanStacks(layers=6), watched(monkeypatch)
    monkeypatch.setattr(chosen_exit, "SHADOWS", together)
    quiet_after(made, 5)
    prompt = [5, 6, 7]
    events = list(hsd_core.run(made.stack(TEXT + bonus), prompt, sampling, 3, max_new_tokens=40, heads=0))
    ids = prompt + list(output_of(events))

    def rows(depth: int) -> torch.Tensor:
        x = from_scratch(made.target, ids, depth)
        draft = made.drafts.get(f"at{depth}")
        if draft is None:
            return to_probs(made.target.head(x), sampling)
        return to_probs(draft.forward(Pass(ids, wanted=len(ids)), x, draft.new_cache(len(ids)), ids)[0], sampling)

    with torch.inference_mode():
        true = rows(6)
        shares = {at: torch.minimum(rows(at), true).sum(-1).tolist() for at in (1, 2, 3, 4)}
    # Every verification shows the rows that judged kept tokens and the one behind them; the next draft heeds them.
    work = [e for e in events if e.event in ("draft", "verify")]
    heeded = [one for one, then in itertools.pairwise(work) if (one.event, then.event) == ("verify", "draft")]
    expected = dict.fromkeys(shares, FIRST_GUESS)
    for event in heeded:
        kept = [c.outcome for c in event.checks].count("accepted")
        shown = min(kept + 1, event.work.rows - event.work.catch_up)
        for t in range(shown):
            at = len(prompt) + event.at + t - 1
            for depth in expected:
                expected[depth] = 0.9 * expected[depth] + 0.1 * shares[depth][at]
    assert [e.chance for e in runs[0].exits] == pytest.approx(list(expected.values()), abs=1e-4)
    assert len({round(e.chance, 3) for e in runs[0].exits}) > 1


def test_the_threshold_lies_between_what_was_kept_and_what_was_not() -> None:
    exit_ = Exit.__new__(Exit)
    exit_.chance, exit_._kept, exit_._lost = FIRST_GUESS, (0.0, 0.0), (0.0, 0.0)
    seen = [(1.0, 0.9), (0.0, 0.2), (1.0, 0.7), (0.0, 0.4), (0.5, 0.5)]
    for count, (share, sure) in enumerate(seen):
        assert (exit_.theta is None) == (count < 2), "both kinds have to be seen"
        exit_.saw(share, sure, memory=1.0)
    kept = (0.9 + 0.7 + 0.5 * 0.5) / 2.5
    lost = (0.2 + 0.4 + 0.5 * 0.5) / 2.5
    assert exit_.theta == pytest.approx((kept + lost) / 2)


def test_a_draft_ends_behind_an_unsure_token_which_is_kept() -> None:
    made = stacks(memory=0.8)
    quiet_after(made, 5)
    events = list(hsd_core.run(made.stack(TEXT), [5, 6], SAMPLED, 1, max_new_tokens=200, heads=1))
    drafts = [e for e in events if e.event == "draft" and notes_of.theta(e) is not None]
    for e in drafts:
        assert all(sure >= notes_of.theta(e) for sure in notes_of.confidence(e)[:-1])
    assert any(notes_of.confidence(e) and notes_of.confidence(e)[-1] < notes_of.theta(e) for e in drafts), (
        "some drafts were ended by it"
    )
    assert any(len(e.ids) > 1 for e in drafts) and len({notes_of.theta(e) for e in drafts}) > 3


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2", "qwen3"])
@pytest.mark.parametrize("bonus", ["", "@bonus=0"])
def test_greedy_output_is_that_of_plain_decoding(kind: str, bonus: str) -> None:
    made = stacks(kind, memory=0.6)
    quiet_after(made, 4)
    outputs = [
        output_of(list(hsd_core.run(made.stack(text), [5, 9], GREEDY, 0, max_new_tokens=60, heads=0)))
        for text in (TEXT + bonus, "target")
    ]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("seed", seeds(12, always=4))
def test_fuzzed_runs_keep_caches_and_tape_in_step(seed: int) -> None:
    rng = random.Random(seed)
    made = stacks(memory=rng.choice((0.5, 0.95)))
    quiet_after(made, rng.choice((2, 3, 6)))
    stack = made.stack(TEXT + rng.choice(("", "@bonus=0")) + rng.choice(("", "@rule=block")))
    ends = frozenset({rng.randrange(61)}) if rng.random() < 0.5 else frozenset()
    sampling = rng.choice((GREEDY, SAMPLED, Sampling(0.3)))
    prompt = [rng.randrange(61) for _ in range(rng.randint(1, 9))]
    events = list(hsd_core.run(stack, prompt, sampling, seed, max_new_tokens=40, heads=0, ends=ends))
    assert audit(events, cacheless=frozenset(), ends=ends).done
    assert check(events) == []


def test_a_run_can_be_repeated_and_no_run_learns_from_another() -> None:
    made = stacks(memory=0.6)
    quiet_after(made, 3)
    stack = made.stack(TEXT)
    one, two = (
        [e.ids for e in hsd_core.run(stack, [5], SAMPLED, 4, max_new_tokens=40, heads=0) if e.event == "draft"]
        for _ in range(2)
    )
    assert one == two


def test_the_trace_names_the_exit_that_drafted() -> None:
    made = stacks()
    header, *events = hsd_core.run(made.stack(TEXT), [5], SAMPLED, 0, max_new_tokens=20, heads=0)
    assert header.levels[0].params == {"chooses": [1, 2, 3, 4]}
    assert [level.shares for level in header.levels] == [1, 1]
    assert {source for e in events if e.event == "draft" for source in e.sources} <= {"lens", "random"}


MISPLACED = [
    "ngram:2@policy=del,target",
    "exit:2@at=2@policy=del,exit:2@at=4,target",
    "exit:2@at=1,exit:2@at=2@policy=del,target",
    "exit:2@at=2@dtype=int8@policy=del,target",
    "target@policy=del",
]


@pytest.mark.parametrize("text", MISPLACED)
def test_it_stands_right_below_a_target_of_the_same_weights(text: str) -> None:
    with pytest.raises(StackError, match="right above it; write exit:6@at=8@policy=del,target"):
        parse(text)


def test_it_takes_no_draft_by_name() -> None:
    with pytest.raises(StackError, match="leave @id= out, or write @id=lens"):
        parse("exit:6@at=8@id=smollm2-exit8@policy=del,target")
    assert parse("exit:6@at=8@id=lens@policy=del,target")[0].policy == "del"


def test_exits_that_are_no_early_ones_are_refused() -> None:
    made = stacks()
    for known in ({}, {6: made.drafts["at2"]}, {0: made.drafts["at2"]}):
        with pytest.raises(ValueError, match="not within layers 1 to 5"):
            ChoosingLevel(tiny(layers=6), known)
