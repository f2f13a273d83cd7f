"""LayerSkip's training: the paper's schedule, a training that goes on where it was cut, and a target that opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from toys import output_of

from hsd_core.cli import main
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.exits.exit_recipe import ExitRecipe
from hsd_core.systems.exits.exit_training import exit_loss, new_target, states, text_of, train_exits

RECIPE = ExitRecipe(layers=4, hidden=32, heads=2, steps=6, batch=4, length=16, rotate=2)
TEXT = "The small level writes the draft, and the large level reads it in one pass. " * 36


def test_dropout_grows_with_depth_and_time_and_exits_take_turns() -> None:
    recipe = ExitRecipe(layers=5, steps=11, dropout=0.2, exits=0.5, rotate=2)
    assert recipe.skipped(0) == [0.0] * 5 and recipe.skipped(10)[0] == 0.0
    assert recipe.skipped(10)[4] == pytest.approx(0.2) and recipe.skipped(5)[2] < recipe.skipped(5)[3]
    scale = [0.0, 0.5, 1.5, 3.0, 4 + 0.5 * 6]  # e(l) of the paper
    for step, on in ((0, (0, 2, 4)), (1, (1, 3, 4))):
        total = sum(scale[layer] for layer in on)
        assert recipe.weights(step) == pytest.approx([scale[i] / total if i in on else 0.0 for i in range(5)])
    assert replace(recipe, exits=0.0).weights(3) == [0.0] * 4 + [1.0]


def test_a_skipped_layer_is_the_identity_for_its_text_alone_and_without_them_the_loss_is_the_models_own() -> None:
    model, ids = new_target(RECIPE), torch.randint(256, (2, 9), generator=torch.Generator().manual_seed(1))
    whole = states(model, ids)
    skipped = [torch.tensor([layer == 2, False]) for layer in range(4)]
    found = states(model, ids, skipped)
    assert torch.equal(found[2][0], found[1][0]) and torch.allclose(found[3][1], whole[3][1], atol=1e-6)
    plain = replace(RECIPE, dropout=0.0, exits=0.0)
    mine = exit_loss(model, ids, plain, 0, torch.Generator().manual_seed(0))
    logits = model(ids[:, :-1]).logits
    assert mine.item() == pytest.approx(torch.nn.functional.cross_entropy(logits.mT, ids[:, 1:]).item(), abs=1e-5)


def test_a_cut_training_ends_in_the_same_target_which_opens_with_its_exits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text/a.txt").write_text(TEXT, "utf-8")
    (tmp_path / "text/b.bin").write_bytes(b"\xff\xfe\x00")
    text = text_of(tmp_path / "text")
    assert bytes(text[:-1].tolist()).decode() == TEXT and int(text[-1]) == 256
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    found = train_exits(RECIPE, text, whole)
    assert train_exits(RECIPE, text, cut, stop=lambda: True) is None
    assert train_exits(RECIPE, text, cut) == found and found is not None and found[-1]["agree"] == 1.0
    assert (whole / "model.safetensors").read_bytes() == (cut / "model.safetensors").read_bytes()
    with pytest.raises(ValueError, match="is of another training"):
        train_exits(replace(RECIPE, seed=1), text, cut)
    pipeline = Pipeline.open(target_preset(str(whole)), stack="target", device="cpu")
    plain = output_of(list(pipeline.run("target", "The small level", max_new_tokens=12, raw=True)))
    exits = "exit:2@at=1@id=lens,exit:3@at=2@id=lens,target"
    assert output_of(list(pipeline.run(exits, "The small level", max_new_tokens=12, raw=True))) == plain
    assert pipeline.encode("ä\n", raw=True) == [*"ä\n".encode()]
    asked = ["train-target", "--folder", str(tmp_path / "text"), "--out", str(tmp_path / "told"), "--steps", "1"]
    assert main([*asked, "--layers", "2", "--hidden", "32", "--heads", "2"]) == 0
    assert "| 2 | 1.000 |" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "told/exits.json").read_text("utf-8"))["exits"]) == 2
    assert main([*asked, "--heads", "3"]) == 2 and "an even width" in capsys.readouterr().err
