"""The command line on the toy preset: what it prints where, and what bad input costs."""

from __future__ import annotations

import json

import pytest

from hsd_core.cli import main
from hsd_core.core.events import Baseline, Footer, Header
from hsd_core.measure.bench.peers import NAMES
from hsd_core.trace import file as tracefile
from hsd_core.trace.checks import check

TOY = ["--preset", "toy", "--prompt", "The small level ", "--max-new-tokens", "40"]


def test_generate_prints_the_text_alone_to_stdout(capsys):
    assert main(["generate", *TOY]) == 0
    out, err = capsys.readouterr()
    assert out == "writes the draft, and the large level\n" or out.startswith("writes ")
    assert "tokens/s" in err and "exact" in err


def test_the_stack_does_not_change_the_greedy_text(capsys):
    texts = []
    for stack in ("table@id=order6", "table:4@id=order1,table:6@id=order3,table@id=order6"):
        assert main(["generate", *TOY, "--stack", stack]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != "\n"


def test_generate_writes_a_trace_that_adds_up(tmp_path, capsys):
    path = tmp_path / "run.jsonl.gz"
    assert main(["generate", *TOY, "--baseline", "--seed", "3", "--temperature", "0.7", "--trace", str(path)]) == 0
    events = tracefile.read(path)
    assert check(events) == []
    assert isinstance(events[0], Header) and events[0].seed == 3
    assert any(isinstance(e, Footer) for e in events)
    assert isinstance(plain := events[-1], Baseline) and len(plain.ids) == len(plain.margins) == len(plain.token_ns)
    capsys.readouterr()
    assert main(["trace", str(path), "--colour", "always"]) == 0
    shown = capsys.readouterr().out
    assert "\033[38;5;" in shown and "plain decoding of the same target" in shown


def test_trace_without_colour_names_the_levels_by_letter(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    main(["generate", *TOY, "--trace", str(path)])
    capsys.readouterr()
    assert main(["trace", str(path), "--colour", "never"]) == 0
    shown = capsys.readouterr().out
    assert "\033" not in shown and "[M1]" in shown


def test_trace_refuses_a_run_that_does_not_add_up(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    main(["generate", *TOY, "--trace", str(path)])
    lines = path.read_text(encoding="utf-8").splitlines()
    footer = json.loads(lines[-1])
    footer["committed"] += 1
    path.write_text("\n".join([*lines[:-1], json.dumps(footer)]), encoding="utf-8")
    capsys.readouterr()
    assert main(["trace", str(path)]) == 2
    assert "does not add up" in capsys.readouterr().err


def test_models_lists_every_preset_with_its_state(capsys):
    assert main(["models", "--json"]) == 0
    catalogue = json.loads(capsys.readouterr().out)
    assert {"smollm2", "qwen-coder", "toy"} <= {preset["name"] for preset in catalogue}
    for preset in catalogue:
        assert preset["usable"] or preset["reason"]
        assert all(level["usable"] or level["reason"] for level in preset["levels"])


def test_bench_measures_goes_on_where_it_stopped_and_leaves_its_results(tmp_path, capsys):
    stacks, prompts, out = tmp_path / "stacks", tmp_path / "prompts", tmp_path / "out"
    stacks.write_text("# a comment\ndefault\ntable:3@id=order1,table@id=order6\n", encoding="utf-8")
    texts = [("The large ", "qa"), ("The tower ", "rag"), ("A level ", "rag")]
    prompts.write_text("".join(json.dumps({"turns": [t], "category": c}) + "\n" for t, c in texts), encoding="utf-8")
    command = ["bench", "--preset", "toy", "--stacks", str(stacks), "--prompts", str(prompts), "--per-category", "1"]
    command += ["--max-new-tokens", "12", "--out", str(out)]
    assert main(command) == 0
    whole = (out / "runs.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 2 * 3  # plain decoding, the default and a stack, on a prompt of each task
    (out / "runs.jsonl").write_bytes(b"".join(lines[:-2]))  # as if it had been killed within the second prompt
    assert main(command) == 0
    again = (out / "runs.jsonl").read_bytes().splitlines(keepends=True)
    assert again[:4] == lines[:4] and len(again) == len(lines)
    found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {row["asked"] for row in found["stacks"]} == {
        "table@id=order6",
        "default",
        "table:3@id=order1,table@id=order6",
    }
    assert all(
        row["equal"] == 1.0 and row["tokens_per_s"] > 0 and set(row["tasks"]) == {"qa", "rag"}
        for row in found["stacks"]
    )
    assert [peer["name"] for peer in found["peers"]] == list(NAMES)
    assert all(peer["tokens_per_s"] is None and "weights" in peer["why"] for peer in found["peers"][:3])
    assert (out / "results.csv").read_text(encoding="utf-8").count("\n") == 4
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "| A table of order 1, then a table of order 6 `table:3@id=order1,table@id=order6` |" in report
    assert "by `python -m hsd_core bench" in report and "transformers plain: " in report
    capsys.readouterr()
    assert main([*command, "--seed", "1"]) == 2  # another benchmark must not go on in this folder
    assert "another seed" in capsys.readouterr().err


def test_record_makes_the_runs_that_are_missing(tmp_path, capsys):
    runs = tmp_path / "runs.jsonl"
    entry = {"name": "a", "title": "A", "preset": "toy", "prompt": "The ", "max_new_tokens": 8}
    runs.write_text(json.dumps({**entry, "stack": "table:2@id=order1,table@id=order6"}), encoding="utf-8")
    command = ["record", "--list", str(runs), "--out", str(tmp_path / "traces")]
    assert main(command) == 0
    path = tmp_path / "traces" / "a.jsonl.gz"
    written = path.read_bytes()
    assert tracefile.read(path)[0].title == "A"
    assert main(command) == 0 and path.read_bytes() == written


def test_record_simulates_what_has_no_weights_and_says_so(tmp_path):
    runs = tmp_path / "runs.jsonl"
    entry = {"name": "w", "title": "What if", "whatif": "llama3", "max_new_tokens": 24}
    runs.write_text(json.dumps(entry), encoding="utf-8")
    assert main(["record", "--list", str(runs), "--out", str(tmp_path)]) == 0
    header, *rest = tracefile.read(tmp_path / "w.jsonl.gz")
    assert header.title == "What if" and "no model ran" in header.simulated
    assert header.levels[-1].label == "Llama 405B" and any(e.event == "baseline" for e in rest)


BAD = {
    "a preset": (["generate", "--preset", "nope", "--prompt", "x"], "presets are"),
    "a level": (["generate", *TOY, "--stack", "table,int9,target"], "levels are"),
    "a stack for weights": (["generate", *TOY, "--stack", "ngram:2,target"], "its levels are table@id="),
    "a table": (["generate", *TOY, "--stack", "table@id=order99"], "ids are"),
    "a temperature": (["generate", *TOY, "--temperature", "-1"], "use 0 (greedy)"),
    "a length": (["generate", *TOY, "--max-new-tokens", "0"], "at least 1"),
    "an empty prompt": (["generate", "--preset", "toy", "--prompt", ""], "at least one token"),
    "a missing trace": (["trace", "no-such-file.jsonl"], "no-such-file"),
    "a missing stacks file": (["bench", "--stacks", "no-such-file"], "no-such-file"),
    "a missing prompts file": (["bench", "--prompts", "no-such-file"], "no-such-file"),
    "no prompts": (["bench", "--per-category", "0"], "use at least 1"),
}


DEPTH, SELFGEN = ["depth", "--prompts", "p"], ["selfgen", "--prompts", "p", "--out", "o"]
TRAIN = ["train", "--recipe", "nano", "--data", "d", "--out", "o"]
NUMBERS = [
    ("--max-new-tokens is 0", [*DEPTH, "--max-new-tokens", "0"]),
    ("--limit is -2", [*DEPTH, "--limit", "-2"]),
    ("--batch is 0", [*DEPTH, "--batch", "0"]),
    ("--max-new-tokens is 0", [*SELFGEN, "--max-new-tokens", "0"]),
    ("--limit is 0", [*SELFGEN, "--limit", "0"]),
    ("--batch is 0", [*SELFGEN, "--batch", "0"]),
    ("--invent is 0", ["selfgen", "--invent", "0", "--out", "o"]),
    ("--limit is 0", [*TRAIN, "--limit", "0"]),
    ("longest is -3", [*TRAIN, "--longest", "-3"]),
    ("steps is 0", [*TRAIN, "--steps", "0"]),
]


@pytest.mark.parametrize(("said", "command"), NUMBERS)
def test_a_number_that_counts_nothing_is_refused_before_anything_is_loaded(
    said, command, tmp_path, monkeypatch, capsys
):
    from hsd_core.pipeline import Pipeline

    monkeypatch.chdir(tmp_path)
    for name in "pd":
        (tmp_path / name).touch()
    monkeypatch.setattr(Pipeline, "open", lambda *_, **__: pytest.fail("weights were loaded"))
    assert main(command) == 2
    assert capsys.readouterr().err == f"error: {said}; use at least 1\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--views", "8", "--ready", "nano"], "--ready and --views are different studies; give one of them"),
        (["--parallel", "2", "--places", "3"], "--parallel and --places are different studies; give one of them"),
        (["--lengths", "9"], "--lengths says how far into a text is read; add --places or --memory or --views"),
        (["--places", "2", "--lengths", "9"], "--lengths says how far into a text drafts are read; add --places 1"),
        (["--out", "o", "--drafts-only"], "--out needs every layer; leave --drafts-only out"),
    ],
)
def test_studies_that_do_not_go_together_are_refused_before_anything_is_loaded(
    more, said, tmp_path, monkeypatch, capsys
):
    from hsd_core.pipeline import Pipeline

    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").touch()
    monkeypatch.setattr(Pipeline, "open", lambda *_, **__: pytest.fail("weights were loaded"))
    assert main([*DEPTH, *more]) == 2
    assert capsys.readouterr().err == f"error: {said}\n"


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_that_names_the_cure(what, capsys):
    command, cure = BAD[what]
    assert main(command) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1 and cure in err


def test_memory_that_runs_out_is_one_line_that_names_the_cure(monkeypatch, capsys):
    import numpy
    import torch

    from hsd_core.pipeline import Pipeline

    asks = {
        "python": lambda *_, **__: bytearray(10**16),
        "torch": lambda *_, **__: torch.empty(10**16),
        "numpy": lambda *_, **__: numpy.zeros(10**16),
    }
    for ask in asks.values():
        monkeypatch.setattr(Pipeline, "open", ask)
        assert main(["generate", *TOY]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: the memory of this machine does not suffice; take a smaller preset")
        assert err.count("\n") == 1


def test_a_level_with_damaged_weights_ends_the_run_in_one_line_and_keeps_what_was_committed(
    tmp_path, monkeypatch, capsys
):
    from hsd_core.systems.table.table_level import TableRun

    score = TableRun.score

    def damaged(self, context, *tree):
        logits, work = score(self, context, *tree)
        return (logits * float("nan") if len(context) > 40 else logits), work

    assert main(["generate", *TOY, "--max-new-tokens", "60"]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr(TableRun, "score", damaged)
    path = tmp_path / "run.jsonl"
    assert main(["generate", *TOY, "--max-new-tokens", "60", "--trace", str(path)]) == 2
    out, err = capsys.readouterr()
    assert 0 < len(out.strip()) < len(whole.strip()) and whole.startswith(out.strip())
    assert err.count("\n") == 1 and "its logits are not finite; its weights may be damaged" in err
    events = tracefile.read(path)
    assert any(e.event == "commit" for e in events) and not any(e.event == "footer" for e in events)


def test_a_command_that_does_not_exist_is_one_line_too(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
