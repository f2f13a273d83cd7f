"""Claims about the lookahead window and its pool: where its tokens stand, what n-grams it gives, what is kept."""

from __future__ import annotations

from typing import Any

import notes_of
import pytest
import torch
from lean_stacks import LeanStacks
from toys import output_of

import hsd_core
from hsd_core.core.events import Draft, Event, Header, Report, Verify
from hsd_core.core.level import DraftOrder, Sampler, StackEntry
from hsd_core.core.tree import Probes, named
from hsd_core.grammar.stack_text import LevelSpec
from hsd_core.levels.shared import SharedState
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.one_pass import Branches, path_to
from hsd_core.models.sampling import Sampling
from hsd_core.systems.ngram.databases import Databases, LookupLimits
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.systems.ngram.window import NgramPool, Window
from hsd_core.trace.checks import check

PROMPT = [5, 6, 7, 8, 5, 6, 9, 5, 6, 7, 5, 6, 9, 11, 5, 6]
SIZES = [(1, 3), (3, 3), (1, 5), (4, 4), (7, 5), (16, 8)]


def depths(parents: tuple[int, ...]) -> list[int]:
    """How many positions behind the text each probe stands, the first one at 1."""
    found: list[int] = []
    for parent in parents:
        found.append(found[parent] + 1 if parent >= 0 else 1)
    return found


@pytest.mark.parametrize(("columns", "n"), SIZES)
def test_a_model_that_knows_every_position_is_guessed_ahead_exactly(columns: int, n: int) -> None:
    """Its token at position p is p, whatever stands before: so a token in a wrong place is seen."""
    end, window, steps = 100, Window(columns, n, range(100)), 3 * n
    for step in range(steps):
        _, parents, _ = window.probes()
        whole = window.step(end - 1, [end + depth for depth in depths(parents)])
        assert len(whole) == (columns if step >= n - 2 else 0), "it fills in n - 2 steps, then every column gives one"
        if step >= 2 * n:  # nothing of the prompt is left in it
            assert whole == [tuple(range(end - 1 + c, end - 1 + c + n)) for c in range(columns)]
        end += 1  # one token a round


@pytest.mark.parametrize(("columns", "n"), SIZES)
def test_the_window_takes_no_more_probes_than_it_says(columns: int, n: int) -> None:
    window, sizes = Window(columns, n, range(9)), []
    for _ in range(2 * n):
        ids, parents, _ = window.probes()
        sizes.append(len(ids))
        assert max(depths(parents)) == window.deepest
        window.step(0, ids)
    assert max(sizes) == Window.most(columns, n)
    assert sizes[-1] == (n - 1) * columns - 1, "Fu et al.: W(N - 1) tokens, one of them the text's last"


def test_every_probe_sees_what_the_mask_of_the_paper_lets_it_see() -> None:
    """W = N = 4: a token in row r of column c sees the spine up to c and its own column down to r."""
    window = Window(4, 4, range(9))
    for _ in range(3):
        window.step(0, range(len(window.probes()[0])))
    ids, parents, _ = window.probes()
    rows = [[0, 1, 2], [3, 5, 7, 9], [4, 6, 8, 10]]  # places in `ids`, column by column
    branches, text = Branches(5, parents), set(range(5))
    sees = ~branches.hidden(5, 5 + len(ids))
    positions = branches.positions(5, 5 + len(ids)).tolist()
    for c in range(4):
        spine = set(rows[0][:c])
        for r in (0, 1, 2) if c else (1, 2):
            place = rows[r][c] if r else rows[0][c - 1]
            own = {row[c] for row in rows[1 : r + 1]}
            assert set(sees[place].nonzero().flatten().tolist()) == text | {5 + x for x in spine | own}
            assert positions[place] == 5 + c + r - 1


def test_no_end_of_the_text_stands_in_the_window() -> None:
    window = Window(3, 4, [1, 9, 2, 9], ends={9})
    for step in range(12):
        assert 9 not in window.probes()[0]
        ids = window.probes()[0]
        window.step(1, [9 if step % 2 else 3] * len(ids))
    assert Window(2, 3, [9], ends={9}).probes()[0] == (9, 9), "a prompt of nothing else is all there is"


def test_an_ngram_may_end_the_text() -> None:
    window = Window(1, 3, [1, 2], ends={9})
    window.step(1, [4])
    assert window.step(1, [9]) == [(1, 4, 9)]


def test_the_newest_ngrams_of_a_first_token_are_kept() -> None:
    pool = NgramPool(2)
    for ngram in ((1, 2, 3), (1, 2, 4), (7, 2, 3), (1, 2, 3), (1, 5, 5)):
        pool.insert(ngram)
    assert list(pool.behind(1)) == [(5, 5), (2, 3)]
    assert list(pool.behind(7)) == [(2, 3)]
    assert list(pool.behind(2)) == []


def test_ngrams_of_the_window_are_looked_up_right_behind_the_texts_own() -> None:
    made = Databases("c", reach={"c": LookupLimits(1, 3)}, ahead=True)
    made.insert([1, 2, 3])
    made.file([(1, 8, 9), (1, 2, 3), (3, 4, 5)])
    found = made.guesses([7, 1], 2, 7)
    assert [[(x.token, x.letter) for x in one] for one in found] == [
        [(2, "c"), (3, "c")],
        [(8, "w"), (9, "w")],
    ], "what both know is the text's"
    assert [(x.token, x.letter, x.key) for x in made.guess([9, 3], 4)][:2] == [(4, "w", 1), (5, "w", 1)]
    assert made.order == "cw"
    assert Databases("", ahead=True).order == "w"


def looking_ahead(stacks: LeanStacks, above: str, *, guess: int = 4, db: str = "") -> list[StackEntry]:
    level = NgramLevel(
        lambda: Databases(db, reach={"c": LookupLimits(2, 4)}, max_continuations=guess, ahead=True),
        stacks.target.vocab_size,
        kind="lookahead",
        guess=guess,
        window=4,
        n=4,
    )
    return [StackEntry(level, LevelSpec("lookahead", block=3), 3), *stacks.stack(above)]


def run(above: str, sampling: Sampling, *, tokens: int = 60, **options: Any) -> tuple[list[Event], LeanStacks]:
    stacks = LeanStacks(layers=4, vocab=13)
    events = list(hsd_core.run(looking_ahead(stacks, above, **options), PROMPT, sampling, 3, max_new_tokens=tokens))
    assert check(events) == []
    return events, stacks


@pytest.mark.covering
@pytest.mark.parametrize("guess", [1, 4])
@pytest.mark.parametrize("db", ["", "c"])
@pytest.mark.parametrize(
    "above",
    ["target", "target@bonus=0", "int8:4,target", "exit:3@at=2,target", "int8:3@bonus=0,target@rule=greedy"],
)
def test_a_window_through_a_model_leaves_its_greedy_text(above: str, db: str, guess: int) -> None:
    events, stacks = run(above, Sampling(), guess=guess, db=db)
    plain = hsd_core.run(stacks.stack("target"), PROMPT, Sampling(), 3, max_new_tokens=60)
    assert output_of(events) == output_of(list(plain))
    assert any("w" in e.sources for e in events if isinstance(e, Draft))


@pytest.mark.parametrize("above", ["target", "int8:4,target"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_trace_has_all_that_the_window_gave(above: str, temperature: float) -> None:
    events, _ = run(above, Sampling(temperature))
    header = events[0]
    assert isinstance(header, Header)
    told = header.levels[0].params
    pool, known, offers = NgramPool(told["max_continuations"]), set[tuple[int, ...]](), 0
    text, probes = list(header.prompt_ids), list[int]()
    for event in events:
        if isinstance(event, Draft) and above == "target":
            paths: list[list[int]] = []
            for node, id_ in enumerate(event.ids):
                parent = event.parents[node]
                paths.append([*(paths[parent] if parent >= 0 else []), id_])
            tails = [tail[: len(path)] for tail in pool.behind(text[-1]) for path in paths]
            assert all(tuple(path) in tails for path in paths), "a token that no n-gram of the pool gave"
            offers += len(paths)
        elif isinstance(event, Verify) and event.level == 1:
            assert event.work.probes == event.work.rows - event.work.catch_up - len(event.checks) - 1
            probes.append(event.work.probes)
        elif isinstance(event, Verify):
            assert not event.work.probes, "the window rides in the pass right above"
        elif isinstance(event, Report):
            window = notes_of.window(event)
            assert all(len(ngram) == 4 for ngram in window)
            known |= set(window)
            for ngram in window:
                pool.insert(ngram)
        elif event.event == "commit":
            text += [token.id for token in event.tokens]  # type: ignore[attr-defined]
    assert known
    assert probes[:4] == [5, 9, 11, 11], "the window fills, then it is whole"
    assert offers or above != "target"


def test_probes_stand_before_the_last_position_of_the_model() -> None:
    level = looking_ahead(LeanStacks(layers=2, vocab=13), "target")[0].level
    order = DraftOrder(3, Sampler(lambda x: x, lambda *x: 0), lambda *x: False)
    deepest = 4 + 4 - 3
    for room, there in ((deepest, True), (deepest - 1, False)):
        state = level.open(64, SharedState(64, 64, len(PROMPT) + room))
        assert bool(state.propose(PROMPT, order).probes.ids) is there


def test_a_run_to_the_last_position_of_the_model_ends_there() -> None:
    stacks = LeanStacks(layers=2, vocab=13)
    room = stacks.target.max_positions
    prompt = (PROMPT * room)[: room - 20]
    events = list(hsd_core.run(looking_ahead(stacks, "target"), prompt, Sampling(), 3, max_new_tokens=99))
    plain = list(hsd_core.run(stacks.stack("target"), prompt, Sampling(), 3, max_new_tokens=99))
    assert output_of(events) == output_of(plain)
    assert events[-1].reason == plain[-1].reason == "context"  # type: ignore[attr-defined]
    with_window = [e.work.probes for e in events if isinstance(e, Verify)]
    assert with_window[0] > 0 == with_window[-1]


@pytest.mark.parametrize("above", ["target", "int8:4,target@bonus=0"])
def test_probes_that_nobody_asks_about_do_not_go_through_the_head(above: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heads, rows, found = list[int](), list[int](), list[list[Event]]()
    head = LeanDecoder.head
    monkeypatch.setattr(LeanDecoder, "head", lambda self, x: heads.append(len(x)) or head(self, x))
    probes = Window.probes
    for every in (False, True):
        if every:
            monkeypatch.setattr(Window, "probes", lambda self: probes(self)[:2])
        found.append(run(above, Sampling(1.0))[0])
        rows.append(sum(heads))
        heads.clear()
    windows = [[notes_of.window(e) for e in events if isinstance(e, Report)] for events in found]
    assert windows[0] == windows[1] and any(windows[0]) and output_of(found[0]) == output_of(found[1])
    passes = sum(e.level == 1 for e in found[0] if isinstance(e, Verify))
    assert rows[1] - rows[0] > 6 * (passes - 3), "of 11 probes 4 stand at the foot of a column"


def test_a_pass_with_probes_gives_the_rows_of_each_path_alone() -> None:
    stacks = LeanStacks(layers=4, vocab=13)
    run_ = stacks.stack("target")[0].level.open(64, SharedState(64, 64))
    window = Window(4, 4, PROMPT)
    for _ in range(4):
        tree = named([3, 4]).with_probes(Probes(*window.probes()))
        rows, work = run_.score(PROMPT, tree)
        assert work.rows - work.catch_up == len(rows) == len(tree) + 1
        for node in range(-1, len(tree)):
            if node in tree.unread:
                continue
            ids = [*PROMPT, *(tree.ids[i] for i in path_to(node, tree.lineage))]
            alone = stacks.stack("target")[0].level.open(64, SharedState(64)).score(ids)[0][0]
            assert torch.allclose(rows[node + 1], alone, atol=1e-4), node
        run_.keep(len(PROMPT), ())
        run_.keep(len(PROMPT) - 1, ())
        window.step(PROMPT[-1], rows.argmax(-1).tolist()[3:])
