"""Databases of one's own: one command builds them, a stack names their files, and they change no token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gguf")
pytest.importorskip("onnxruntime")

from test_weights import write_gguf
from toys import output_of

from app.serve.offer import ServerOffer
from app.serve.settings import RequestError, check, parse
from hsd_core import cli
from hsd_core.grammar import StackError
from hsd_core.grammar.preset import Preset
from hsd_core.models.weights import Source
from hsd_core.pipeline import Pipeline
from hsd_core.stacks import presets
from hsd_core.systems.ngram import command as ngrams
from hsd_core.systems.ngram.model_db import load_model_db
from hsd_core.systems.ngram.text_db import load_text_db


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder; the presets `own` and, of another tokenizer, `other`."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    write_gguf(tmp_path / "own.gguf")
    renamed = (tmp_path / "own.gguf").read_bytes().replace(b"<|im_start|>", b"<|turn_on_|>")
    (tmp_path / "other.gguf").write_bytes(renamed)
    sources = {name: Source.parse(str(tmp_path / f"{name}.gguf")) for name in ("own", "other")}
    found = {name: Preset(name, name, "target", "", "", source, layers=2) for name, source in sources.items()}
    for module in (presets, ngrams, presets):
        monkeypatch.setattr(module, "PRESETS", found)
    return tmp_path


def build(*more: str) -> int:
    return cli.main([*more, "--preset", "own"])


def test_a_text_is_looked_up_after_one_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline = Pipeline.open("own")
    plain = list(pipeline.run("target", "the", max_new_tokens=24))
    said = pipeline.tokenizer.decode(output_of(plain))
    (here / "notes" / "a.txt").write_text(f"the{said} the{said} the{said}")
    assert build("ngram-text", "--folder", "notes", "--out", "my.npz") == 0
    assert "to use it: --stack ngram:4@db=c+my.npz,target" in capsys.readouterr().err
    assert load_text_db("my.npz").header["tokenizer"] == {"name": "own", "digest": pipeline.tokenizer.digest}
    for stack in ("ngram:4@db=my.npz,target", f"ngram:4@db=c+{here / 'my.npz'},target"):
        events = list(pipeline.run(stack, "the", max_new_tokens=24))
        assert output_of(events) == output_of(plain)
        lookups = events[0].levels[0].params
        assert lookups["files"] == {"s": "my.npz"} and lookups["db"] == ("s" if "c+" not in stack else "cs")
        assert any("s" in event.sources for event in events if event.event == "draft"), "it was looked up"


def test_what_the_target_writes_is_looked_up_after_one_command(here: Path) -> None:
    (here / "prompts.jsonl").write_text("".join(json.dumps({"prompt": f"the {x}"}) + "\n" for x in "abc"))
    asked = ("ngram-model", "--prompts", "prompts.jsonl", "--out", "m.npz", "--max-new-tokens", "12")
    assert build(*asked, "--min-outputs", "1") == 0
    assert len((here / "m.jsonl").read_text().splitlines()) == 3, "kept, to go on from"
    assert load_model_db("m.npz").header["outputs"] == 3
    assert build(*asked, "--min-outputs", "1") == 0, "nothing is written twice"
    assert len((here / "m.jsonl").read_text().splitlines()) == 3
    pipeline = Pipeline.open("own")
    events = list(pipeline.run("ngram:4@db=m.npz,target", "the a", max_new_tokens=12))
    assert output_of(events) == output_of(list(pipeline.run("target", "the a", max_new_tokens=12)))
    assert events[0].levels[0].params["files"] == {"m": "m.npz"}
    events = list(pipeline.run("suffix:4@earlier=m.jsonl,target", "the a b", max_new_tokens=12))
    assert output_of(events) == output_of(list(pipeline.run("target", "the a b", max_new_tokens=12)))
    assert events[0].levels[0].params["earlier"] == "m.jsonl"
    (here / "large.jsonl").write_text('{"prompt_ids": [1], "output_ids": [2, 999999]}')
    with pytest.raises(StackError, match=r"suffix: large\.jsonl has the id 999999, and the target's ids end at"):
        Pipeline.open("own", stack="suffix@earlier=large.jsonl,target")


def test_a_database_of_another_tokenizer_is_refused_with_the_cure(here: Path) -> None:
    (here / "notes" / "a.txt").write_text("the the the")
    assert cli.main(["ngram-text", "--folder", "notes", "--out", "other.npz", "--preset", "other"]) == 0
    with pytest.raises(StackError, match=r"other\.npz: made with another tokenizer \(other, .*ngram-text --preset P"):
        Pipeline.open("own", stack="ngram:4@db=c+other.npz,target")


@pytest.mark.parametrize("name", ["my.db", "my,notes.npz", "a+b.npz", "a@b.npz", "my"])
def test_a_name_that_no_stack_could_hold_is_refused_before_any_work(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert build("ngram-text", "--folder", "notes", "--out", name) == 2
    assert "take a name that ends in .npz, without comma, @ and +" in capsys.readouterr().err
    assert not (here / name).exists()


def test_a_preset_without_databases_says_how_to_build_one(here: Path) -> None:
    with pytest.raises(StackError, match=r"own ships no database 's'; .*ngram-text` and name its file"):
        Pipeline.open("own", stack="ngram:4@db=cs,target")


@pytest.mark.parametrize("named", ["/etc/secret.npz", "../my.npz", "my.npz", "sub/my.npz", "~/my.npz"])
def test_a_visitor_names_no_file_but_those_that_the_operator_offers(here: Path, named: str) -> None:
    offered = here / "offered"
    (offered / "sub").mkdir(parents=True)
    for path in (offered / "ours.npz", offered / "sub" / "my.npz", here / "my.npz"):
        path.write_bytes(b"PK")
    (offered / "out.npz").symlink_to(here / "my.npz")

    def asks(db: str, listed: list[dict[str, Any]]) -> None:
        check(parse({"run": "a" * 32, "prompt": "x", "preset": "own", "stack": f"ngram:4@db=c+{db},target"}), listed)

    bare = Pipeline.catalogue()
    ours = ServerOffer(models=offered).catalogue(bare)
    for listed in (bare, ours):
        for db in (named, "out.npz"):
            with pytest.raises(RequestError, match="has no database"):
                asks(db, listed)
    asks("ours.npz", ours)
    with pytest.raises(RequestError, match="has no database"):
        asks("ours.npz", bare)
    with pytest.raises(RequestError, match=r"there is ours\.npz"):
        asks(named, ours)
