"""A draft that has no place for some ids leaves the output's distribution as it is: those ids come from the target
alone.

Whole runs over random models are enumerated; in float32, so distributions agree to some 1e-7.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumerator import SAMPLED, distance, merged_distribution
from lean_stacks import LeanStacks, model_distribution
from recorded_graphs import RecordedGraphs
from toys import output_of

import hsd_core
from hsd_core.levels.trunk import Layered, Prepared
from hsd_core.models.decoder_protocol import Decoder
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Pass
from hsd_core.models.sampling import Sampling, to_probs
from hsd_core.systems.model.masked import MaskedDecoder
from tests.pretend_gpu import pretend_gpu

EXACT, NEVER = 1e-5, 1
GREEDY = Sampling(temperature=0.0)


class Plain:
    """A decoder that runs as a whole alone, as one of transformers does."""

    def __init__(self, decoder: LeanDecoder) -> None:
        for name in ("layers", "max_positions", "device", "dtype", "vocab_size"):
            setattr(self, name, getattr(decoder, name))
        self.new_cache, self.forward = decoder.new_cache, decoder.forward
        self.cache_bytes, self.weight_bytes = decoder.cache_bytes, decoder.weight_bytes


def spared(whole: bool = False, vocab: int = 3) -> LeanStacks:
    made = LeanStacks(layers=2, vocab=vocab, seed=5)
    own: Any = Plain(made.model) if whole else made.model
    made.model = MaskedDecoder(own, [NEVER])  # type: ignore[assignment]
    return made


@pytest.mark.covering("text", "sampling", "whole")
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("sampling", [SAMPLED, Sampling(0.7, top_k=2), Sampling(1.0, top_p=0.8), GREEDY])
@pytest.mark.parametrize(
    "text",
    [
        "model:2,target",
        "model:3@policy=confidence@theta=0.4,target@rule=block",
        "ngram:2,model:2,target",
        "ngram:2,model:2@rule=block@bonus=0,target@rule=block",
        "model:2@tree=2.1,target",
    ],
)
def test_output_follows_the_targets_law(text: str, sampling: Sampling, whole: bool) -> None:
    made = spared(whole)
    found = merged_distribution(made.stack(text), [1, 0], 3, sampling=sampling)
    assert distance(found, model_distribution(made.target, [1, 0], 3, sampling)) < EXACT


@pytest.mark.covering
@pytest.mark.parametrize("text", ["model:3,target", "ngram:2,model:3,target", "model:2@tree=2.2,target"])
@pytest.mark.parametrize("sampling", [Sampling(2.0), GREEDY])
def test_the_ids_are_never_drafted_though_the_target_writes_them(text: str, sampling: Sampling) -> None:
    made, written, said = spared(vocab=4), set[int](), set[int]()
    own = [level.startswith("model") for level in text.split(",")].index(True)
    for seed in range(6):
        for event in hsd_core.run(made.stack(text), [1, 0], sampling, seed, max_new_tokens=24):
            if getattr(event, "level", None) == own:  # its drafts, and what it draws where it rejects one
                said |= set(getattr(event, "ids", ())) | {x for x in [getattr(event, "id", None)] if x is not None}
            if event.event == "commit":
                written |= {token.id for token in event.tokens}
    assert said and NEVER not in said
    assert NEVER in written or sampling is GREEDY


def test_a_row_is_the_own_law_of_the_other_ids() -> None:
    made = spared()
    decoder = made.model
    spared_law = to_probs(decoder.forward(Pass([0, 2], 0, 1), decoder.new_cache(2)), SAMPLED)
    bare = LeanStacks(layers=2, vocab=3, seed=5).model
    distribution = to_probs(bare.forward(Pass([0, 2], 0, 1), bare.new_cache(2)), SAMPLED)
    distribution[:, NEVER] = 0.0
    torch.testing.assert_close(spared_law, distribution / distribution.sum())


def test_it_runs_layer_by_layer_where_the_decoder_does() -> None:
    made = LeanStacks(layers=2, vocab=3, seed=5)
    layered: Decoder = MaskedDecoder(made.model, [NEVER])
    assert isinstance(layered, Layered) and isinstance(layered, Prepared) == isinstance(made.model, Prepared)
    assert not isinstance(MaskedDecoder(Plain(made.model), [NEVER]), Layered)  # type: ignore[arg-type]


@pytest.mark.covering("sampling")
@pytest.mark.parametrize("text", ["model:3,target", "ngram:2,model:3,target", "model:2@tree=2.1,target"])
@pytest.mark.parametrize("sampling", [Sampling(2.0), GREEDY])
def test_on_a_gpu_it_writes_the_same_and_passes_are_replayed(text: str, sampling: Sampling) -> None:
    def written(made: LeanStacks) -> list[Any]:
        made.model = MaskedDecoder(made.model, [NEVER])  # type: ignore[assignment]
        return list(hsd_core.run(made.stack(text), [3, 1, 4], sampling, seed=5, max_new_tokens=12))

    usual = written(LeanStacks())
    with pretend_gpu():
        graphs = RecordedGraphs()
        events = written(LeanStacks(device="cuda", graphs=graphs))
    assert output_of(events) == output_of(usual)
    assert graphs.replayed > 0
    assert all("eager" not in level.params for level in events[0].levels)
