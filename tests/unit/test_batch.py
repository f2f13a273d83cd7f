"""Several runs in one batch: who is in a pass, who joins and leaves, and what one run's end does to the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from lean_stacks import LeanStacks, drafted_stacks
from tiny import tiny_compiled
from toys import output_of, toy_stack

import hsd_core
from hsd_core.batch.batch import Batch
from hsd_core.core.events import Commit, Event, Footer, Header, Prefill, Verify
from hsd_core.levels.notes import Batch as Note
from hsd_core.models.joint_pass import Inputs
from hsd_core.models.lean.layers import Layers
from hsd_core.models.one_pass import Branches, Pass
from hsd_core.models.sampling import Sampling
from hsd_core.trace.checks import check
from hsd_core.trace.codec import from_dict, to_dict

GREEDY = Sampling(0.0)
Found = dict[int, list[Any]]


@pytest.fixture(scope="module")
def made() -> Any:
    return drafted_stacks(3)


def run(stack: Any, tokens: int = 6, **options: Any) -> Iterator[Event]:
    return hsd_core.run(stack, [1, 0], GREEDY, 0, max_new_tokens=tokens, **options)


def all_of(batch: Batch) -> Found:
    found: Found = {}
    for number, event in batch.events():
        found.setdefault(number, []).append(event)
    return found


def add(batch: Batch, stack: Any, tokens: int = 6, **options: Any) -> int:
    return batch.add(lambda clock, stop: run(stack, tokens, clock=clock, stop=stop, **options))


def notes(events: list[Any]) -> list[Note]:
    return [note for event in events if isinstance(event, Verify) and (note := Note.of(event))]


def test_runs_meet_in_the_passes_of_one_model(made: Any) -> None:
    batch = Batch(3)
    for text in ("target", "nano:2@id=fed,target", "int8:2,target"):
        add(batch, made.stack(text))
    found = all_of(batch)
    for number, events in found.items():
        top = len(events[0].levels) - 1
        first = notes([event for event in events if getattr(event, "level", None) == top])[0]
        assert first.runs == (0, 1, 2), f"run {number}"
        assert min(first.rows) >= 1 and first.alone == "" and first.ns > 0
        assert not check(events)
        assert [from_dict(part) for part in map(to_dict, events)] == events


def test_runs_can_wait_until_every_prompt_is_read(made: Any) -> None:
    batch = Batch(3)
    for text in ("target", "int8:2,target", "nano:2@id=fed,target"):
        stack = made.stack(text)
        batch.add(
            lambda clock, stop, stack=stack: run(stack, clock=clock, stop=stop),
            meets=lambda event: isinstance(event, Prefill) and event.level == 0,
        )
    order = [type(event) for _, event in batch.events() if isinstance(event, (Prefill, Commit))]
    assert Commit in order and Prefill not in order[order.index(Commit) :]


def test_a_run_that_ends_makes_room(made: Any) -> None:
    batch, live, most = Batch(2), set[int](), 0
    for tokens in (3, 9, 2, 5):
        add(batch, made.stack("exit:2@at=2,target"), tokens)
    joined = list[int]()
    for number, event in batch.events():
        if isinstance(event, Header):
            joined.append(number)
            live.add(number)
        most = max(most, len(live))
        if isinstance(event, Footer):
            live.remove(number)
            assert event.committed == (3, 9, 2, 5)[number]
    assert (joined, most, live) == ([0, 1, 2, 3], 2, set())


def test_a_run_may_join_later(made: Any) -> None:
    batch, texts = Batch(4), dict[int, list[Any]]()
    add(batch, made.stack("target"), 12)
    for number, event in batch.events():
        texts.setdefault(number, []).append(event)
        if number == 0 and event.event == "commit" and event.round == 4:  # type: ignore[union-attr]
            add(batch, made.stack("int8:2,target"), 8)
    assert output_of(texts[1]) == output_of(list(run(made.stack("int8:2,target"), 8)))
    assert output_of(texts[0]) == output_of(list(run(made.stack("target"), 12)))
    assert [note.runs for note in notes(texts[0])][:5] == [(0,)] * 5
    assert (0, 1) in [note.runs for note in notes(texts[0])]


def test_an_error_ends_only_its_own_run(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Layers.forward

    def breaking(self: Layers, given: Any, x: Any, cache: Any, *rest: Any) -> Any:
        if given.start >= 4 and len(given.ids) == 1:
            raise RuntimeError("out of memory")
        return real(self, given, x, cache, *rest)

    def refusing(self: Layers, texts: Any, lo: int, hi: int) -> Any:
        raise RuntimeError("the joint pass cannot be run")

    monkeypatch.setattr(Layers, "forward", breaking)
    monkeypatch.setattr(Layers, "together", refusing)
    batch = Batch(3)
    add(batch, made.stack("target"))
    add(batch, made.stack("exit:2@at=2,target"), 3)
    batch.add(lambda clock, stop: hsd_core.run(made.stack("target"), [], GREEDY, 0, max_new_tokens=1))
    found = all_of(batch)
    assert str(found[0][-1]) == "out of memory" and found[0][-2].event != "footer"
    assert isinstance(found[1][-1], Footer) and found[1][-1].reason == "length"
    assert "the prompt is empty" in str(found[2][0])


def test_stopping_one_run_leaves_the_others(made: Any) -> None:
    batch, found = Batch(3), Found()
    for _ in range(4):
        add(batch, made.stack("exit:2@at=2,target"), 12)
    for number, event in batch.events():
        found.setdefault(number, []).append(event)
        if number == 1 and event.event == "commit":  # type: ignore[union-attr]
            batch.stop(1)
            batch.stop(3)
    assert [found[i][-1].reason for i in (0, 1, 2)] == ["length", "stopped", "length"]
    assert 3 not in found or found[3][-1].reason == "stopped"


def test_closing_the_batch_frees_every_level(made: Any) -> None:
    closed = list[int]()
    stack = toy_stack("table:2,table", 3)
    for entry in stack:
        real = entry.level.open

        def opened(*given: Any, real: Any = real) -> Any:
            state = real(*given)
            state.close = lambda: closed.append(1)
            return state

        entry.level.open = opened  # type: ignore[method-assign]
    batch = Batch(4)
    add(batch, stack, 50)
    add(batch, made.stack("exit:2@at=2,target"), 50)
    add(batch, stack, 50)
    events = batch.events()
    for _ in range(30):
        next(events)
    events.close()
    assert len(closed) == 4


def test_runs_without_passes_take_turns_with_the_others(made: Any) -> None:
    batch = Batch(2)
    add(batch, toy_stack("table:2,table", 3), 40)
    add(batch, made.stack("target"), 10)
    order = [number for number, event in batch.events() if event.event == "commit"]  # type: ignore[union-attr]
    assert 1 in order[:12], order


def test_the_clock_of_a_run_begins_when_it_joins_and_goes_on_while_it_waits(made: Any) -> None:
    batch, took, over = Batch(1), dict[int, int](), 0
    for tokens in (6, 2):
        add(batch, made.stack("target"), tokens)
    for number, event in batch.events():
        if isinstance(event, Footer):
            took[number] = event.prefill_ns + event.decode_ns
            assert 0 < took[number] <= batch.clock.now() - over
            over = batch.clock.now()


def test_rows_of_a_joint_pass_equal_those_alone(made: Any) -> None:
    decoder, generator = made.target, torch.Generator().manual_seed(1)
    given = [Pass([1, 2], 0), Pass([0, 1, 2, 0], 0, sees=Branches(2, (-1, -1))), Pass([2], 0)]
    inputs = [torch.randn(len(one.ids), decoder.shape.hidden, generator=generator) for one in given]
    with torch.inference_mode():
        alone = [
            decoder.forward_layers(one, decoder.new_cache(8), 0, 4, x) for one, x in zip(given, inputs, strict=True)
        ]
        caches = [decoder.new_cache(8) for _ in given]
        joint = decoder.stack.together(list(zip(given, inputs, caches, strict=True)), 0, 4)
    for one, other in zip(alone, joint, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    assert [cache.length for cache in caches] == [2, 4, 1]


DTYPES = ["int8", *(pytest.param(dtype, marks=pytest.mark.everything) for dtype in ("float32", "int4"))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_a_joint_pass_of_compiled_layers_equal_those_alone_bit_for_bit(dtype: str) -> None:
    decoder = tiny_compiled(dtype=dtype, inner=64)
    begun = [[1, 2, 3], [4, 5], [6] * 40, [7], [1, 2], *([i] for i in range(5))]
    tree = Branches(40, (-1, -1, 0, 1))
    more = [Pass([9], 3), Pass([8, 9, 10], 2), Pass([3, 4, 5, 6], 40, sees=tree), Pass([5] * 33, 1)]
    more += [Pass([1, 2], 2), *(Pass([i, 1], 1) for i in range(5))]

    def caches() -> list[Any]:
        made = [decoder.new_cache(50, branches=8) for _ in begun]
        for ids, cache in zip(begun, made, strict=True):
            decoder.forward_layers(Pass(ids), cache, 0, 4)
        return made

    with torch.inference_mode():
        own, shared = caches(), caches()
        inputs = [decoder.embed(given.ids) for given in more]
        for lo, hi in ((0, 2), (2, 4)):
            texts = [Inputs(len(x), x, *of) for x, *of in zip(inputs, more, shared, strict=True)]
            alone = [decoder.forward_layers(*of, lo, hi, x) for *of, x in zip(more, own, inputs, strict=True)]
            turned = decoder._joint.run(lo, hi, texts[4::-2])  # then each keeps its place in the session
            inputs = decoder._joint.run(lo, hi, texts)
            assert all(map(torch.equal, alone, inputs)) and all(map(torch.equal, turned, inputs[4::-2]))
        assert [cache.length for cache in own] == [cache.length for cache in shared] == [one.end for one in more]
        assert torch.equal(decoder.head(torch.cat(inputs)), torch.cat([decoder.head(x) for x in inputs]))


def test_compiled_layers_that_do_not_fit_twice_run_one_text_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hsd_core.models.compiled.joint.free_bytes", lambda device: 100)
    stack, batch = LeanStacks(make=tiny_compiled).stack("target"), Batch(2)
    for _ in range(2):
        add(batch, stack, 4)
    found = all_of(batch)
    assert output_of(found[0]) == output_of(found[1]) == output_of(list(run(stack, 4)))
    assert all("a copy of the layers for several texts takes" in note.alone for note in notes(found[0]))
    assert [note.runs for note in notes(found[0])] == [(0,)] * 4


def test_a_batch_has_room_for_a_run() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Batch(0)
