"""Any target: a folder that transformers wrote is a target without a preset, with all that can be built over it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

pytest.importorskip("onnxruntime")

from families import LAYERED, WHOLE, save
from toys import output_of

from hsd_core import cli
from hsd_core.cli import main
from hsd_core.grammar.stack_text import StackError
from hsd_core.models.compiled import refusal
from hsd_core.models.loading import load_decoder
from hsd_core.models.one_pass import Pass
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import preset_chosen, target_preset
from hsd_core.stacks.weight_sizes import weight_bytes, weight_counts

PROMPT = "The small level drafts"
TOKENS = 20
EXITS = "ngram:3,exit:2@at=2@id=lens,target"
OVER_LAYERS = (
    EXITS,
    "exit:2@at=1@id=lens,exit:3@at=2@id=lens,target",
    "exit:2@at=2@id=lens@tree=2.2,target",
    "exit:4@at=3@id=lens@policy=del,target",
    "exit:4@at=3@policy=del,target",
    "ngram:2,int8:3,target",
    "ngram:3@guess=3,int4:4,target",
    "lookahead:3,target",
)
OVER_ALL = ("ngram:3,target", "lookahead:3,target", "ngram:2,model:3,target", "model:2@tree=2.2,target")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each family, and `small`, which has two layers."""
    root = tmp_path_factory.mktemp("families")
    for family in (*LAYERED, *WHOLE):
        save(root / family, family)
    save(root / "small", "llama-tied", seed=3, layers=2)
    return root


def logits_of(folder: Path, ids: list[int]) -> torch.Tensor:
    """What transformers finds, (n, V)."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0]


FEW = ("llama-scaled", "qwen3", "gpt2")  # the others with --all
FAMILIES = pytest.mark.parametrize(
    "family",
    [pytest.param(one, marks=[pytest.mark.everything] * (one not in FEW)) for one in (*LAYERED, *WHOLE)],
)


@FAMILIES
def test_a_family_s_logits_are_transformers_own(folders: Path, family: str) -> None:
    ids = [1, 40, 41, 42, 9, 200, 77, 140]
    expected = logits_of(folders / family, ids)
    for kind in ("compiled", "lean") if family in LAYERED else ("auto",):
        decoder = load_decoder(folders / family, kind=kind)
        cache = decoder.new_cache(len(ids))
        rows = torch.cat([decoder.forward(Pass(ids[:5], 0, 5), cache), decoder.forward(Pass(ids[5:], 5, 3), cache)])
        assert (rows - expected).abs().max() < 1e-3 * expected.abs().max(), kind


@FAMILIES
def test_all_stacks_over_a_family_write_what_plain_decoding_writes(folders: Path, family: str) -> None:
    preset = target_preset(str(folders / family), str(folders / "small"))
    pipeline = Pipeline.open(preset, stack="target", device="cpu")
    assert (pipeline.preset.layers, bool(pipeline.preset.whole)) == (4, family in WHOLE)
    plain = output_of(list(pipeline.run("target", PROMPT, max_new_tokens=TOKENS)))
    assert len(plain) > 2
    stacks = [*OVER_ALL, *(OVER_LAYERS if family in LAYERED else ())]
    for stack in stacks:
        assert output_of(list(pipeline.run(stack, PROMPT, max_new_tokens=TOKENS))) == plain, stack
    kind = type(pipeline.entries("target")[0].level.decoder).__name__  # type: ignore[attr-defined]
    assert kind == ("CompiledDecoder" if family in LAYERED else "TransformersDecoder")


@pytest.mark.covering
@pytest.mark.parametrize("family", LAYERED)
@pytest.mark.parametrize("kind", ["compiled", "lean"])
def test_every_layer_but_the_last_is_an_exit_by_the_model_s_own_head(folders: Path, family: str, kind: str) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folders / family, dtype=torch.float32)
    pipeline = Pipeline.open(target_preset(str(folders / family)), stack="target", device="cpu", kind=kind)
    prompt = pipeline.encode(PROMPT, raw=False)
    plain = output_of(list(pipeline.run("target", PROMPT, max_new_tokens=TOKENS)))
    with torch.inference_mode():
        states = model(torch.tensor([[*prompt, *plain]]), output_hidden_states=True).hidden_states
        for at in range(1, 4):
            events = list(pipeline.run(f"exit:1@at={at}@id=lens,target", PROMPT, max_new_tokens=TOKENS))
            assert output_of(events) == plain
            said = model.lm_head(model.model.norm(states[at][0])).argmax(-1).tolist()
            drafts = [e for e in events if e.event == "draft" and e.ids]
            assert [e.ids[0] for e in drafts] == [said[len(prompt) + e.at - 1] for e in drafts] and drafts


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_a_target_in_fewer_bits_has_its_own_exits(folders: Path, dtype: str) -> None:
    pipeline = Pipeline.open(target_preset(str(folders / "qwen3")), stack="target", device="cpu", dtype=dtype)
    plain = output_of(list(pipeline.run("target", PROMPT, max_new_tokens=TOKENS)))
    assert output_of(list(pipeline.run(EXITS, PROMPT, max_new_tokens=TOKENS))) == plain


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        ("exit:2@at=2@id=lens,target", "exit: the target runs whole, through transformers"),
        ("int8:3,target", "int8: the target runs whole.*'gpt2' is not one that"),
        ("nano:3,target", "nano: the target runs whole"),
        ("ngram:3@db=m,target", "no database 'm'; write ngram@db=c"),
        ("model:3,target", "no smaller model; name one"),
    ],
)
def test_what_cannot_be_built_over_a_target_says_why(folders: Path, stack: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Pipeline.open(target_preset(str(folders / "gpt2")), stack=stack, device="cpu")


# The command line


def text_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert cli.main(["generate", *command, "--device", "cpu", "--prompt", PROMPT, "--tokens", "24"]) == 0
    said = capsys.readouterr()
    assert "24 tokens" in said.err and "exact" in said.err
    return said.out


def test_a_folder_is_a_target_without_a_preset(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, small = str(folders / "llama-scaled"), str(folders / "small")
    plain = text_of(capsys, "--target", target, "--stack", "target")
    assert text_of(capsys, "--target", target, "--stack", EXITS) == plain
    assert text_of(capsys, "--target", target, "--draft", small, "--stack", "model:3,target") == plain
    assert text_of(capsys, "--target", target, "--draft", small) == plain
    assert text_of(capsys, "--stack", f"ngram:3,exit:2@at=2@id=lens,target@id={target}") == plain
    assert text_of(capsys, "--stack", f"model:3,target@id={target}", "--draft", small) == plain


def test_a_run_over_a_target_of_one_s_own_is_repeated_where_its_weights_are_named(
    folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, small, trace = str(folders / "qwen2"), str(folders / "small"), str(tmp_path / "run.jsonl")
    over = ["--target", target, "--draft", small]
    text_of(capsys, *over, "--stack", "model:3,target", "--trace", trace)
    assert str(folders) not in Path(trace).read_text(encoding="utf-8"), "a trace does not say where folders lie"
    assert cli.main(["generate", "--repeat", trace]) == 2
    assert "name its weights: --target" in capsys.readouterr().err
    assert cli.main(["generate", "--repeat", trace, *over]) == 0


def test_two_targets_are_one_too_many(folders: Path) -> None:
    one, other = str(folders / "qwen2"), str(folders / "qwen3")
    with pytest.raises(StackError, match="the stack names another; name one of them"):
        preset_chosen("smollm2", target=one, stack=f"ngram:3,target@id={other}")
    pipeline = Pipeline.open(target_preset(one), device="cpu")
    assert pipeline.entries(f"ngram:3,target@id={one}")
    with pytest.raises(StackError, match="is opened again"):
        pipeline.entries(f"ngram:3,target@id={other}")


def test_a_folder_without_a_model_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"cannot be a target: .* has no config\.json"):
        Pipeline.open(target_preset(str(tmp_path)), device="cpu")


def test_the_families_run_compiled_where_onnxruntime_takes_them(folders: Path) -> None:
    from hsd_core.models.lean.shape import LeanShape
    from hsd_core.models.loading import read_config

    for family in LAYERED:
        assert refusal(LeanShape.from_config(read_config(folders / family)), "float32", "cpu") is None


@pytest.mark.parametrize("family", ["llama-scaled", "llama-tied", "gpt2"])
def test_the_weights_that_a_target_has_are_counted_without_loading_it(folders: Path, family: str) -> None:
    found = weight_counts(folders / family)
    model = transformers.AutoModelForCausalLM.from_pretrained(folders / family)
    head = 0 if model.config.tie_word_embeddings else found.head
    assert found.layers + head + found.embedding == sum(weight.numel() for weight in model.parameters())
    heads = getattr(model.config, "num_key_value_heads", None)
    assert found.cache == (2 * model.config.num_hidden_layers * heads * 16 if heads else 0)


@pytest.mark.covering
@pytest.mark.parametrize("family", ["llama-scaled", "llama-tied", "gpt2", "gpt-neox"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_memory_that_is_told_of_a_target_is_what_its_decoder_holds(folders: Path, family: str, dtype: str) -> None:
    holds = load_decoder(folders / family, dtype=dtype).weight_bytes()
    assert weight_bytes(weight_counts(folders / family), dtype) == pytest.approx(holds, rel=0.03)


def test_what_can_be_built_over_a_target_is_listed_with_its_memory(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    big, small = folders / "llama-scaled", folders / "small"
    assert main(["models", "--target", str(big), "--draft", str(small)]) == 0
    said = {line.split()[1]: line for line in capsys.readouterr().out.splitlines() if line.startswith("    ")}
    assert "keys and values" in said["target"] and "in float32" in said["target"] and "weights" in said["int4"]
    assert "usable; at layer 1 of 4 it reads" in said["exit"] and "weights" in said["model"]
    assert "not usable" in said["nano"] and "kinds of level" not in said
    assert main(["models", "--target", "OWNER/NAME"]) == 0
    assert "known once its weights are downloaded" in capsys.readouterr().out
    assert main(["models", "--draft", str(small)]) == 2
    assert "add --target" in capsys.readouterr().err
    assert main(["models", "--target", str(big), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert set(entry["memory"]) == {"target", "int8", "int4", "exit", "calm", "turns"}


def test_databases_of_a_target_are_built_by_one_command_and_used(
    folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    over, notes, prompts = ["--target", str(folders / "qwen3")], tmp_path / "notes", tmp_path / "prompts.jsonl"
    notes.mkdir()
    (notes / "a.txt").write_text("The small level drafts a few tokens. " * 4, encoding="utf-8")
    prompts.write_text(f'{{"prompt": "{PROMPT}"}}\n', encoding="utf-8")
    own, text = str(tmp_path / "own.npz"), str(tmp_path / "text.npz")
    assert cli.main(["ngram-text", *over, "--folder", str(notes), "--out", text]) == 0
    written = ["--prompts", str(prompts), "--max-new-tokens", "24", "--min-outputs", "1"]
    assert cli.main(["ngram-model", *over, *written, "--out", own]) == 0
    assert f"to use it: --target {folders / 'qwen3'} --stack" in capsys.readouterr().err
    plain = text_of(capsys, *over, "--stack", "target")
    for name in (text, own):
        assert text_of(capsys, *over, "--stack", f"ngram:4@db=c+{name},target") == plain
    other = ["generate", "--target", str(folders / "small"), "--device", "cpu", "--prompt", PROMPT]
    assert cli.main([*other, "--stack", f"ngram:4@db=c+{own},target"]) == 0, "the same tokenizer"
