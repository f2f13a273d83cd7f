"""Hybrids of attention and running states as targets: they write what plain decoding writes, and their cache goes back
to copies of the states."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from every_family import config_of
from every_family import save as save_any
from families import HYBRIDS, save
from toys import output_of

from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.hf_cache import KEPT, REREAD, SnapshotCache
from hsd_core.models.loading import load_decoder
from hsd_core.models.one_pass import Pass
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset

PROMPT, LONG = "each one checks, each one checks, each", 300
ALWAYS = "qwen3.5"
RUN = ("qwen3.5", "granite-hybrid", "lfm2")
OTHERS = ("falcon_h1", "olmo_hybrid", "qwen3_next")  # by their default configs, cut down


def hybrid(folder: Path, family: str) -> Path:
    if family in HYBRIDS:
        return save(folder, family)
    config = config_of(family)
    config.max_position_embeddings = 512
    return save_any(folder, family, config)


@pytest.mark.parametrize(
    "family", [pytest.param(one, marks=[pytest.mark.everything] * (one != ALWAYS)) for one in (*RUN, *OTHERS)]
)
def test_a_hybrid_writes_what_plain_decoding_writes(family: str, tmp_path: Path) -> None:
    folder = str(hybrid(tmp_path, family))
    pipeline = Pipeline.open(target_preset(folder, folder), stack="ngram:3,target", device="cpu")
    pipeline._builder.ends = frozenset()  # a random model ends its text anywhere
    plain = output_of(list(pipeline.run("target", PROMPT, raw=True, max_new_tokens=LONG)))
    assert len(plain) == LONG
    assert output_of(list(pipeline.run("ngram:3,target", PROMPT, raw=True, max_new_tokens=LONG))) == plain
    tree = output_of(list(pipeline.run("model:2@tree=2.2,target", PROMPT, raw=True, max_new_tokens=40)))
    assert tree == plain[:40]


@pytest.mark.everything
def test_a_forward_that_reads_one_token_otherwise_than_several_is_refused(tmp_path: Path) -> None:
    """Nemotron-H in transformers 5.23: rows of single tokens are a thousandth off, and more with each token."""
    with pytest.raises(DecoderError, match="read alone"):
        load_decoder(hybrid(tmp_path, "nemotron-h"))


@torch.inference_mode()
def test_rows_depend_on_the_line_alone_whatever_was_read_and_taken_back(tmp_path: Path) -> None:
    decoder, rng = load_decoder(hybrid(tmp_path, ALWAYS)), random.Random(0)
    cache, line = decoder.new_cache(256), [rng.randrange(300) for _ in range(60)]
    assert isinstance(cache, SnapshotCache)
    reread = []
    for _ in range(40):
        known = cache.length
        cut = rng.randint(max(0, known - 6), known)
        cache.cut(cut)
        assert cache.length <= cut
        reread.append(cut - cache.length)
        line = [*line[:cut], *(rng.randrange(300) for _ in range(max(60, cut + 5) - cut))]
        wanted = rng.randint(1, min(4, len(line) - cache.length))
        rows = decoder.forward(Pass(line[cache.length :], cache.length, wanted), cache)
        fresh = decoder.forward(Pass(line, 0, wanted), decoder.new_cache(256))
        assert torch.allclose(rows, fresh, atol=1e-4)
    assert max(reread) <= REREAD + 6 and len(cache._taken) <= 1 + KEPT
    cache.cut(1)
    assert cache.length == 0, "before its oldest copy it begins anew"
