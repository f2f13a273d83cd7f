"""Models of one's own: a GGUF file or a folder of safetensors as a level, from the command line and on a server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("gguf")
pytest.importorskip("onnxruntime")

from test_weights import write_gguf
from toys import output_of

from hsd_core import cli
from hsd_core.cli import models as shown
from hsd_core.grammar.preset import Preset
from hsd_core.grammar.stack_text import StackError
from hsd_core.models.compiled.decoder import CompiledDecoder
from hsd_core.models.weights import Source, WeightsError, ensure
from hsd_core.pipeline import Pipeline
from hsd_core.stacks import presets


@pytest.fixture(params=["llama", "qwen2"])
def models(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a GGUF file and a folder of safetensors; the preset `own` has a target of their kind."""
    monkeypatch.setenv("HSD_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "models"
    folder.mkdir()
    write_gguf(tmp_path / "target.gguf", architecture=request.param)
    write_gguf(folder / "small.gguf", architecture=request.param, quantised=False)
    shutil.copytree(ensure(str(folder / "small.gguf")), folder / "small")
    target = Source.parse(str(tmp_path / "target.gguf"))
    bare = Preset("own", "own", "target", "", "", target, layers=2)
    monkeypatch.setattr("hsd_core.stacks.presets.PRESETS", {"own": bare})
    return folder


@pytest.mark.parametrize("name", ["small.gguf", "small"])
def test_a_model_of_one_s_own_is_a_level_of_a_tower_and_changes_no_token(
    models: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline = Pipeline.open("own")
    plain = output_of(list(pipeline.run("target", "the", max_new_tokens=24)))
    for dtype in ("float32", "int8", "int4"):
        stack = f"ngram:2,model:3@id={models / name}@dtype={dtype},int4:5,target"
        decoders = [entry.level.decoder for entry in pipeline.entries(stack)[1:]]
        assert [(type(one), one.dtype) for one in decoders] == [
            (CompiledDecoder, kept) for kept in (dtype, "int4", "float32")
        ]
        assert output_of(list(pipeline.run(stack, "the", max_new_tokens=24))) == plain
    command = ["generate", "--preset", "own", "--prompt", "the", "--max-new-tokens", "8"]
    assert cli.main([*command, "--stack", f"model:3@id={models / name},target"]) == 0
    said = capsys.readouterr()
    assert "8 tokens" in said.err and "exact" in said.err


@pytest.mark.parametrize("name", ["small.gguf", "small"])
def test_a_server_opens_what_lies_in_the_folder_that_it_allows_and_nothing_else(models: Path, name: str) -> None:
    stack = f"model:3@id={name},target"
    assert Pipeline.open("own", stack=stack, models=models).entries(stack)
    with pytest.raises(WeightsError, match=r"not a folder, a \.gguf file or a hub id"):
        Pipeline.open("own", stack=stack)
    with pytest.raises(WeightsError, match=r"not a folder, a \.gguf file or a hub id"):
        Pipeline.open("own", stack=stack, models=models.parent)


def test_a_model_whose_special_tokens_differ_never_drafts_them_and_says_so(
    models: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = json.loads((models / "small/tokenizer.json").read_text())
    renamed = next(added for added in spec["added_tokens"] if added["content"] == "<|im_start|>")
    spec["model"]["vocab"]["<|reserved|>"] = spec["model"]["vocab"].pop("<|im_start|>")
    renamed["content"] = "<|reserved|>"
    (models / "small/tokenizer.json").write_text(json.dumps(spec))
    pipeline, stack = Pipeline.open("own"), f"model:3@id={models / 'small'},target"
    plain = output_of(list(pipeline.run("target", "the", max_new_tokens=24)))
    events = list(pipeline.run(stack, "the", max_new_tokens=24))
    assert output_of(events) == plain
    assert events[0].levels[0].params["undrafted"] == 1
    drafted = list[int]()
    for seed in range(8):
        sampled = pipeline.run(stack, "the", temperature=2.0, seed=seed, max_new_tokens=48)
        drafted += [id_ for event in sampled if event.event == "draft" for id_ in event.ids]
    assert len(drafted) > 24 and renamed["id"] not in drafted
    small, target = Source.parse(str(models / "small")), Source("folder", str(ensure(pipeline.preset.target)), "target")
    preset = Preset("own", "own", "target", "", "", target, layers=2, drafts=(small,))
    for module in (presets, shown):
        monkeypatch.setattr(module, "PRESETS", {"own": preset})
    assert cli.main(["models"]) == 0
    assert "its tokenizer differs in 1 special token, which it never drafts" in capsys.readouterr().out


def test_a_model_whose_text_differs_is_refused(models: Path) -> None:
    path = models / "small/tokenizer.json"
    spec = json.loads(path.read_text())
    spec["model"]["vocab"]["q"], spec["model"]["vocab"]["x"] = spec["model"]["vocab"]["x"], spec["model"]["vocab"]["q"]
    path.write_text(json.dumps(spec))
    with pytest.raises(StackError, match=r"tokenizer differs from the target's \(\d+ of \d+ ids agree\)"):
        Pipeline.open("own", stack=f"model:3@id={models / 'small'},target")
