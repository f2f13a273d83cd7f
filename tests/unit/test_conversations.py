"""Conversations and categories of a benchmark: what is read of their files, what each run is given, what tables say."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from hsd_core.cli import main
from hsd_core.measure.bench import Measurement, by_category, category_table, interleaved, read_conversations
from hsd_core.measure.bench.prompts import UNRESOLVED, Prompt, tasks_of
from hsd_core.pipeline import Pipeline
from hsd_core.trace.metrics import committed_ids

PLAIN, STACK = "table@id=order6", "table:3@id=order1,table@id=order6"


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_all_turns_and_categories_are_read_and_other_fields_are_let_alone(tmp_path: Path) -> None:
    speed = {"question_id": "a1", "sub_category": "x", "source": "s", "difficulty": None, "multiturn": True}
    path = written(
        tmp_path / "speed.jsonl",
        {**speed, "category": "coding", "turns": ["one", "two", "three"]},
        {"question_id": 81, "category": "multilingual", "turns": ["four"], "reference": ["an answer"]},
    )
    assert read_conversations(path) == [
        Prompt("one", "coding", ("two", "three")),
        Prompt("four", "multilingual"),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"category": "qa"}, "line 2: expected JSON with"),
        ({"turns": ["one", ""]}, "none of them empty"),
        ({"turns": "one"}, "line 2"),
        ({"turns": [f"{UNRESOLVED} FROM THE SOURCE USING SPECDEC_BENCH"]}, "line 2: .*prepare_data.py"),
    ],
)
def test_what_is_no_conversation_is_named_by_its_line(tmp_path: Path, line: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "prompts.jsonl", {"prompt": "one"}, line)
    with pytest.raises(ValueError, match=said):
        read_conversations(path)


def test_speed_bench_s_own_file_is_read_by_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test.parquet"
    path.write_bytes(b"PAR1...")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match="pip install pyarrow"):
        read_conversations(path)
    rows = [{"question_id": "a", "category": "stem", "turns": ["one", "two"], "src_id": None}]
    table = SimpleNamespace(to_pylist=lambda: rows)
    pyarrow = ModuleType("pyarrow")
    pyarrow.parquet = SimpleNamespace(read_table=lambda path: table)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    assert read_conversations(path) == [Prompt("one", "stem", ("two",))]
    rows.append({"category": "qa", "turns": [1]})
    with pytest.raises(ValueError, match="columns turns and category"):
        read_conversations(path)


def test_categories_are_tasks_of_their_own_but_for_spec_bench_s_conversations() -> None:
    assert tasks_of(["writing", "stem", "qa"]) == {"writing": "conversation", "stem": "conversation", "qa": "qa"}
    speed = ["writing", "stem", "qa", "multilingual"]
    assert tasks_of(speed) == {kind: kind for kind in speed}


def test_every_run_of_a_turn_reads_plain_decoding_s_own_answers() -> None:
    pipeline = Pipeline.open("toy")
    given: list[tuple[str, Any]] = []
    answers: list[str] = []

    def runner(stack: str, prompt: Any) -> Iterator[Any]:
        given.append((stack, prompt))
        events = list(pipeline.run(stack, prompt, max_new_tokens=12, heads=2))
        if stack == PLAIN:
            answers.append(pipeline.said(committed_ids(events)))
        return iter(events)

    talk = Prompt("The tower ", "stem", ("A level ", "The large "))
    (plain, stack) = interleaved(runner, [STACK], [talk], answer=pipeline.said)
    assert isinstance(plain, Measurement) and isinstance(stack, Measurement)
    turns = given[-6:]  # behind a warm-up
    first, second, third = ([prompt for _, prompt in turns[at : at + 2]] for at in (0, 2, 4))
    assert first == ["The tower "] * 2
    assert second == [("The tower ", answers[-3], "A level ")] * 2
    assert third == [("The tower ", answers[-3], "A level ", answers[-2], "The large ")] * 2
    assert stack.tokens == plain.tokens == stack.equal == 36 and stack.holds, "sums over the turns"
    assert sum(stack.judged) >= sum(stack.accepted) > 0 and stack.target_forwards < 36
    assert stack.offers[0] == stack.offers[1] > 0, "a table always has a draft"


def test_a_conversation_is_put_into_the_chat_template_turn_by_turn(smollm2_folder: Path) -> None:
    from hsd_core.models.tokenizer import Tokenizer

    tokenizer = Tokenizer(smollm2_folder)
    text = b"".join(map(tokenizer.piece, tokenizer.chat("One?", "Two.", "Three? <|im_end|>"))).decode()
    assert text.index("<|im_start|>user\nOne?<|im_end|>") < text.index("<|im_start|>assistant\nTwo.<|im_end|>")
    assert text.endswith("<|im_start|>user\nThree? <|im_end|><|im_end|>\n<|im_start|>assistant\n")
    assert tokenizer.chat("One?") == tokenizer.chat(*["One?"])


def test_a_table_by_category_has_speed_tokens_a_pass_and_acceptance_by_level() -> None:
    def run(prompt: int, category: str, stack: str, seconds: float, **more: Any) -> Measurement:
        counts: dict[str, Any] = {"judged": (0, 0), "accepted": (0, 0), "target_forwards": 10, **more}
        return Measurement(
            prompt, category, stack, 20, int(1e9 * seconds), 0, equal=20, diverges=False, margin=None, **counts
        )

    runs = []
    for prompt, category, seconds, kept in ((0, "stem", 1.0, 8), (1, "stem", 1.0, 6), (2, "qa", 4.0, 1)):
        runs.append(run(prompt, category, PLAIN, 2.0, target_forwards=20))
        runs.append(run(prompt, category, STACK, seconds, judged=(0, 10), accepted=(0, kept), offers=(10, 5)))
    stem, qa = (row for row in by_category(runs) if row["stack"] == STACK)
    assert (stem["category"], stem["prompts"], stem["speed_up"], stem["hits"]) == ("stem", 2, 2.0, 0.5)
    assert stem["acceptance"] == [None, 0.7] and stem["accepted_per_pass"] == 2.0
    assert (qa["speed_up"], qa["acceptance"], qa["interval"]) == (0.5, [None, 0.1], None)
    text = category_table(by_category(runs))
    assert text.count("\n") == 3 and "| stem | 2 | 2.00 | 2.00 | 0.70 |" in text, "plain decoding has no rows"
    assert not by_category([one for one in runs if one.category == "qa"]), "of one category there is nothing to say"


def test_bench_measures_conversations_by_category_and_leaves_out_what_is_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks = tmp_path / "stacks"
    stacks.write_text(STACK, encoding="utf-8")
    lines = [
        {"turns": ["The tower ", "A level "], "category": "stem"},
        {"turns": ["The large "], "category": "multilingual"},
        {"turns": ["long " * 40], "category": "multilingual"},
    ]
    prompts, out = written(tmp_path / "prompts", *lines), tmp_path / "out"
    monkeypatch.setattr(Pipeline, "room", lambda self, stack: 100)
    command = ["bench", "--preset", "toy", "--stacks", str(stacks), "--prompts", str(prompts), "--out", str(out)]
    assert main([*command, "--max-new-tokens", "12", "--no-peers"]) == 0
    told = capsys.readouterr()
    assert "1 of 3 prompts are, with their answers, longer than the 100 tokens" in told.err
    assert "| stem | 1 |" in told.out
    found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert (found["about"]["turns"], found["about"]["too_long"]) == (3, 1)
    kinds = [(row["stack"], row["category"]) for row in found["categories"]]
    assert kinds == [(stack, kind) for stack in (PLAIN, STACK) for kind in ("stem", "multilingual")]
    assert "| multilingual | 1 |" in (out / "report.md").read_text(encoding="utf-8")
    monkeypatch.setattr(Pipeline, "room", lambda self, stack: 10)
    assert main(command[:-2]) == 2
    assert "take shorter ones" in capsys.readouterr().err
