"""What can be refused is refused before any work: in one line with the cure, exit code 2, and nothing loaded."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path

import pytest

from hsd_core import cli
from hsd_core.cli import main, options
from hsd_core.cli.shared_options import MAX_PROMPT
from hsd_core.grammar.preset import Preset
from hsd_core.models.sampling import Sampling
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.builder import Builder
from hsd_core.trace import file as tracefile
from hsd_core.typed import files as typed_files

GENERATE, RACE = ["generate", "--prompt", "x"], ["race", "target", "default", "--prompt", "x"]
SAMPLED = {
    "generate": GENERATE,
    "race": RACE,
    "bench": ["bench"],
    "selfgen": ["selfgen", "--invent", "3", "--out", "out"],
}
SAMPLING = {
    "--temperature=-1": "temperature -1.0 is out of range; use 0 (greedy)",
    "--temperature=nan": "temperature nan is out of range; use 0 (greedy)",
    "--temperature=inf": "temperature inf is out of range",
    "--temperature=1e-9": "use 0 (greedy) or 0.001 to 10",
    "--top-p=0": "top-p 0.0 is out of range; use a value above 0",
    "--top-p=nan": "top-p nan is out of range",
    "--top-p=1.5": "up to 1 (1 switches it off)",
    "--top-k=-3": "top-k -3 is negative; use 0",
    "--max-new-tokens=0": "--max-new-tokens is 0; use at least 1",
    "--max-new-tokens=-7": "--max-new-tokens is -7; use at least 1",
    f"--max-new-tokens={10**30}": "--max-new-tokens has more than 64 bits",
    f"--seed={10**30}": "--seed has more than 64 bits",
    f"--seed=-{10**30}": "--seed has more than 64 bits",
}
TARGETS = {
    "generate --trace": [*GENERATE, "--trace"],
    "race --out": [*RACE, "--out"],
    "export --out": ["export", "TRACE", "--out"],
    "whatif --trace": ["whatif", "--trace"],
    "calibrate --out": ["calibrate", "--out"],
    "passes --out": ["passes", "--out"],
    "selfgen --out": ["selfgen", "--invent", "3", "--out"],
    "results --summary": ["results", "TRACE", "--summary"],
}
FOLDERS = {
    "bench --out": ["bench", "--out"],
    "record --out": ["record", "--list", "TRACE", "--out"],
    "train --out": ["train", "--recipe", "nano", "--data", "TRACE", "--out"],
    "selfgen --states": ["selfgen", "--invent", "3", "--out", "out", "--states"],
}
SOURCES = {
    "trace": ["trace"],
    "export": ["export", "--out", "out.html"],
    "generate --repeat": ["generate", "--repeat"],
    "generate --profile": [*GENERATE, "--replan", "--profile"],
    "bench --prompts": ["bench", "--prompts"],
    "bench --stacks": ["bench", "--stacks"],
    "bench --gguf": ["bench", "--gguf"],
    "passes --prompts": ["passes", "--prompts"],
    "plan --profile": ["plan", "--profile"],
    "whatif --profile": ["whatif", "--profile"],
    "record --list": ["record", "--out", "out", "--list"],
    "depth --prompts": ["depth", "--prompts"],
    "calibrate --prompts": ["calibrate", "--out", "out", "--prompts"],
    "selfgen --prompts": ["selfgen", "--out", "out", "--prompts"],
    "train --data": ["train", "--recipe", "nano", "--out", "out", "--data"],
    "results": ["results"],
    "ngram-model --data": ["ngram-model", "--out", "out", "--data"],
}


@pytest.fixture(autouse=True)
def nothing_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with a file for commands that need another one."""
    monkeypatch.setattr(Pipeline, "open", lambda *_, **__: pytest.fail("weights were loaded"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TRACE").touch()


def refusal(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command is refused with."""
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert "Errno" not in err
    return err


@pytest.mark.parametrize("option", SAMPLING)
@pytest.mark.parametrize("command", SAMPLED)
def test_sampling_out_of_range_is_refused_before_the_weights(command, option, capsys) -> None:
    assert SAMPLING[option] in refusal([*SAMPLED[command], option], capsys)


def test_the_command_line_takes_what_sampling_takes() -> None:
    for temperature, top_k, top_p in ((0.0, 0, 1.0), (0.001, 5, 0.01), (10.0, 1, 1.0)):
        options = argparse.Namespace(max_new_tokens=1, temperature=temperature, top_k=top_k, top_p=top_p, seed=-1)
        assert cli.shared_options.check_sampling(options) == Sampling(temperature, top_k, top_p)


@pytest.mark.parametrize("where", TARGETS)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(where, capsys, tmp_path) -> None:
    command, option = TARGETS[where], where.split()[-1]
    before = sorted(tmp_path.iterdir())
    assert f"{option}: no-such-folder is not a folder; make it" in refusal([*command, "no-such-folder/x.jsonl"], capsys)
    assert f"{option}: / is a folder; name a file" in refusal([*command, "/"], capsys)
    assert "is below a file" in refusal([*command, "TRACE/x"], capsys)
    assert "is too long; take a shorter one" in refusal([*command, "x" * 5000], capsys)
    assert sorted(tmp_path.iterdir()) == before, "a place is looked at without leaving anything there"


@pytest.mark.parametrize("where", FOLDERS)
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(where, capsys, tmp_path) -> None:
    before = sorted(tmp_path.iterdir())
    for wrong in ("TRACE", "TRACE/deeper/still"):
        assert f"{where.split()[-1]}: " in refusal([*FOLDERS[where], wrong], capsys)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_without_the_right_to_write_is_refused(tmp_path, capsys) -> None:
    (tmp_path / "kept").mkdir(mode=0o500)
    (tmp_path / "old.jsonl").touch(mode=0o400)
    for path in ("kept/new.jsonl", "old.jsonl"):
        assert "may not be opened; change its permissions" in refusal([*RACE, "--out", path], capsys)


def test_a_place_that_can_be_written_passes(tmp_path) -> None:
    (tmp_path / "old").write_bytes(b"kept")
    parser = argparse.ArgumentParser()
    options.writes(parser, "--out")
    options.writes(parser, "--to", folder=True)
    for out, folder in (("old", "."), ("new", "a/b/c"), (os.devnull, ".")):
        options.check_files(parser.parse_args(["--out", out, "--to", folder]))
    assert (tmp_path / "old").read_bytes() == b"kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TRACE", "old"]


@pytest.mark.parametrize("where", SOURCES)
def test_a_file_that_cannot_be_read_is_refused_before_any_work(where, capsys) -> None:
    assert "there is no no-such-file; check the name" in refusal([*SOURCES[where], "no-such-file"], capsys)
    assert ". is a folder; name a file" in refusal([*SOURCES[where], "."], capsys)
    if os.name != "nt":
        said = refusal([*SOURCES[where], "/dev/zero"], capsys)
        assert "/dev/zero is a device or a pipe, which may have no end" in said


def test_every_option_that_names_a_file_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, argparse.ArgumentParser] = {}
    add = argparse._SubParsersAction.add_parser

    def kept(self, name, **more):
        found[name] = add(self, name, **more)
        return found[name]

    monkeypatch.setattr(argparse._SubParsersAction, "add_parser", kept)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert len(found) > 15
    for name, parser in found.items():
        named = {one.dest for one in parser.get_default("named_files") or ()}
        for action in parser._actions:
            if action.metavar in ("FILE", "DIR", "TRACE", "FILE.md"):
                assert action.dest in named, f"{name} {action.metavar} {action.dest}"


def test_files_are_read_within_bounds(tmp_path, capsys) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"{" * 101)
    assert typed_files.read_bytes(path, 101) == b"{" * 101
    with pytest.raises(ValueError, match=r"is larger than 0\.0001 MB; name a smaller file"):
        typed_files.read_bytes(path, 100)
    with pytest.raises(tracefile.TraceError, match="larger than"):
        tracefile.read(path, max_bytes=100)
    path.write_bytes(b" " * 9_000_000)
    assert "longer than 8 MB" in refusal(["record", "--list", str(path), "--out", "."], capsys)
    assert "line 1: longer than 8 MB" in refusal(["results", str(path)], capsys)


def test_a_prompt_without_an_end_is_refused(monkeypatch, capsys) -> None:
    class Endless(io.StringIO):
        def read(self, size=-1):
            assert 0 <= size <= MAX_PROMPT + 1, "the whole of what has no end"
            return "a" * size

    monkeypatch.setattr(sys, "stdin", Endless())
    for command in ("generate", "race"):
        asked = ["-" if part == "x" else part for part in SAMPLED[command]]
        assert "--prompt -: stdin holds more than" in refusal(asked, capsys)


@pytest.mark.parametrize("command", ["generate", "race"])
def test_bytes_of_a_prompt_that_are_not_utf8_are_called_that(command, monkeypatch, capsys) -> None:
    named = [os.fsdecode(b"a\xff") if part == "x" else part for part in SAMPLED[command]]
    assert "--prompt: the byte 0xFF is not UTF-8" in refusal(named, capsys)
    asked = ["-" if part == "x" else part for part in SAMPLED[command]]
    for errors in ("strict", "surrogateescape"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xfea"), "utf-8", errors))
        assert "--prompt -: the byte 0xFE is not UTF-8" in refusal(asked, capsys)


def test_a_library_that_cannot_be_loaded_for_want_of_memory_is_told_so(monkeypatch, capsys) -> None:
    def load(*_: object, **__: object) -> None:
        raise ImportError("/x/_y.so: failed to map segment from shared object", name="_y", path="/x/_y.so")

    monkeypatch.setattr(Pipeline, "open", load)
    assert "the memory of this machine does not suffice" in refusal([*GENERATE, "--stack", "target"], capsys)


def test_a_dtype_that_nothing_has_is_refused_before_weights_are_fetched(monkeypatch, capsys) -> None:
    monkeypatch.setattr("hsd_core.stacks.builder.ensure", lambda *_: pytest.fail("weights were fetched"))
    monkeypatch.setattr(Pipeline, "open", classmethod(lambda cls, preset, *, dtype, device, **_: _built(preset, dtype)))
    said = refusal([*GENERATE, "--preset", "toy", "--dtype", "int8"], capsys)
    assert "preset toy has no weights and no dtype; leave the dtype 'int8' out" in said
    assert "dtype 'int9' is not known; use one of float32" in refusal([*GENERATE, "--dtype", "int9"], capsys)
    said = refusal([*GENERATE, "--preset", "toy", "--device", "cuda"], capsys)
    assert "preset toy runs only on the CPU; leave --device cuda out" in said


def _built(preset: Preset, dtype: str | None) -> None:
    Builder(preset, "cpu", dtype, lambda *_: None)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--title", "x" * 500], "title"),
        (["--about", "x" * 9000], "about"),
        (["--repeats", "51"], "repeats"),
    ],
)
def test_a_race_that_no_file_could_hold_is_refused_before_it_is_run(more, said, capsys) -> None:
    assert f"the file of a race cannot hold it: {said}" in refusal([*RACE, "--out", "x.jsonl", *more], capsys)


def test_a_race_of_one_is_refused_before_the_weights(capsys) -> None:
    assert "a race has 2 to 4 stacks, not 1" in refusal(["race", "target", "--prompt", "x"], capsys)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"preset": "toy", "stack": "table:", "prompt": "x"', "line 1: "),
        ('"preset": "nope", "stack": "target", "prompt": "x"', "presets are"),
        ('"preset": "toy", "stack": "table", "prompt": "x", "temperature": -1', "use 0 (greedy)"),
        ('"preset": "toy", "stack": "table", "prompt": "x", "max_new_tokens": 0', "use at least 1"),
    ],
)
def test_a_list_of_runs_is_refused_as_a_whole_before_the_first(entry, said, tmp_path, capsys) -> None:
    (tmp_path / "runs").write_text(f'{{"name": "a", "title": "A", {entry}}}\n')
    assert said in refusal(["record", "--list", "runs", "--out", "out"], capsys)
