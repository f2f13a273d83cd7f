"""The fed nano: true features where a full pass has been, its own states where not, and nothing stale."""

from __future__ import annotations

import random

import notes_of
import pytest
import torch
from covering import seeds
from lean_stacks import LeanStacks, RandomDraft, from_scratch
from tiny import tiny

import hsd_core
from hsd_core.core.level import score_ids
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.trunk import Trunk
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling

DECODER = tiny(layers=3)
DRAFT = RandomDraft(DECODER, fed=True, layers=2)
IDS = [5, 50, 3, 17, 44, 44, 8, 60, 2, 30, 31, 12]


def reference(context: list[int], features: int, depth: int = 0) -> torch.Tensor:
    """(n, V): token by token with a cache of its own, from the first, `features` positions having a true feature."""
    cache, own, rows = DRAFT.new_cache(len(context)), torch.zeros(1, DRAFT.hidden), []
    true = from_scratch(DECODER, context, DECODER.layers)
    x = from_scratch(DECODER, context, depth) if depth else DECODER.embed(context)
    with torch.inference_mode():
        for t in range(len(context)):
            fed = torch.zeros(1, DRAFT.hidden) if t == 0 else true[t - 1 : t] if t - 1 < features else own
            logits, own = DRAFT.forward(Pass([context[t]], t), x[t : t + 1], cache, context[: t + 1], fed)
            rows.append(logits)
    return torch.cat(rows)


def fed_run(capacity: int = 64) -> tuple[DraftRun, Trunk]:
    trunk = Trunk(DECODER, capacity)
    trunk.mark(DECODER.layers)
    return DraftRun(DECODER, DRAFT, [trunk], capacity, "nano"), trunk


def near(got: torch.Tensor, true: torch.Tensor) -> bool:
    return torch.allclose(got.exp(), true.exp(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("features", [0, 1, 5, 11])
def test_a_stand_in_is_read_where_no_full_pass_has_been(features: int) -> None:
    run, trunk = fed_run()
    trunk.run(IDS, DECODER.layers, features)
    logits, work = score_ids(run, IDS, 12)
    assert near(logits, reference(IDS, features))
    assert (work.forwards, work.rows, work.catch_up, work.ran) == (1, 12, 0, ())


def test_features_and_stand_ins_differ() -> None:
    assert not near(reference(IDS, 11)[-1], reference(IDS, 5)[-1])


def test_positions_with_a_stand_in_are_computed_again_once_the_feature_is_there() -> None:
    run, trunk = fed_run()
    trunk.run(IDS, DECODER.layers, 4)
    score_ids(run, IDS[:9], 1)
    trunk.run(IDS, DECODER.layers, 9)
    logits, work = score_ids(run, IDS[:11], 1)
    # true so far: positions 0 to 4; 5 to 9 have features now, 10 has none
    assert (work.rows, work.catch_up) == (6, 5)
    assert near(logits, reference(IDS[:11], 9)[-1:])


def test_without_a_new_feature_nothing_is_computed_again() -> None:
    run, trunk = fed_run()
    trunk.run(IDS, DECODER.layers, 4)
    score_ids(run, IDS[:7], 1)
    logits, work = score_ids(run, IDS[:9], 2)
    assert (work.rows, work.catch_up) == (2, 0)
    assert near(logits, reference(IDS[:9], 4)[-2:])


def test_a_feature_that_is_no_longer_there_was_true_all_the_same() -> None:
    run, trunk = fed_run()
    trunk.run(IDS, DECODER.layers, 8)
    score_ids(run, IDS[:8], 1)
    trunk.cut(5)
    run.keep(5, ())
    context = [*IDS[:5], 1, 2, 3]
    logits, work = score_ids(run, context, 3)
    assert (run.cached, work.rows) == (8, 3)
    assert near(logits, reference(context, 5)[-3:])


def test_more_rows_than_new_tokens_are_refused() -> None:
    run, _ = fed_run()
    score_ids(run, IDS[:6], 2)
    with pytest.raises(ValueError, match="3 rows asked for, but 2 tokens are new"):
        score_ids(run, IDS[:8], 3)


@pytest.mark.parametrize("seed", seeds(8, always=2))
def test_fuzzed_accepts_and_rejects_leave_the_rows_of_a_fresh_computation(seed: int) -> None:
    rng = random.Random(seed)
    run, trunk = fed_run()
    context = [rng.randrange(61)]
    for _ in range(40):
        rows = len(context) - run.cached  # as after a round: everything behind the cache is new
        logits, _ = score_ids(run, context, rng.randint(1, rows))
        assert near(logits, reference(context, trunk.valid(DECODER.layers))[-len(logits) :])
        if rng.random() < 0.5:
            trunk.run(context, DECODER.layers, len(context))
        if rng.random() < 0.5 or len(context) > 30:
            cut = rng.randint(1, len(context))
            del context[cut:]
            run.keep(cut, ())
            trunk.cut(cut)
        context += [rng.randrange(61) for _ in range(rng.randint(1, 3))]


@pytest.mark.parametrize("seed", seeds(4, always=2))
def test_a_fed_exit_reads_its_layer_and_the_last_states(seed: int) -> None:
    """The reference again, over states after one layer of the same trunk."""
    rng, depth = random.Random(seed), 1
    trunk = Trunk(DECODER, 64)
    trunk.mark(DECODER.layers)
    trunk.mark(depth)
    run = DraftRun(DECODER, DRAFT, [trunk], 64, "exit", trunk, depth)
    context = [rng.randrange(61)]
    for _ in range(20):
        fed_to = trunk.valid(DECODER.layers)
        logits, work = score_ids(run, context, 1)
        assert near(logits, reference(context, fed_to, depth)[-1:])
        assert all((span.lo, span.hi) == (0, depth) for span in work.ran)
        context.append(rng.randrange(61))
        if rng.random() < 0.5:
            trunk.run(context, DECODER.layers, len(context) - 1)
            cut = rng.randint(max(1, len(context) - 4), len(context))
            del context[cut:]
            run.keep(cut - 1, ())
            trunk.cut(cut - 1)


def test_features_come_from_the_nearest_full_pass_above() -> None:
    stacks = LeanStacks(layers=3, drafts={"fed": RandomDraft(tiny(layers=3), fed=True)})
    seen = []
    for text in ("nano:2@id=fed,int8:3,target", "nano:2@id=fed,exit:3@at=2,target"):
        events = list(hsd_core.run(stacks.stack(text), IDS, Sampling(0.0), 0, max_new_tokens=4))
        seen.append(next(e for e in events if e.event == "draft"))
        assert seen[-1].work.ran == (), "a nano runs none of the target's layers"
    assert notes_of.q(seen[0]) == notes_of.q(seen[1])  # greedy
    assert notes_of.confidence(seen[0]) != notes_of.confidence(seen[1]), "int8 features and float32 features differ"
    assert abs(notes_of.confidence(seen[0])[0] - notes_of.confidence(seen[1])[0]) < 0.1
