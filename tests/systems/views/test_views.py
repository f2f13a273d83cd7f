"""A view holds what it chose of its base, the truth where the base has it, and is taken back to what it was."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest
import torch
from lean_stacks import LeanStacks
from tiny import tiny, tiny_compiled

from hsd_core.grammar import StackError, kinds
from hsd_core.grammar.stack_text import parse
from hsd_core.levels.memory import of_run
from hsd_core.levels.shared import SharedState
from hsd_core.models.one_pass import Branches, Pass, path_to
from hsd_core.systems.views.selection import Chunks, Select, Stream
from hsd_core.systems.views.view import View

LAYERS, ROOM = 4, 24
MAKES = pytest.mark.parametrize("make", [tiny, tiny_compiled])


def text(n: int, seed: int = 0) -> list[int]:
    return [random.Random(f"{seed}:{i}").randrange(61) for i in range(n)]


def base_of(decoder: Any, ids: list[int], capacity: int = 180) -> Any:
    """A cache that holds these ids in full."""
    cache = decoder.new_cache(capacity, branches=8)
    decoder.show_queries()
    decoder.forward(Pass(ids), cache)
    return cache


def view_of(decoder: Any, base: Any, select: Select | None) -> View:
    return View(base, select, select and decoder.new_cache(select.budget, branches=ROOM))


@torch.inference_mode()
def run(decoder: Any, view: View, ids: list[int], sees: Branches | None = None) -> torch.Tensor:
    """(n, V) logits behind the next ids."""
    given = view.given(ids, len(ids), sees)
    rows = decoder.head(decoder.forward_layers(given, view.cache, 0, decoder.layers))
    view.grew(len(ids))
    return rows


def following(decoder: Any, view: View, ids: list[int], upto: int) -> None:
    view.follow(upto, lambda: decoder.queries(ids[upto], upto, view.base))


def by_mask(decoder: Any, ids: list[int], held: torch.Tensor, upto: int) -> torch.Tensor:
    """(len(ids) - upto, V): the layers over a full cache, each head hiding what the view does not hold."""
    s, n = decoder.shape, len(ids)
    base = decoder.new_cache(n)
    decoder.forward(Pass(ids[:upto]), base)
    at = torch.arange(upto, n)
    cos, sin = (table[at, None] for table in decoder.stack.rotary)

    def attend(i: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        base.keys[i, 0, :, upto:n], base.values[i, 0, :, upto:n] = k.transpose(0, 1), v.transpose(0, 1)
        out = torch.empty_like(q)
        for h in range(s.heads):
            g = h // (s.heads // s.kv_heads)
            seen = torch.zeros(n - upto, n, dtype=torch.bool)
            seen[:, held[i, g]] = True
            seen[:, upto:] = torch.ones(n - upto, n - upto, dtype=torch.bool).tril()
            score = q[:, h] @ base.keys[i, 0, g, :n].T / s.head_size**0.5
            out[:, h] = score.masked_fill(~seen, float("-inf")).softmax(-1) @ base.values[i, 0, g, :n]
        return out

    with torch.inference_mode():
        x = decoder.embed(ids[upto:])
        for i in range(decoder.layers):
            x = decoder.stack.mixed(i, x + decoder.stack.attended(i, x, cos, sin, attend))
        return decoder.head(x)


@MAKES
@pytest.mark.parametrize("select", [Stream(64), Chunks(64), None])
def test_a_budget_as_long_as_the_text_is_the_whole_cache(make: Any, select: Select | None) -> None:
    decoder, ids = make(layers=LAYERS), text(40)
    view = view_of(decoder, base_of(decoder, ids[:30]), select)
    following(decoder, view, ids, 30)
    rows = run(decoder, view, ids[30:])
    whole = decoder.forward(Pass(ids, 0, 10), decoder.new_cache(40))
    assert torch.allclose(rows, whole, atol=1e-4)


@pytest.mark.parametrize("select", [Stream(24, sink=3), Chunks(24, chunk=4)])
def test_rows_are_those_of_the_whole_text_with_the_rest_hidden(select: Select) -> None:
    decoder, ids = tiny(layers=LAYERS), text(70)
    view = view_of(decoder, base_of(decoder, ids[:62]), select)
    following(decoder, view, ids, 62)
    assert view.held().shape[2] == view.fill in (22, 24)
    rows, whole = run(decoder, view, ids[62:]), decoder.forward(Pass(ids, 0, 8), decoder.new_cache(70))
    assert torch.allclose(rows, by_mask(decoder, ids, view.held(), 62), atol=1e-4)
    assert not torch.allclose(rows, whole, atol=1e-2), "the view leaves something out, or nothing is tested"


@MAKES
def test_chunks_are_the_first_and_those_that_the_next_token_asks_for(make: Any) -> None:
    decoder, ids = make(layers=LAYERS), text(71)
    base = base_of(decoder, ids[:70])
    view = view_of(decoder, base, Chunks(32, chunk=4))
    following(decoder, view, ids, 70)
    lean = tiny(layers=LAYERS, head_dim=decoder.shape.head_size)
    own = lean.new_cache(72)
    lean.forward(Pass(ids[:70]), own)
    queries = lean.queries(ids[70], 70, own)
    for layer in range(LAYERS):
        for g in range(2):
            scored = {}
            for c in range(17):
                mean = own.keys[layer, 0, g, 4 * c : 4 * c + 4].mean(0)
                scored[c] = max(float(queries[layer, h] @ mean) for h in (2 * g, 2 * g + 1))
            best = sorted(range(1, 17), key=lambda c: -scored[c])[:6]
            held = view.held()[layer, g].tolist()
            assert held == [4 * c + i for c in (0, *best) for i in range(4)] + [68, 69]
            assert torch.equal(view.cache.keys[layer, 0, g, :30], base.keys[layer, 0, g, held])


@MAKES
def test_an_int8_models_view_of_a_float32_cache(make: Any) -> None:
    """It holds the same keys and values as the copy's own cache would, but for the rounding of their products."""
    decoder, copy, ids = make(layers=LAYERS, inner=64), make(layers=LAYERS, dtype="int8", inner=64), text(60)
    own = base_of(copy, ids[:50])
    view = View(base_of(decoder, ids[:50]), Stream(56), copy.new_cache(56, branches=ROOM))
    view.follow(50)
    for mine, theirs in ((view.cache.keys, own.keys), (view.cache.values, own.values)):
        off = (mine[..., :50, :] - theirs[..., :50, :]).float().norm() / theirs[..., :50, :].float().norm()
        assert off < 0.05
    rows, whole = run(copy, view, ids[50:]), copy.forward(Pass(ids[50:], 50, 10), own)
    assert (rows - whole).norm() / whole.norm() < 0.05


def test_a_copy_that_divides_its_values_is_read_and_written_as_it_stands() -> None:
    decoder, ids = tiny(layers=LAYERS), text(40)
    base = base_of(decoder, ids)
    base.divided = torch.rand(LAYERS, 2, 8) + 0.5
    view = view_of(decoder, base, Stream(24))
    view.cache.divided = torch.full((LAYERS, 2, 8), 2.0)
    view.follow(40)
    held = base.values[:, 0, :, view.held()[0, 0]]
    assert torch.allclose(view.cache.values[:, 0, :, :24], held * base.divided[:, :, None] / 2.0)
    assert torch.equal(view.cache.keys[:, 0, :, :24], base.keys[:, 0, :, view.held()[0, 0]])


def test_what_stands_later_leaves_earlier_rows_alone() -> None:
    decoder, ids = tiny(layers=LAYERS), text(70)
    found = []
    for last in (3, 50):
        view = view_of(decoder, base_of(decoder, ids[:60]), Chunks(24, chunk=4))
        following(decoder, view, ids, 60)
        found.append(run(decoder, view, [*ids[60:64], last]))
    assert torch.equal(found[0][:4], found[1][:4]) and not torch.equal(found[0][4], found[1][4])


@MAKES
def test_a_trees_rows_are_those_of_its_lines(make: Any) -> None:
    decoder, ids = make(layers=LAYERS), text(60)
    parents, nodes = (-1, -1, 0, 0, 2), [4, 9, 11, 30, 7]
    view = view_of(decoder, base_of(decoder, ids[:50]), Chunks(24, chunk=4))
    following(decoder, view, ids, 50)
    rows = run(decoder, view, [*ids[50:53], *nodes], Branches(53, parents))[3:]
    for node in range(5):
        path = [nodes[i] for i in path_to(node, parents)]
        alone = view_of(decoder, base_of(decoder, ids[:50]), Chunks(24, chunk=4))
        following(decoder, alone, ids, 50)
        assert torch.allclose(rows[node], run(decoder, alone, [*ids[50:53], *path])[-1], atol=1e-4)
    view.keep(53, [0, 2])
    assert view.length == 55
    after = run(decoder, view, [8])
    alone.cut(53)
    assert torch.allclose(after, run(decoder, alone, [4, 11, 8])[-1:], atol=1e-4)


@MAKES
@pytest.mark.parametrize("select", [Stream(20, sink=3), Chunks(20, chunk=4), Chunks(60, chunk=4), None])
def test_fuzzed_rollbacks_leave_what_a_fresh_view_holds(make: Any, select: Select | None) -> None:
    """Rounds of any length, verified in part, the base now and then cut below what the view had followed."""
    rng = random.Random(str(select))
    decoder, ids = make(layers=LAYERS), text(40)
    base = base_of(decoder, ids[:39])
    view = view_of(decoder, base, select)
    following(decoder, view, ids, 39)
    for _ in range(25):
        drafted = [rng.randrange(61) for _ in range(rng.randint(1, 5))]
        rows = run(decoder, view, [*ids[view.length :], *drafted])
        fresh = view_of(decoder, base_of(decoder, ids[:39]), select)
        following(decoder, fresh, ids, 39)  # asking writes into free slots
        if view.upto > 39:
            decoder.forward(Pass(ids[39 : view.upto], 39), fresh.base)
        fresh.follow(view.upto)
        assert torch.equal(view.held(), fresh.held()), "slots hold something else than a fresh view's"
        assert (view.fill, view.upto) == (fresh.fill, fresh.upto)
        again = run(decoder, fresh, [*ids[fresh.length :], *drafted])
        assert torch.allclose(rows[-len(drafted) :], again[-len(drafted) :], atol=1e-4)
        kept = rng.randint(0, len(drafted))
        view.keep(len(ids), range(kept))
        assert view.length == len(ids) + kept
        ids = [*ids, *drafted[:kept], rng.randrange(61)]
        if rng.random() < 0.3:
            ids = ids[: rng.randint(41, len(ids))]
            view.cut(len(ids))
        elif rng.random() < 0.3:
            continue  # a round in which the base's level did not take part
        with torch.inference_mode():
            start = min(base.length, 39)
            decoder.forward(Pass(ids[start:-1], start), base)
        view.follow(len(ids) - 1)


def test_a_view_that_was_cut_below_its_choice_has_to_follow_first() -> None:
    decoder, ids = tiny(layers=LAYERS), text(60)
    view = view_of(decoder, base_of(decoder, ids[:50]), Stream(20))
    view.follow(50)
    view.cut(40)
    assert not view.settled
    with pytest.raises(AssertionError, match="follow the base first"):
        view.given([1])
    assert view.follow(40) and view.held()[0, 0].tolist() == [*range(16), *range(36, 40)]


def test_a_view_that_was_cut_to_where_it_chose_still_holds_its_choice() -> None:
    decoder, ids = tiny(layers=LAYERS), text(60)
    view = view_of(decoder, base_of(decoder, ids[:55]), Stream(20))
    view.follow(50)
    chosen = view.held()
    view.follow(53)
    assert not torch.equal(view.held(), chosen)
    view.cut(50)
    assert view.settled and torch.equal(view.held(), chosen)
    assert not view.follow(50), "nothing is chosen again"


def test_a_budget_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="16 first positions leave nothing of 16 slots"):
        Stream(16)
    with pytest.raises(ValueError, match="a budget of 15 slots holds fewer than two chunks of 8"):
        Chunks(15)


def test_a_layers_keys_are_the_bases() -> None:
    decoder, ids = tiny(layers=LAYERS), text(30)
    base = base_of(decoder, ids)
    view = View(base)
    view.follow(25)
    keys, values = view.layer(LAYERS - 1)
    assert keys.shape == values.shape == (2, 25, 8) and keys.data_ptr() == base.keys[-1].data_ptr()


def test_a_stacks_view_that_cannot_be_is_refused_in_words() -> None:
    spec = parse("view:4@budget=9@chunk=8,target")[0]
    with pytest.raises(StackError, match="view: a budget of 9 slots holds fewer than two chunks of 8"):
        kinds()["view"].build(spec, cast("Any", None))
    decoder, shared = tiny(layers=LAYERS), SharedState(64)
    with pytest.raises(ValueError, match="no level above has one of this model's shape"):
        shared.viewed(decoder)
    shared.trunk(tiny(layers=2), 2)
    with pytest.raises(ValueError, match="no level above has one of this model's shape"):
        shared.viewed(decoder)
    mine = SharedState(64)
    assert mine.trunk(decoder, LAYERS) is mine.viewed(tiny(layers=LAYERS, seed=3)), "a copy of the same shape"


def test_a_views_own_slots_count_in_a_runs_memory() -> None:
    stack = LeanStacks(layers=LAYERS).stack("view:4@budget=16@chunk=4,target")
    own = of_run(stack, 100).kept - of_run(stack[1:], 100).kept
    assert own == stack[0].level.decoder.cache_bytes(16 + 100) > 0
