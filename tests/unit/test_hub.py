"""Models of the Hub: fetched whole, gone on with where they stopped, and every refusal with its cure.

The Hub is pretended, on loopback; the Hub's own library speaks with it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy
import pytest
import safetensors.numpy as safetensors
from pretend_hub import COMMIT, Hub, Repo, hub

pytest.importorskip("huggingface_hub")


from app.serve.engine import _loading
from app.serve.loader import Loader
from hsd_core.cli import main
from hsd_core.grammar.preset import Preset
from hsd_core.models.local import local_models
from hsd_core.models.weights import Source, WeightsError, ensure, is_local
from hsd_core.models.weights import hub as hub_fetching
from hsd_core.models.weights.hub import look_up
from hsd_core.pipeline import Pipeline
from hsd_core.stacks import presets

ID, ONE = "someone/model", "someone/small"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
INDEX = "model.safetensors.index.json"
PLAIN = {"config.json": b'{"model_type": "llama"}', "tokenizer.json": b"{}", "README.md": b"# A model"}
SIZE, HALF = 2_000_000, 1_000_000  # bytes of a shard


T = TypeVar("T")


class Left(Exception):
    """Nobody waits any more for what is fetched."""


def sharded() -> dict[str, bytes]:
    random = numpy.random.default_rng(0)
    shards = {name: random.bytes(SIZE + n) for n, name in enumerate(SHARDS)}
    index = {"weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[0]}}
    beside = {"consolidated.safetensors": b"the same once more", "pytorch_model.bin": b"a pickle"}
    return {**PLAIN, **shards, **beside, INDEX: json.dumps(index).encode()}


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The pretended Hub, and an empty cache."""
    for name in [name for name in os.environ if name.startswith(("HF_", "HUGGINGFACE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with hub({ID: Repo(sharded()), ONE: Repo({**PLAIN, "model.safetensors": b"weights" * 1000})}) as pretended:
        monkeypatch.setenv("HF_ENDPOINT", pretended.url)
        yield pretended


def blobs(tmp_path: Path) -> Path:
    return tmp_path / "hf/hub" / f"models--{ID.replace('/', '--')}" / "blobs"


def leaves_when(arrived: Callable[[float], bool]) -> Callable[[str, float, float], None]:
    def tell(stage: str, done: float, total: float) -> None:
        if arrived(done):
            raise Left

    return tell


def test_a_model_of_several_shards_is_fetched_once_and_whole_and_completed_where_it_lacks_one(there: Hub) -> None:
    told: list[tuple[str, float, float]] = []
    assert not is_local(Source.parse(ID))
    folder = ensure(ID, lambda *at: told.append(at))
    files = sharded()
    wanted = {"config.json", "tokenizer.json", INDEX, *SHARDS}
    assert {path.name for path in folder.iterdir()} == wanted, "no weights twice, and no pickles"
    assert all((folder / name).read_bytes() == files[name] for name in wanted)
    assert folder.name == COMMIT, "the Hub's own cache, as other programs know it"
    size = float(sum(len(files[name]) for name in wanted))
    assert told[-1] == ("download", size, size)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert is_local(Source.parse(ID))
    (folder / SHARDS[1]).resolve().unlink()
    (folder / SHARDS[1]).unlink()
    assert not is_local(Source.parse(ID)), "a snapshot that lacks a shard is none"
    before = there.sent[SHARDS[0]]
    assert ensure(ID) == folder and (folder / SHARDS[1]).read_bytes() == files[SHARDS[1]]
    assert there.sent[SHARDS[0]] == before, "the other one is there"
    there.repos.clear()
    assert ensure(ID) == folder, "what is whole asks nobody"


def test_what_was_interrupted_goes_on_where_it_stopped(there: Hub, tmp_path: Path) -> None:
    there.stall_after = {SHARDS[1]: HALF}
    with pytest.raises(Left):
        ensure(ID, leaves_when(lambda done: done >= SIZE + HALF // 2))
    part = next(blobs(tmp_path).glob("*.incomplete"))
    kept = part.stat().st_size
    assert HALF // 2 <= kept < SIZE
    assert not is_local(Source.parse(ID)), "one of two shards is no model"
    there.stall_after.clear()
    before, told = dict(there.sent), list[float]()
    folder = ensure(ID, lambda _, done, total: told.append(done / total if total else 0.0))
    assert (folder / SHARDS[1]).read_bytes() == sharded()[SHARDS[1]]
    assert there.sent[SHARDS[0]] == before[SHARDS[0]], "what is whole is not sent again"
    assert f"{SHARDS[1]} bytes={kept}-" in there.ranges
    assert there.sent[SHARDS[1]] - before[SHARDS[1]] == SIZE + 1 - kept
    assert min(share for share in told if share) >= (SIZE + kept) / (2.1 * SIZE), "the bar goes on where it stood"
    assert not list(blobs(tmp_path).glob("*.incomplete"))


def test_two_that_start_at_once_fetch_once(there: Hub) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ensure, [ID, ID])
    assert one == other and (one / SHARDS[0]).read_bytes() == sharded()[SHARDS[0]]
    assert [there.sent[name] for name in SHARDS] == [SIZE, SIZE + 1]


def test_a_preset_of_the_hub_is_opened_and_bytes_are_told_to_terminal_and_page(
    there: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gguf")
    from test_weights import write_gguf

    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    write_gguf(tmp_path / "m.gguf", quantised=False)
    whole = {path.name: path.read_bytes() for path in ensure(str(tmp_path / "m.gguf")).iterdir()}
    tensors = sorted(safetensors.load(whole.pop("model.safetensors")).items())
    parts = [dict(tensors[n::2]) for n in range(2)]
    index = {"weight_map": {name: SHARDS[n] for n, part in enumerate(parts) for name in part}}
    shards = {SHARDS[n]: safetensors.save(part) for n, part in enumerate(parts)}
    there.repos[ID].files, size = {**whole, **shards, INDEX: json.dumps(index).encode()}, len(shards[SHARDS[0]])
    there.stall_after = {SHARDS[1]: 0}
    preset = Preset("own", "own", "target", "", "", Source.parse(ID), layers=2)
    monkeypatch.setattr(presets, "PRESETS", {"own": preset})
    loader = Loader(Pipeline)
    with loader.awaited("own", "cpu") as opening:
        seen = waited(lambda: opening.said[0] == "download" and opening.said[1] >= size and opening.said)
        assert size <= seen[1] < seen[2]
        status = _loading(opening, 1.0)
        assert status["stage"] == "download" and 0.0 < status["share"] < 1.0
        assert re.search(r", [0-9.]+ of [0-9.]+ MB$", status["text"])
        there.goes_on.set()
        opened = opening.done.result(60)
    assert len([e for e in opened.run("target", "the", max_new_tokens=4) if e.event == "commit"]) == 4
    shutil.rmtree(tmp_path / "hf")
    assert main(["generate", "--preset", "own", "--prompt", "the", "--max-new-tokens", "2"]) == 0
    assert capsys.readouterr().err.startswith("download\nload\n")


def waited(found: Callable[[], T]) -> T:
    end = time.monotonic() + 60.0
    while not (value := found()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def test_one_part_of_a_split_gguf_is_listed_with_what_helps(tmp_path: Path) -> None:
    for name in ("a.gguf", "b-00001-of-00001.gguf", "c-00002-of-00003.gguf"):
        (tmp_path / name).touch()
    alone, whole, part = (model.reason for model in local_models(tmp_path))
    assert (alone, whole) == ("", "") and "one part of a split model; llama-gguf-split --merge" in part


def test_a_folder_that_lacks_a_shard_says_which(tmp_path: Path) -> None:
    for name, data in sharded().items():
        if name != SHARDS[1]:
            (tmp_path / "half").mkdir(exist_ok=True)
            (tmp_path / "half" / name).write_bytes(data)
    assert [model.reason for model in local_models(tmp_path)] == [f"{SHARDS[1]} does not lie in this folder"]


@pytest.mark.parametrize("at", ["a body that stalls", "a Hub that never answers"])
def test_who_leaves_waits_less_than_a_second(there: Hub, at: str) -> None:
    there.stall_after, there.silent = {SHARDS[1]: 0}, at == "a Hub that never answers"
    enough = 0.0 if there.silent else float(SIZE)
    asked = 0.0

    def tell(stage: str, done: float, total: float) -> None:
        nonlocal asked
        if done >= enough and not asked:
            time.sleep(0.7 if there.silent else 0.0)  # by then the program waits for an answer
            asked = time.monotonic()
            raise Left

    with pytest.raises(Left):
        ensure(ID, tell)
    assert time.monotonic() - asked < 1.0


def test_a_hub_that_never_answers_is_given_up_within_seconds(there: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_fetching, "ANSWER_S", 1.0)
    there.silent, began = True, time.monotonic()
    with pytest.raises(WeightsError, match=rf"does not answer for {ID}: .*check the network, or name a local folder"):
        ensure(ID)
    assert time.monotonic() - began < 20.0


@pytest.mark.everything
def test_a_body_that_stalls_is_given_up_and_kept(there: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1")
    there.stall_after = {SHARDS[1]: HALF}
    with pytest.raises(WeightsError, match=rf"{ID} cannot be downloaded: .*try again: what has arrived is kept"):
        ensure(ID)
    assert next(blobs(tmp_path).glob("*.incomplete")).stat().st_size >= HALF // 2


@pytest.mark.parametrize("token", ["", "hf_other"])
def test_a_gated_model_says_where_its_licence_is_accepted(
    there: Hub, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    there.repos[ID].gated = True
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(WeightsError, match=rf"accept its licence at https://huggingface.co/{ID}, then set HF_TOKEN"):
        ensure(ID)
    assert not there.sent


def test_a_gated_model_is_fetched_with_the_right_token_and_one_file_needs_no_index(
    there: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.repos[ONE].gated = True
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    assert (ensure(ONE) / "model.safetensors").read_bytes() == b"weights" * 1000


def test_a_model_of_pickles_is_refused(there: Hub) -> None:
    there.repos[ID].files = {**PLAIN, "pytorch_model.bin": b"a pickle"}
    with pytest.raises(WeightsError, match="no safetensors on the Hub, and pickles are not opened"):
        ensure(ID)


def test_space_is_asked_for_before_anything_is_fetched(there: Hub, tmp_path: Path) -> None:
    there.repos[ID].claims = {SHARDS[0]: 10**15}
    with pytest.raises(
        WeightsError, match=r"needs 1,000,000,01\d,\d{3},\d{3} bytes more, and [\d,]+ bytes are free on"
    ):
        ensure(ID)
    assert there.sent[SHARDS[0]] == there.sent[SHARDS[1]] == 0


def test_a_file_that_arrives_damaged_is_thrown_away(there: Hub, tmp_path: Path) -> None:
    there.damaged = {SHARDS[0]}
    with pytest.raises(WeightsError, match="arrived damaged and was thrown away"):
        ensure(ID)
    there.damaged.clear()
    assert (ensure(ID) / SHARDS[0]).read_bytes() == sharded()[SHARDS[0]]


# Asked before anything is fetched


def test_the_hub_is_asked_for_a_model_s_size_and_config_and_nothing_large_is_fetched(
    there: Hub, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    config = {"model_type": "llama", "vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 8}
    there.repos[ID].files["config.json"] = json.dumps(
        {**config, "num_attention_heads": 4, "dtype": "bfloat16"}
    ).encode()
    found = look_up(Source.parse(ID))
    assert found.bytes > 2 * SIZE and not found.wrong
    assert sum(there.sent[name] for name in SHARDS) == 0, "no weights"
    assert main(["models", "--target", ID]) == 0
    said = capsys.readouterr().out
    assert "4 MB from the Hugging Face Hub on first use" in said and "at layer 2 of 8 it reads" in said
    assert not is_local(Source.parse(ID))


def test_a_drafter_needs_no_tokenizer_and_its_pickles_have_a_cure(there: Hub) -> None:
    drafter = replace(Source.parse(ONE), tokenizer=False)
    del there.repos[ONE].files["tokenizer.json"]
    assert ensure(drafter).name == COMMIT and is_local(drafter) and not is_local(Source.parse(ONE))
    del there.repos[ID].files[INDEX]
    there.repos[ID].files = {"config.json": b"{}", "pytorch_model.bin": b"a pickle"}
    with pytest.raises(WeightsError, match=r"pickles are not opened; download it, .*weights_only=True.*safetensors"):
        ensure(replace(Source.parse(ID), tokenizer=False))


def test_a_model_whose_tokenizer_is_slow_is_refused_before_its_weights_are_fetched(there: Hub) -> None:
    del there.repos[ID].files["tokenizer.json"]
    cure = (
        rf"has no tokenizer\.json .*sentencepiece are installed.*from_pretrained\('{ID}'\)\.save_pretrained\('FOLDER'\)"
    )
    with pytest.raises(WeightsError, match=cure):
        ensure(ID)
    assert sum(there.sent[name] for name in SHARDS) == 0
    assert re.search(cure, look_up(Source.parse(ID)).wrong)


def test_a_model_that_is_not_there_asks_for_the_spelling_before_it_is_fetched(there: Hub) -> None:
    assert "no public model 'someone/modle'; check the spelling" in look_up(Source.parse("someone/modle")).wrong
