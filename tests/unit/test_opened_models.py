"""Opening a model: what cannot be a level is refused with the reason, by what its layers are and by what it does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

pytest.importorskip("onnxruntime")

from covering import seeds
from every_family import FAMILIES, config_of, save
from families import CONFIGS, tokenizer
from families import save as save_known
from toys import output_of

from hsd_core.grammar.stack_text import StackError
from hsd_core.models.decoder_protocol import DecoderError
from hsd_core.models.lean.shape import refuse_no_rollback
from hsd_core.models.loading import check_opened, load_decoder
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset

PROMPT = "each one checks, each one checks, each"
STACKS = ("ngram:3,target", "lookahead:3,target")
# Families that run, those that read both ways, and those that keep nothing that could be taken back.
RUN = ("gpt2", "bloom", "deepseek_v3", "qwen3_moe", "bart")
ENCODERS = ("bert", "xlm-roberta", "big_bird")
CACHELESS = ("openai-gpt", "xlm", "cpmant")
STATES = ("rwkv", "mamba2", "falcon_mamba", "zamba")
PARTS = 24


def opened(folder: Path) -> Pipeline:
    return Pipeline.open(target_preset(str(folder)), stack="ngram:3,target", device="cpu")


@pytest.mark.parametrize("family", RUN)
def test_what_runs_writes_what_plain_decoding_writes(family: str, tmp_path: Path) -> None:
    pipeline = opened(save(tmp_path, family))
    plain = output_of(list(pipeline.run("target", PROMPT, raw=True, max_new_tokens=12)))
    for stack in STACKS:
        assert output_of(list(pipeline.run(stack, PROMPT, raw=True, max_new_tokens=12))) == plain, stack


@pytest.mark.parametrize("family", ENCODERS)
def test_an_encoder_is_no_level_and_its_decoder_is(family: str, tmp_path: Path) -> None:
    with pytest.raises(StackError, match="target: a later token changes the model's earlier rows: it is an encoder"):
        opened(save(tmp_path / "encoder", family))
    config = config_of(family)
    config.is_decoder = True
    if family == "big_bird":
        config.attention_type = "original_full"
    pipeline = opened(save(tmp_path / "decoder", family, config))
    plain = output_of(list(pipeline.run("target", PROMPT, raw=True, max_new_tokens=12)))
    assert output_of(list(pipeline.run("lookahead:3,target", PROMPT, raw=True, max_new_tokens=12))) == plain


@pytest.mark.parametrize("family", CACHELESS)
def test_a_model_without_a_cache_of_what_it_read_is_refused_and_does_not_hang(family: str, tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"keeps keys and values of \d+ of \d+ positions that it read"):
        opened(save(tmp_path, family))


@pytest.mark.parametrize("family", STATES)
def test_layers_with_a_running_state_are_refused_before_anything_is_loaded(family: str, tmp_path: Path) -> None:
    config_of(family).save_pretrained(tmp_path)
    assert "keeps a running state" in target_preset(str(tmp_path)).refused


def test_a_state_that_a_config_leaves_to_the_defaults_of_its_family_is_refused_too(tmp_path: Path) -> None:
    save_known(tmp_path, "llama-tied", layers=1)
    (tmp_path / "config.json").write_text('{"model_type": "mamba2"}')
    with pytest.raises(DecoderError, match="keeps a running state"):
        load_decoder(tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        {"layers_block_type": ["mamba", "attention"]},
        {"block_types": ["recurrent", "recurrent", "attention"]},
        {"hybrid_override_pattern": "M-M*", "ssm_state_size": 128, "mamba_num_heads": 8},
        {"linear_attn_config": {"kda_layers": [1, 2]}},
        {"text_config": {"linear_num_value_heads": 4}},
        {"conv_L_cache": 3},
        {"time_step_rank": 16},
    ],
)
def test_a_family_that_nobody_has_met_is_judged_by_its_layers(config: dict[str, Any]) -> None:
    with pytest.raises(DecoderError, match="keeps a running state"):
        refuse_no_rollback({"model_type": "of-tomorrow", **config})


def test_layers_of_an_unknown_kind_are_no_running_state_and_refused() -> None:
    with pytest.raises(DecoderError, match="'woven_attention': nothing is known of its cache"):
        refuse_no_rollback({"model_type": "of-tomorrow", "layer_types": ["full_attention", "woven_attention"]})


def test_a_family_of_hybrids_whose_layers_all_attend_is_a_target(tmp_path: Path) -> None:
    config = config_of("granitemoehybrid")
    config.layer_types = ["full_attention"] * config.num_hidden_layers
    assert config.mamba_n_heads, "its config speaks of states that no layer has"
    pipeline = opened(save(tmp_path, "granitemoehybrid", config))
    plain = output_of(list(pipeline.run("target", PROMPT, raw=True, max_new_tokens=12)))
    assert output_of(list(pipeline.run("ngram:3,target", PROMPT, raw=True, max_new_tokens=12))) == plain


@pytest.mark.parametrize("part", seeds(PARTS, always=1))
def test_no_family_of_transformers_ends_in_a_traceback(part: int, tmp_path: Path) -> None:
    met, wrong = 0, {}
    for family in FAMILIES[part::PARTS]:
        folder = tmp_path / family
        try:
            config_of(family).save_pretrained(folder)
            if not target_preset(str(folder)).refused:
                save(folder, family)
        except Exception:  # sizes that this family does not take, or a library that it lacks
            continue
        met += 1
        try:
            opened(folder)
        except ValueError as error:
            if not str(error).strip():
                wrong[family] = repr(error)
        except Exception as error:
            wrong[family] = repr(error)
        shutil.rmtree(folder)
    assert not wrong
    assert met > 100 / PARTS


@pytest.mark.parametrize("family", ["qwen3", "gpt2"])
def test_a_tokenizer_with_more_text_than_the_model_has_rows_is_refused(family: str, tmp_path: Path) -> None:
    name, sizes = CONFIGS[family]
    save(tmp_path, family, getattr(transformers, name)(**{**sizes, "vocab_size": 300}))
    with pytest.raises(StackError, match=r"ids of 320 that the model has no row for \(it has 300\)"):
        opened(tmp_path)


@pytest.mark.parametrize("family", ["qwen3", "gpt2"])
def test_special_tokens_beyond_the_model_s_rows_stand_in_no_text(family: str, tmp_path: Path) -> None:
    save_known(tmp_path, family)
    more = tokenizer()
    more.add_special_tokens({"additional_special_tokens": ["<image>"]})
    more.save_pretrained(tmp_path)
    pipeline = opened(tmp_path)
    plain = output_of(list(pipeline.run("target", PROMPT, max_new_tokens=12)))
    assert output_of(list(pipeline.run("ngram:3,target", PROMPT, max_new_tokens=12))) == plain
    assert pipeline.encode("an <image>", raw=False), "spelled out it is text"
    with pytest.raises(ValueError, match="the token '<image>', which the model has no row for"):
        pipeline.encode("an <image>", raw=True)


class Pretending:
    """A decoder that is not what it should be."""

    def __init__(self, folder: Path, how: str) -> None:
        self._decoder, self._how, self._fed = load_decoder(folder, kind="lean"), how, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def forward(self, given: Any, cache: Any) -> torch.Tensor:
        rows = self._decoder.forward(given, cache)
        self._fed += len(given.ids)
        if self._how == "reads both ways":
            return rows + rows.flip(0)
        if self._how == "remembers":
            return rows + self._fed * torch.arange(rows.shape[1]).cos() * (given.start > 0)
        if self._how == "fails":
            raise IndexError("list index out of range")
        return rows


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("reads both ways", "a later token changes"),
        ("remembers", "its cache cannot roll back"),
        ("fails", r"own forward fails as a level runs it \(IndexError: list index out of range\)"),
        ("", None),
    ],
)
def test_what_a_model_does_is_measured_and_not_believed(how: str, why: str | None, tmp_path: Path) -> None:
    made: Any = Pretending(save_known(tmp_path, "qwen3"), how)
    if why is None:
        assert check_opened(made) is made
    else:
        with pytest.raises(DecoderError, match=why):
            check_opened(made)
