"""What a run takes of the memory is known before it begins, and refused with the figure where it does not fit."""

from __future__ import annotations

import pytest
from lean_stacks import LeanStacks, RandomDraft
from test_lean_decoder import saved
from tiny import tiny, tiny_compiled

from hsd_core.cli import main
from hsd_core.levels.memory import Memory, of_run
from hsd_core.levels.shared import SharedState
from hsd_core.models import load_decoder, machine
from hsd_core.models.loading import least_bytes
from hsd_core.models.machine import TooLarge, _allowed, free_bytes, refuse, size
from hsd_core.pipeline import Pipeline

V, HIDDEN = 61, 32


def held(stack, capacity: int, branches: int = 0) -> int:
    """Bytes of what the runs of a stack really hold after a pass over the whole text: caches and states."""
    shared, tensors = SharedState(capacity, branches), {}
    runs = [entry.level.open(capacity, shared) for entry in reversed(stack)]
    for run in runs:
        if run.cached < capacity:
            run.score(list(range(1, capacity + 1)))
    for run in runs:
        for trunk in filter(None, (getattr(run, "_trunk", None), getattr(run, "trunk", None))):
            found = [trunk._cache.keys, trunk._cache.values, *(s.states for s in trunk._sections.values())]
            tensors |= {id(tensor): tensor for tensor in found}
    return sum(tensor.nbytes for tensor in tensors.values())


@pytest.mark.parametrize("make", [tiny, tiny_compiled], ids=["lean", "compiled"])
@pytest.mark.parametrize("text", ["target", "int4:3,target", "exit:2@at=2,target", "exit:2@at=1,exit:3@at=2,target"])
def test_what_is_kept_is_what_runs_hold(text, make) -> None:
    if make is tiny_compiled:
        pytest.importorskip("onnxruntime")
    stack = LeanStacks(make=make, **({"inner": 64} if make is tiny_compiled else {})).stack(text)
    assert of_run(stack, 40).kept == held(stack, 40)


def test_a_longer_text_takes_more_and_the_weights_stay() -> None:
    stack = LeanStacks().stack("int4:3,target")
    short, long = of_run(stack, 64), of_run(stack, 128)
    assert long.kept == pytest.approx(2 * short.kept, rel=0.2)
    assert long.weights == short.weights == sum(entry.level.decoder.weight_bytes() for entry in stack)
    assert short.at_work == 8 * V * (1 + 3 + 3 + 1) + 4 * 5 * 64


def test_levels_over_the_same_weights_hold_them_once() -> None:
    stacks = LeanStacks(drafts={"nano": RandomDraft(tiny())})
    assert of_run(stacks.stack("exit:2@at=2,target"), 8).weights == of_run(stacks.stack("target"), 8).weights
    drafted = of_run(stacks.stack("nano:2,target"), 64)
    assert drafted.weights == of_run(stacks.stack("target"), 64).weights
    assert drafted.kept > of_run(stacks.stack("target"), 64).kept, "a draft has keys and values of its own"


def test_what_does_not_fit_is_refused_with_both_figures() -> None:
    with pytest.raises(TooLarge, match=r"a run takes 3\.2 GB of memory and 100 MB are free; take fewer"):
        refuse(3_200_000_000, 100_000_000, "a run", "take fewer")
    refuse(5, 5, "", "")
    refuse(5, None, "", "")
    assert str(Memory(2 * 10**9, 3 * 10**6, 0)) == "weights 2.0 GB, keys and values 3 MB, rows 0 MB"
    assert size(999_999_999) == "1000 MB"


def test_a_run_that_does_not_fit_is_refused_before_it_begins(monkeypatch, capsys) -> None:
    kept = Pipeline.open("toy")
    needed = kept.memory(kept.default_stack, 60).at_work
    monkeypatch.setattr(machine, "free_bytes", lambda device: needed)
    assert list(kept.run(kept.default_stack, "a" * 20, raw=True, max_new_tokens=40))
    monkeypatch.setattr(machine, "free_bytes", lambda device: needed - 1)
    with pytest.raises(
        TooLarge, match=r"a run over 60 tokens .* takes 0 MB of memory and 0 MB are free; ask for fewer"
    ):
        kept.run(kept.default_stack, "a" * 20, raw=True, max_new_tokens=40)
    assert main(["generate", "--preset", "toy", "--prompt", "The "]) == 2
    assert "error: a run over" in capsys.readouterr().err


def test_weights_that_do_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch) -> None:
    parameters = saved(tmp_path, "Llama", tie_word_embeddings=True).parameters()
    numbers = sum(parameter.numel() for parameter in parameters)
    assert [least_bytes(tmp_path, dtype) for dtype in ("float32", "int8", "int4")] == [
        4 * numbers,
        numbers,
        numbers // 2,
    ]
    assert least_bytes(tmp_path, "float32") <= load_decoder(tmp_path, kind="lean").weight_bytes()
    monkeypatch.setattr(machine, "free_bytes", lambda device: 4 * numbers - 1)
    with pytest.raises(TooLarge, match=r"as float32, takes .* take int8 or int4, a smaller model or fewer levels"):
        load_decoder(tmp_path, kind="lean")
    monkeypatch.setattr(machine, "free_bytes", lambda device: 4 * numbers)
    assert load_decoder(tmp_path, kind="lean").layers > 0


def test_a_container_bounds_what_is_free(tmp_path) -> None:
    assert _allowed(tmp_path) is None
    for name, text in {
        "memory.max": "1000\n",
        "memory.current": "900\n",
        "memory.stat": "anon 300\nfile 600\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert _allowed(tmp_path) == 700
    (tmp_path / "memory.max").write_text("max\n")
    assert _allowed(tmp_path) is None
    free = free_bytes("cpu")
    assert free is None or free > 0
