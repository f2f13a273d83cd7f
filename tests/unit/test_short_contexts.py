"""Drafts whose context is shorter than the target's: they end no text, and take no part once they are full."""

from __future__ import annotations

from pathlib import Path

import pytest
import transformers

pytest.importorskip("onnxruntime")

from every_family import save
from families import CONFIGS
from families import save as save_known
from toys import output_of

from hsd_core import cli
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.trace.checks import check

SHORT, PROMPT, TOKENS = 24, "The small level drafts", 40


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target of 256 positions; two drafts of 24, one that runs layer by layer and one whole."""
    root = tmp_path_factory.mktemp("short")
    save_known(root / "target", "qwen3")
    for name, family, key in (("layered", "llama-tied", "max_position_embeddings"), ("whole", "gpt2", "n_positions")):
        kind, sizes = CONFIGS[family]
        save(root / name, family, getattr(transformers, kind)(**{**sizes, key: SHORT}))
    return root


@pytest.fixture(scope="module")
def pipeline(folders: Path) -> Pipeline:
    return Pipeline.open(target_preset(str(folders / "target"), str(folders / "layered")), stack="target", device="cpu")


@pytest.mark.covering("stack", "times")
@pytest.mark.parametrize(
    "stack",
    [
        "model:3,target",
        "ngram:2,model:3,target",
        "model:2@tree=2.2,target",
        "model:3@fuse=2,target",
        "model:3@id=WHOLE,model:3,int8:4,target",
        "model:3,target@with=pearl",
        "model:3,target@with=ahead",
        "model:3,target@with=duo",
        "model:3,target@with=card",
        "ngram:2,model:3,target@with=pearl",
    ],
)
@pytest.mark.parametrize("times", [1, 4], ids=["grows beyond it", "begins beyond it"])
def test_the_text_is_the_target_s_own_whatever_a_draft_can_hold(
    pipeline: Pipeline, folders: Path, stack: str, times: int
) -> None:
    prompt, stack = PROMPT * times, stack.replace("WHOLE", str(folders / "whole"))
    assert (len(pipeline.encode(prompt, raw=False)) > SHORT) == (times == 4)
    events = list(pipeline.run(stack, prompt, max_new_tokens=TOKENS))
    assert output_of(events) == output_of(list(pipeline.run("target", prompt, max_new_tokens=TOKENS)))
    assert len(output_of(events)) == TOKENS and not check(events)


@pytest.mark.parametrize("stack", ["model:3,target", "model:3,target@with=pearl"])
def test_the_command_line_says_where_a_draft_stopped(
    folders: Path, stack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    over = ["--target", str(folders / "target"), "--draft", str(folders / "layered"), "--device", "cpu"]
    asked = ["--stack", stack, "--prompt", PROMPT, "--max-new-tokens", str(TOKENS)]
    assert cli.main(["generate", *over, *asked]) == 0
    said = capsys.readouterr().err
    assert f"{TOKENS} tokens" in said and "ended by length" in said
    assert "the context of M, 24 tokens, was full after 16 tokens of the answer: it stopped drafting" in said
