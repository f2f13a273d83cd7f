"""A store is made window by window, goes on where it was stopped, and is refused where it is not this target's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from toy_states import HIDDEN, SumDecoder

from hsd_core.grammar.stack_text import StackError, parse
from hsd_core.models.database_file import Text
from hsd_core.models.one_pass import Pass
from hsd_core.stacks.presets import PRESETS
from hsd_core.systems.store.command import worth
from hsd_core.systems.store.declaration import store_path
from hsd_core.systems.store.mixture import keys_of
from hsd_core.systems.store.neighbours import Neighbours, mixed
from hsd_core.systems.store.store_file import Owner, StoreError, opened_store, read_store
from hsd_core.systems.store.store_making import WARM, Stopped, held_out, judged, make_store, windows_of

VOCAB = 7
OWNER = Owner("toy", "python -m hsd_core knn-store --preset toy", "0123", HIDDEN, VOCAB)


def text(*lengths: int) -> Text:
    chance = np.random.default_rng(0)
    documents = [np.append(chance.integers(0, VOCAB, n), VOCAB) for n in lengths]
    return Text(np.concatenate(documents).astype(np.int64), VOCAB)


def test_windows_lie_within_documents_and_evenly() -> None:
    given = text(900, 20, 500)
    found = windows_of(given, 10**6)
    assert all(VOCAB not in given.tokens[lo:hi] and hi - lo > WARM + 1 for lo, hi in found)
    assert {lo < 901 for lo, _ in found} == {True, False}
    assert len(windows_of(given, 450)) == 2


def test_every_place_is_the_state_there_and_what_followed(tmp_path: Path) -> None:
    decoder, given, path = SumDecoder(VOCAB), text(700, 300), tmp_path / "toy.safetensors"
    made = make_store(decoder, given, OWNER, path, places=10**6)
    store = read_store(OWNER, path)
    assert len(store) == made == sum(hi - lo - 1 - WARM for lo, hi in windows_of(given, 10**6))
    lo, hi = windows_of(given, 10**6)[0]
    ids = given.tokens[lo:hi].tolist()
    assert store.values[: hi - lo - 1 - WARM].tolist() == ids[WARM + 1 :]
    assert torch.allclose(store.keys[:50].double(), keys_of(decoder, ids[:-1])[WARM:][:50], atol=1e-3)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_making_that_was_stopped_goes_on(tmp_path: Path) -> None:
    decoder, given, path = SumDecoder(VOCAB), text(9000), tmp_path / "toy.safetensors"
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 20

    with pytest.raises(Stopped):
        make_store(decoder, given, OWNER, path, places=10**6, stop=stop)
    assert not path.exists()
    read: list[float] = []
    make_store(decoder, given, OWNER, path, places=10**6, progress=lambda stage, done, total: read.append(done))
    assert read[0] == 16  # the first part was there
    whole = read_store(OWNER, path)
    make_store(decoder, given, OWNER, path, places=10**6)
    assert torch.equal(whole.keys, read_store(OWNER, path).keys)


def test_a_store_of_other_weights_is_refused_with_the_command(tmp_path: Path) -> None:
    path = tmp_path / "toy.safetensors"
    with pytest.raises(StoreError, match="knn-store --preset toy"):
        read_store(OWNER, path)
    make_store(SumDecoder(VOCAB), text(400), OWNER, path)
    with pytest.raises(StoreError, match=r"other weights \(0123, these are 4567\).*--again"):
        read_store(replace(OWNER, fingerprint="4567"), path)
    with pytest.raises(StoreError, match="damaged"):
        read_store(replace(OWNER, hidden=HIDDEN + 1), path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match="damaged"):
        read_store(OWNER, path)


def test_a_run_makes_no_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A visitor's run is refused with the command, and nothing is computed for it."""
    monkeypatch.setattr("hsd_core.systems.store.declaration.cache_folder", lambda: tmp_path)
    assert store_path("smollm2").parent == tmp_path / "knn"
    monkeypatch.setattr("hsd_core.systems.store.store_file.opens_drafts", lambda decoder: True)
    site: Any = SimpleNamespace(preset=PRESETS["smollm2"], opened=lambda over, key, opening: opening())
    with pytest.raises(
        StackError,
        match="no store for this target yet; make it once, in two to ten minutes, with: ",
    ):
        opened_store(parse("target")[0], site, SumDecoder(VOCAB))  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def test_a_cache_of_no_store_is_refused() -> None:
    with pytest.raises(StackError, match="write target@knn=store or leave cached out"):
        parse("cached:4,target")


def test_a_mixture_of_one_place_and_of_none() -> None:
    logits = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64)
    own = logits.softmax(-1)
    none = Neighbours(torch.zeros(1, 0), torch.zeros(1, 0).long(), torch.zeros(1, 0).long())
    assert torch.allclose(mixed(logits, none, mix=0.5, heat=1.0).exp(), own)
    two = Neighbours(torch.tensor([[0.1, 0.1]]), torch.tensor([[1, 1]]), torch.tensor([[0, 1]]))
    expected = 0.75 * own + 0.25 * torch.tensor([0.0, 1.0, 0.0])
    assert torch.allclose(mixed(logits, two, mix=0.25, heat=1.0).exp(), expected)
    assert mixed(logits, two, mix=1.0, heat=1.0).exp().tolist() == [[0.0, 1.0, 0.0]]


def test_a_store_is_judged_by_places_that_it_lacks(tmp_path: Path) -> None:
    decoder, given, path = SumDecoder(VOCAB), text(9000), tmp_path / "toy.safetensors"
    make_store(decoder, given, OWNER, path, places=3000)
    store = read_store(OWNER, path)
    windows = held_out(given, int(store.about["asked"]), 3)
    assert len(windows) == 3 and not {*windows} & {*windows_of(given, 3000)}
    count, found = judged(decoder, given, store, windows, near=4, heat=0.1)
    assert count == sum(hi - lo - 1 - WARM for lo, hi in windows)
    ids = [given.tokens[lo:hi].tolist() for lo, hi in windows]
    rows = [decoder.forward(Pass(one[:-1], 0, len(one) - 1), decoder.new_cache(len(one)))[WARM:] for one in ids]
    true = [torch.tensor(one[WARM + 1 :]) for one in ids]
    alone = torch.nn.functional.cross_entropy(torch.cat(rows), torch.cat(true))
    assert found[0.0] == pytest.approx(float(alone.exp()))
    with pytest.raises(ValueError, match="make a smaller one"):
        held_out(given, 10**6)


def test_what_a_store_is_worth_is_said_in_a_sentence() -> None:
    worse = worth({0.0: 27.77, 0.1: 28.23, 0.25: 31.25})
    assert worse.startswith("worse with the store than without it, least so at @mix=0.1; 0.25 is the default")
    assert worth({0.0: 27.77, 0.1: 26.0, 0.25: 25.5}).startswith(
        "better with the store than without it, most so at @mix=0.25"
    )


def test_a_hot_store_minds_distances_less() -> None:
    near = Neighbours(torch.tensor([[0.0, 1.0]]), torch.tensor([[1, 2]]), torch.tensor([[0, 1]]))
    for heat in (0.25, 1.0, 4.0):
        said = mixed(torch.zeros(1, 4), near, mix=1.0, heat=heat).exp()[0]
        first = 1.0 / (1.0 + float(torch.tensor(-1.0 / heat).exp()))
        assert said.tolist() == pytest.approx([0.0, first, 1.0 - first, 0.0])
