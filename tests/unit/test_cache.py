"""A cache is taken back in one way, whatever decoder it belongs to."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from lean_stacks import RandomDraft
from tiny import tiny, tiny_compiled
from transformers import LlamaConfig, LlamaForCausalLM

from hsd_core.levels.trunk import Trunk
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.hf import TransformersDecoder
from hsd_core.models.one_pass import Branches, Pass

TEXT = [(7 * i + 3) % 61 for i in range(20)]
NODES, PARENTS = [4, 9, 11, 30, 7], (-1, 0, -1, 2, 3)


@pytest.fixture(scope="module")
def through_transformers(tmp_path_factory: pytest.TempPathFactory) -> TransformersDecoder:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    config = LlamaConfig(
        vocab_size=61, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return TransformersDecoder(Path(folder), config.to_dict(), dtype="float32", device="cpu")


@pytest.fixture(params=["lean", "compiled", "transformers"])
def decoder(request: pytest.FixtureRequest) -> Any:
    if request.param == "transformers":
        return request.getfixturevalue("through_transformers")
    return tiny_compiled(head_dim=16) if request.param == "compiled" else tiny()


def behind(decoder: Any, ids: list[int]) -> torch.Tensor:
    """The row behind these ids, from an empty cache."""
    return decoder.forward(Pass(ids), decoder.new_cache(len(ids)))[0]


def test_a_cache_knows_its_length_and_goes_back(decoder: Any) -> None:
    cache = decoder.new_cache(40)
    assert cache.length == 0
    decoder.forward(Pass(TEXT[:12]), cache)
    mark = cache.mark()
    for tail in ([1, 2, 3], [5, 6, 7, 8], []):
        if tail:
            decoder.forward(Pass(tail, 12), cache)
        assert cache.length == 12 + len(tail)
        cache.restore(mark)
        assert cache.length == 12
        cache.cut(50)
        assert cache.length == 12, "what is not there is not forgotten"
    cache.cut(7)
    assert cache.length == 7
    row = decoder.forward(Pass(TEXT[7:], 7), cache)[0]
    assert (row - behind(decoder, TEXT)).abs().max() < 1e-4


def test_a_path_in_order_is_kept_by_every_cache(decoder: Any) -> None:
    cache = decoder.new_cache(40)
    decoder.forward(Pass([*TEXT[:12], 4, 9, 11]), cache)
    cache.keep(12, (0, 1))
    assert cache.length == 14
    row = decoder.forward(Pass([8], 14), cache)[0]
    assert (row - behind(decoder, [*TEXT[:12], 4, 9, 8])).abs().max() < 1e-4


def test_a_path_out_of_order_is_moved_together_or_forgotten(decoder: Any) -> None:
    cache = decoder.new_cache(40, branches=len(NODES))
    decoder.forward(Pass(TEXT[:12]), cache)
    given = Pass(NODES, 12, len(NODES), Branches(12, PARENTS))
    if isinstance(decoder, TransformersDecoder):
        with pytest.raises(DecoderError, match="one line of one text"):
            decoder.forward(given, cache)
        decoder.forward(Pass(NODES, 12), cache)
    else:
        decoder.forward(given, cache)
    cache.keep(12, (2, 3))
    kept = [] if isinstance(decoder, TransformersDecoder) else [11, 30]
    assert cache.length == 12 + len(kept)
    row = decoder.forward(Pass([8], cache.length), cache)[0]
    assert (row - behind(decoder, [*TEXT[:12], *kept, 8])).abs().max() < 1e-4


def test_nodes_that_were_never_fed_are_not_kept() -> None:
    decoder = tiny()
    cache = decoder.new_cache(40, branches=5)
    decoder.forward(Pass([*TEXT[:12], *NODES[:3]], 0, 1, Branches(12, PARENTS)), cache)
    cache.keep(12, (2, 3, 4))
    assert cache.length == 13, "node 2 alone"


def test_the_cache_of_another_decoder_is_refused(decoder: Any, through_transformers: TransformersDecoder) -> None:
    other: Any = tiny() if isinstance(decoder, TransformersDecoder) else through_transformers
    with pytest.raises(DecoderError, match="new_cache"):
        decoder.forward(Pass([1, 2]), other.new_cache(8))


def test_a_drafts_cache_goes_back_with_its_layers() -> None:
    target = tiny()
    draft = RandomDraft(target)
    cache = draft.new_cache(20)
    x = target.embed(TEXT)
    with torch.inference_mode():
        whole = draft.forward(Pass(TEXT, wanted=20), x, cache, TEXT)[0]
        mark = cache.mark()
        assert (cache.length, mark) == (20, 20)
        cache.cut(9)
        again = draft.forward(Pass(TEXT[9:], 9, 11), x[9:], cache, TEXT)[0]
        assert torch.equal(again, whole[9:])
        cache.keep(18, (1,))
        assert cache.length == 19


@pytest.mark.parametrize("seed", range(3))
def test_fuzzed_depths_of_a_trunk_hold_what_one_pass_gives(seed: int) -> None:
    rng, decoder = random.Random(seed), tiny(layers=4)
    shared = Trunk(decoder, 40, branches=5)
    for depth in (4, 2):
        shared.mark(depth)
    line: list[int] = []
    for _ in range(25):
        if len(line) > 30 or (line and rng.random() < 0.3):
            line = line[: rng.randrange(len(line))]
            shared.cut(len(line))
            shared.cut(len(line) // 2, 2)  # a level below may forget more
        line += [rng.randrange(61) for _ in range(rng.randint(1, 4))]
        depth = rng.choice((2, 4))
        if rng.random() < 0.5:
            base, path = len(line), rng.choice(((0, 1), (2,), (2, 3, 4), ()))
            shared.run([*line, *NODES], depth, base + len(NODES), Branches(base, PARENTS))
            shared.keep(base, path, 4)
            line += [NODES[node] for node in path]
        else:
            shared.run(line, depth, len(line))
        for at in (2, 4):
            n = shared.valid(at)
            if n:
                alone = decoder.forward_layers(Pass(line[:n]), decoder.new_cache(n), 0, at)
                assert (shared.hidden(at, 0, n) - alone).abs().max() < 1e-4
