"""A target that rounds its inputs: rows of a tree are those of a chain, bit for bit, where they decide."""

from __future__ import annotations

import random
from functools import partial

import pytest
import torch
from lean_stacks import LeanStacks, RandomDraft, RandomHeads
from tiny import tiny, tiny_compiled
from toys import output_of

import hsd_core
from hsd_core.core.level import StackEntry, scorer
from hsd_core.core.tree import Probes, Tree, named
from hsd_core.grammar.stack_text import parse
from hsd_core.levels.chain_rows import ChainRows
from hsd_core.levels.shared import open_levels
from hsd_core.models import QUANTISED
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling, likeliest
from hsd_core.systems.ngram.databases import Databases
from hsd_core.systems.ngram.ngram_level import NgramLevel
from hsd_core.trace.checks import check

MAKES = {"compiled": tiny_compiled, "lean": tiny}
SIZES = {"layers": 6, "inner": 64}
GREEDY = Sampling(0.0)
SEEDS = 13, 48  # prompts on which trees over a compiled target differ from plain decoding without `ChainRows`
TREES = (
    "lookahead:4,target",
    "exit:3@at=2@tree=3.2.1,target",
    "nano:3@id=fed@tree=2.2.2,target",
    "nano:4@id=own@grow=9,target",
    "medusa:3@tree=3.2.1,target",
)


@pytest.fixture(scope="module", params=MAKES)
def stacks(request: pytest.FixtureRequest) -> LeanStacks:
    if request.param == "compiled":
        pytest.importorskip("onnxruntime")
    make = MAKES[request.param]
    target = make(**SIZES)
    fed = RandomDraft(target, fed=True, layers=1, seed=1)
    drafts = {"own": RandomDraft(target, layers=2), "fed": fed, "heads": RandomHeads(target)}
    return LeanStacks(drafts=drafts, make=make, **SIZES)


def text_of(seed: int) -> list[int]:
    rng = random.Random(seed)
    ids = [rng.randrange(61) for _ in range(rng.randrange(6, 30))]
    return [*ids, *ids[:5]]


def state(stacks: LeanStacks, dtype: str, **how: bool) -> ChainRows:
    (run,) = open_levels([entry.level for entry in stacks.stack(f"target@dtype={dtype}")], 80, 40)
    return ChainRows(scorer(run), **how)


def chain(stacks: LeanStacks, dtype: str, context: Context, ids: list[int]) -> torch.Tensor:
    return state(stacks, dtype, greedy=True).score(context, named(ids))[0]


@pytest.mark.parametrize("dtype", QUANTISED)
def test_when_sampling_every_row_is_the_chains(stacks: LeanStacks, dtype: str) -> None:
    parents = (-1, -1, 0, 0, 1, 2, 4)
    for seed in range(4):
        ids = text_of(seed)
        context, nodes = Context(ids[:-7]), ids[-7:]
        got, work = state(stacks, dtype, greedy=False).score(context, Tree(named(nodes).tokens, parents=parents))
        assert work.rows - work.catch_up == 8
        for branch in ((0, 2, 5), (0, 3), (1, 4, 6)):
            rows = chain(stacks, dtype, context, [nodes[node] for node in branch])
            assert torch.equal(got[[0, *(node + 1 for node in branch)]], rows)


@pytest.mark.parametrize("dtype", QUANTISED)
def test_greedy_rows_along_the_first_choices_are_the_chains_and_so_is_what_is_kept(
    stacks: LeanStacks, dtype: str
) -> None:
    for seed in range(8):
        context, said = Context(text_of(seed)), list[int]()
        for _ in range(6):
            said.append(int(likeliest(chain(stacks, dtype, context, said))[-1]))
        # what is said stands in the second branch, beside probes
        other = [(token + 1) % 61 for token in said]
        tree = Tree(named([*other[:2], *said[:3], other[3]]).tokens, parents=(-1, 0, -1, 2, 3, 3))
        run = state(stacks, dtype, greedy=True)
        got, _ = run.score(context, tree.with_probes(Probes((7, 9), (-1, 0))))
        path = (2, 3, 4)
        assert torch.equal(got[[0, 3, 4, 5]], chain(stacks, dtype, context, said[:3]))
        run.keep(len(context), path)
        assert run.cached == len(context) + 3
        again, _ = run.score(context + said[:4], named(said[4:]))
        assert torch.equal(again, chain(stacks, dtype, context, said)[4:])


@pytest.mark.covering("text", "dtype", "stacks")
@pytest.mark.parametrize("dtype", QUANTISED)
@pytest.mark.parametrize("text", TREES)
def test_greedy_trees_repeat_plain_decoding(stacks: LeanStacks, text: str, dtype: str) -> None:
    text = f"{text}@dtype={dtype}"
    entries, plain = [stacks.stack(part) for part in (text.replace("lookahead:4", "table:4"), f"target@dtype={dtype}")]
    if text.startswith("lookahead"):
        spec = parse(text)[0]
        window = NgramLevel(partial(Databases, "c", ahead=True), 61, kind="lookahead", guess=7, window=7, n=5)
        entries[0] = StackEntry(window, spec, 4)
    for seed in SEEDS:
        greedy = partial(hsd_core.run, sampling=GREEDY, seed=0, max_new_tokens=40, heads=0)
        events = list(greedy(entries, text_of(seed)))
        assert output_of(events) == output_of(list(greedy(plain, text_of(seed)))), seed
        assert list(check(events)) == [] and events[0].lossless
