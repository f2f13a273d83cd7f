"""The snippet for transformers: it counts what assisted generation did, changes no token and leaves the model alone."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import transformers
from families import save, tokenizer

ROOT = Path(__file__).parents[2]
PROMPT = "A draft that is accepted costs one pass for many tokens; a draft"


@pytest.fixture
def snippet(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file as a user has it: copied beside a program, not part of a package."""
    monkeypatch.syspath_prepend(ROOT / "assets" / "doctor")
    return importlib.import_module("counting_generate")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    where = tmp_path_factory.mktemp("models")
    made = {"target": save(where / "target", "llama-tied"), "other": save(where / "other", "llama-tied", seed=5)}
    return {
        name: transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        for name, folder in {**made, "copy": made["target"]}.items()
    }


def written(model: Any, **more: Any) -> list[int]:
    ids = tokenizer()(PROMPT, return_tensors="pt").input_ids
    mask = torch.ones_like(ids)
    with torch.no_grad():
        out = model.generate(ids, attention_mask=mask, max_new_tokens=24, do_sample=False, eos_token_id=None, **more)
    return out[0, ids.shape[1] :].tolist()


def fixed(assistant: Any, k: int = 3) -> Any:
    assistant.generation_config.num_assistant_tokens = k
    assistant.generation_config.num_assistant_tokens_schedule = "constant"
    assistant.generation_config.assistant_confidence_threshold = 0.0
    return assistant


def test_a_copy_of_the_target_is_accepted_whole_and_another_model_is_not(snippet: ModuleType, models: Any) -> None:
    target = models["target"]
    plain = written(target)
    for name in ("copy", "other"):
        with snippet.counting(target) as counts:
            assert written(target, assistant_model=fixed(models[name])) == plain
        said = json.loads(counts.line())["metrics"]
        spec = said["speculative_decoding"]
        assert (
            spec["num_spec_steps"] == len(counts.accepted) == len(counts.round_ms) == sum(spec["acceptance_histogram"])
        )
        assert all(0 <= kept <= drafted for kept, drafted in zip(counts.accepted, counts.drafted, strict=True))
        assert all(0 < draft < took for draft, took in zip(counts.draft_ms, counts.round_ms, strict=True))
        if name == "copy":
            assert counts.accepted == counts.drafted and counts.drafted[0] == 3
        else:
            assert sum(counts.accepted) < sum(counts.drafted) / 2


def test_the_first_round_is_left_out_and_every_other_token_is_counted(snippet: ModuleType, models: Any) -> None:
    target = models["target"]
    with snippet.counting(target) as counts:
        written(target, assistant_model=fixed(models["copy"]))
    told = json.loads(counts.line())
    assert told["usage"]["completion_tokens"] == 24 - (3 + 1)  # three drafted tokens and the bonus
    assert told["metrics"]["speculative_decoding"]["mean_acceptance_length"] > 3


def test_lookups_are_counted_too_and_a_plain_run_is_timed(snippet: ModuleType, models: Any) -> None:
    target = models["target"]
    with snippet.counting(target) as looked_up:
        written(target, prompt_lookup_num_tokens=4)
    with snippet.counting(target) as plain:
        written(target)
    assert looked_up.assistant == "PromptLookupCandidateGenerator" and max(looked_up.drafted) <= 4
    said = json.loads(plain.line())
    assert said["metrics"]["speculative_decoding"] is None and said["usage"]["completion_tokens"] == 23
    assert said["metrics"]["mean_itl_ms"] > 0


def test_the_model_is_as_before_even_when_generation_fails(snippet: ModuleType, models: Any) -> None:
    target = models["target"]
    before = dict(vars(target))
    with pytest.raises(RuntimeError, match="on purpose"), snippet.counting(target):
        raise RuntimeError("on purpose")
    assert dict(vars(target)) == before and not target._forward_hooks
