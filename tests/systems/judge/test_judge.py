"""The judge: it reads the state after a token, keeps what it finds good, and is taught by what the target goes on to
write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from enumerator import distance, merged_distribution, target_distribution
from lean_stacks import LeanStacks, from_scratch
from toys import output_of, toy_stack

import hsd_core
from hsd_core.core.level import StackEntry
from hsd_core.core.tree import named
from hsd_core.grammar.stack_text import parse, stack_lossless
from hsd_core.levels.shared import open_levels
from hsd_core.measure.bench.side_by_side import plain_of
from hsd_core.models.context import Context
from hsd_core.models.sampling import Sampling
from hsd_core.systems.judge.head_file import FORMAT, HeadError, JudgeHead, read_head
from hsd_core.systems.judge.judged_level import JudgedLevel
from hsd_core.systems.judge.labels import comes_back, fitted, labelled, ranked_right, swaps
from hsd_core.systems.judge.notes import Opinions
from hsd_core.typed import encode

GREEDY = Sampling(0.0)


def head_of(hidden: int, bias: float = 0.0, seed: int = 0) -> JudgeHead:
    weights = torch.randn(hidden, generator=torch.Generator().manual_seed(seed)) * 0.1
    return JudgeHead("made", "", bias, weights, {})


def judged_stack(made: LeanStacks, text: str, head: JudgeHead) -> list[StackEntry]:
    *below, target = made.stack(text)
    return [*below, replace(target, level=JudgedLevel(target.level, head))]  # type: ignore[arg-type]


def test_the_head_reads_the_state_after_the_token_and_not_the_one_that_predicts_it() -> None:
    made = LeanStacks("llama")
    head = head_of(made.target.shape.hidden)
    (entry,) = judged_stack(made, "target", head)
    (run,) = open_levels([entry.level], 16)
    context, draft = [1, 0, 2], [3, 1, 2]
    rows, work = run.score(Context(context), named(draft))
    opinions = rows.logsumexp(-1)[1:]
    states = from_scratch(made.target, [*context, *draft], made.target.layers)
    assert torch.allclose(opinions, head.opinions(states[3:]), atol=1e-4)
    assert not torch.allclose(opinions, head.opinions(states[2:5]), atol=0.1)
    plain = torch.cat([made.target.head(states[i : i + 1]) for i in (2, 3, 4, 5)])
    assert torch.allclose(rows.softmax(-1), plain.softmax(-1), atol=1e-5), "a shift that no softmax sees"
    assert Opinions.of(work) == Opinions(tuple(float(f"{x:.3g}") for x in opinions.sigmoid().tolist()))


def test_at_delta_1_the_text_is_the_targets_and_at_delta_0_everything_drafted_stays() -> None:
    made = LeanStacks("llama")
    head = head_of(made.target.shape.hidden)
    plain = output_of(list(hsd_core.run(made.stack("target"), [1, 2], GREEDY, 0, max_new_tokens=24)))

    def text(rule: str) -> tuple[tuple[int, ...], float]:
        stack = judged_stack(made, f"exit:3@at=1,target@rule=judge{rule}", head)
        events = list(hsd_core.run(stack, [1, 2], GREEDY, 0, max_new_tokens=24))
        checks = [c for e in events if e.event == "verify" and e.below is not None for c in e.checks]
        return output_of(events), sum(c.outcome == "accepted" for c in checks) / len(checks)

    assert text("@delta=1")[0] == plain
    other, kept = text("@delta=0")
    assert kept == 1.0 and other != plain
    assert text("@delta=1")[1] < text("")[1] < 1.0


@pytest.mark.parametrize("delta", ["1", "0.2"])
def test_without_a_head_the_rule_is_tokenwise(delta: str) -> None:
    stack = toy_stack(f"table:2,table@rule=judge@delta={delta}", 3, 1)
    found = merged_distribution(stack, [0], 3)
    assert distance(found, target_distribution(stack, [0], 3)) < 1e-12


def test_the_stack_says_what_is_kept() -> None:
    exact = stack_lossless(parse("int8:2,target@judge=head@rule=judge@delta=0.3"), Sampling(1.0))
    assert not exact and "its judge finds good" in exact.reason
    assert stack_lossless(parse("int8:2,target@judge=head@rule=judge@delta=1"), Sampling(1.0))
    assert plain_of("int8:2,target@judge=head@rule=judge@dtype=int8") == "target@dtype=int8", "what it is compared with"


@pytest.mark.parametrize(
    ("after", "own", "back"),
    [
        ([5, 6, 7, 8], [1, 5, 6, 7, 8], True),  # another word for 1
        ([1, 5, 6, 7, 8], [1, 5, 6, 7, 8], True),  # one word more
        ([6, 7, 8, 9], [1, 5, 6, 7, 8, 9], True),  # one less
        ([9, 9, 9, 9, 5, 6, 7], [1, 5, 6, 7, 8], False),
        ([5, 6, 2], [1, 5, 6, 2], True),  # both end
        ([5, 6, 2], [1, 5, 6, 7, 8, 9], False),
        ([], [1, 2], False),
    ],
)
def test_a_token_is_good_if_the_target_comes_back_to_its_text(after: list[int], own: list[int], back: bool) -> None:
    assert comes_back(after, own) == back


def test_labels_are_made_by_letting_the_target_go_on() -> None:
    made = LeanStacks("llama")
    prompt = [1, 2]
    own = output_of(list(hsd_core.run(made.stack("target"), prompt, GREEDY, 0, max_new_tokens=10)))
    entries = made.stack("exit:3@at=1,target")
    some = list(swaps(entries, [(prompt, own)]))
    assert some and all(one.ids[-1] != one.own[0] for one in some)
    labels = labelled(made.target, some, ends=frozenset())
    for one, state, good in zip(some, labels.states, labels.good.tolist(), strict=True):
        states = from_scratch(made.target, [*one.ids], made.target.layers)
        assert torch.allclose(state, states[-1], atol=1e-4)
        after = output_of(list(hsd_core.run(made.stack("target"), [*one.ids], GREEDY, 0, max_new_tokens=12)))
        assert good == comes_back(after, one.own)


def test_a_head_finds_a_direction_that_separates_its_labels() -> None:
    x = torch.randn(60, 6, generator=torch.Generator().manual_seed(1)) * 3 + 5
    good = (x[:, 2] - x[:, 5]) > 0
    weights, bias = fitted(x, good, 0.001)
    assert ranked_right(x.double() @ weights + bias, good) > 0.99
    assert ranked_right(torch.zeros(4), torch.tensor([True, False, True, False])) == 0.5


def test_a_file_that_is_no_head_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "head.json"
    about = {"format": FORMAT, "preset": "p", "target": "t", "fingerprint": "f", "bias": 0.5, "weights": [1.0, -1.0]}
    path.write_bytes(encode(about))
    head = read_head(path)
    assert head.opinions(torch.tensor([[2.0, 1.0]])).tolist() == [1.5]
    for broken in ({"format": "other"}, {"weights": "none"}):
        path.write_bytes(encode({**about, **broken}))
        with pytest.raises(HeadError):
            read_head(path)
