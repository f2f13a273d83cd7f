"""kNN-LM over SmolLM2 with a small store: greedy texts are those of plain decoding of the same target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hsd_core.systems.ngram.text_db import load_text_db
from hsd_core.systems.store.store_file import owner_of
from hsd_core.systems.store.store_making import make_store
from hsd_core.trace.checks import check
from hsd_core.trace.metrics import committed_ids, measure

STORE = "target@knn=store@mix=0.7@heat=0.05"
PROMPT = "What is a list comprehension in Python?"
STACKS = [f"cached:4,{STORE}", f"ngram:2,cached:4@policy=os3,{STORE}", f"ngram:2,int8:5,{STORE}", f"nano:3,{STORE}"]
STACKS += [f"cached:4,{STORE}@with=ahead"]


@pytest.fixture(scope="module")
def with_store(smollm2: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("knn") / "smollm2.safetensors"
    decoder, preset = smollm2.target_layers(), smollm2.preset
    make_store(decoder, load_text_db(preset.text_db), owner_of(preset, decoder), path, places=700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hsd_core.systems.store.store_file.store_path", lambda preset_key: path)
        yield smollm2


@pytest.fixture(scope="module")
def plain(with_store: Any) -> Any:
    return list(with_store.run(STORE, PROMPT, max_new_tokens=20))


def test_a_store_changes_what_is_said(with_store: Any, plain: Any) -> None:
    alone = list(with_store.run("target", PROMPT, max_new_tokens=20))
    assert committed_ids(alone) != committed_ids(plain)
    assert measure(plain)["asked"] == 20 and "asked" not in measure(alone)


@pytest.mark.covering("text", kinds=True)
@pytest.mark.parametrize("text", STACKS)
def test_greedy_texts_are_plain_decoding_s(with_store: Any, plain: Any, text: str) -> None:
    events = list(with_store.run(text, PROMPT, max_new_tokens=20))
    assert check(events) == []
    assert committed_ids(events) == committed_ids(plain)
    figures = measure(events)
    assert figures["asked"] < 20 <= figures["asked_rows"]
