"""Peers of a benchmark: the target's own text, the same draft, a fair clock, a reason where none runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from hsd_core.measure import bench
from hsd_core.measure.bench import Measurement, PeerText, Prompt, interleaved, peers
from hsd_core.measure.bench.peers import NEVER, nano_as_llama
from hsd_core.measure.bench.prompts import TASKS, read_prompts
from hsd_core.measure.bench.summary import peer_rows
from hsd_core.models.one_pass import Pass


@pytest.mark.everything
@pytest.mark.weights
def test_transformers_writes_the_targets_own_text_in_each_of_its_ways(smollm2: Any) -> None:
    found, missing = peers.open_peers(smollm2, 12, raw=False, gguf=None)
    assert [peer.name for peer in found] == list(peers.NAMES[:3]) and set(missing) == set(peers.NAMES[3:])
    prompt = "Count from one to ten in words."
    plain = [event for event in smollm2.run("target", prompt, max_new_tokens=12) if event.event == "commit"]
    ids = tuple(token.id for event in plain for token in event.tokens)
    for peer in found:
        text = peer.run(prompt)
        assert text.ids == ids and 0 < text.tokens < 12 and text.decode_ns > 0, peer.name


@pytest.mark.everything
@pytest.mark.weights
def test_the_exported_nano_gives_the_rows_of_the_draft_but_for_what_that_copies(
    smollm2: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hsd_core.models.drafts.copying import Copier

    decoder = smollm2.lean_target()
    nano: Any = next(draft for draft in smollm2.trained() if draft.at == 0 and not draft.fed)
    ids = smollm2.encode("Name three colours.", raw=False)
    monkeypatch.setattr(Copier, "mix", lambda self, context, logits, *more: logits)
    own, _ = nano.forward(Pass(ids, wanted=len(ids)), decoder.embed(ids), nano.new_cache(64), ids)
    with torch.inference_mode():
        exported = nano_as_llama(nano, decoder)(torch.tensor([ids])).logits[0]
    assert (own.softmax(-1) - exported.softmax(-1)).abs().max() < 0.05  # its int8 products round activations
    silent = own == float("-inf")
    assert silent.any() and (exported[silent] < NEVER / 2).all()


def test_a_peer_that_cannot_run_says_why(tmp_path: Path) -> None:
    toy = SimpleNamespace(preset=SimpleNamespace(toy=True, draft=None), device="cpu", dtype="float32")
    assert "no weights" in peers.open_peers(toy, 8, raw=True, gguf=None)[1]["transformers plain"]  # type: ignore[arg-type]
    half = SimpleNamespace(preset=SimpleNamespace(toy=False, draft=None), device="cpu", dtype="int8")
    assert "int8 on cpu" in peers.open_peers(half, 8, raw=True, gguf=None)[1]["transformers lookup"]  # type: ignore[arg-type]


def test_only_some_peers_may_be_asked_for() -> None:
    assert peers.wanted_peers(None) == peers.NAMES
    wanted = peers.wanted_peers("llama.cpp plain, transformers plain")
    toy: Any = SimpleNamespace(preset=SimpleNamespace(toy=True, draft=None), device="cpu", dtype="float32")
    missing = peers.open_peers(toy, 8, raw=True, gguf=None, wanted=wanted)[1]
    assert missing["transformers lookup"] == missing["llama.cpp lookup"] == "left out"
    assert "no weights" in missing["transformers plain"] and missing["llama.cpp plain"] != "left out"
    with pytest.raises(ValueError, match="'vllm' is no peer; there are transformers plain"):
        peers.wanted_peers("vllm")


class Twice:
    """A peer that writes every prompt's first letter twice, in a microsecond."""

    name = "twice"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, prompt: str) -> PeerText:
        self.asked.append(prompt)
        return PeerText((5, 7), 1, 1000)


def test_peers_run_among_the_stacks_and_their_first_run_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def runner(stack: str, prompt: str) -> list[Any]:
        order.append(stack)
        return []

    peer = Twice()
    monkeypatch.setattr(bench.side_by_side.metrics, "committed_ids", lambda events: [5, 8, 9])
    monkeypatch.setattr(
        bench.side_by_side,
        "_measurement",
        lambda i, prompt, stack, run, plain: Measurement(
            i, prompt.category, stack, 10, 10**9, 0, 10, (0,), (0,), 10, False, None
        ),
    )
    runs = list(interleaved(runner, ["target"], [Prompt("a", "qa"), Prompt("b", "rag")], peers=[peer]))
    assert peer.asked == ["a", "a", "b"] and len(order) == 3
    theirs = [run for run in runs if isinstance(run, bench.PeerRun)]
    assert [(run.prompt, run.equal, run.of) for run in theirs] == [(0, 1, 3), (1, 1, 3)]
    plain = {run.prompt: run for run in runs if isinstance(run, Measurement)}
    row, absent = peer_rows(theirs, plain, {"another": "not installed"})
    assert row["tokens_per_s"] == pytest.approx(1e6) and row["beside_plain"] == pytest.approx(1e5)
    assert row["same_tokens"] == pytest.approx(1 / 3) and absent == {
        "name": "another",
        "tokens_per_s": None,
        "why": "not installed",
    }


def test_a_peer_that_fails_on_one_prompt_does_not_end_the_benchmark() -> None:
    class Fails(Twice):
        def run(self, prompt: str) -> PeerText:
            if prompt == "long":
                raise RuntimeError("too many tokens\nat llama.c:12")
            return super().run(prompt)

    texts = {prompt: bench.side_by_side._peer_text(Fails(), prompt) for prompt in ("a", "long")}
    theirs = [
        bench.side_by_side._peer_run(i, Prompt(p), "twice", text, [5, 7]) for i, (p, text) in enumerate(texts.items())
    ]
    assert [run.failed for run in theirs] == ["", "RuntimeError: too many tokens"]
    plain = {i: Measurement(i, "qa", "target", 10, 10**9, 0, 10, (0,), (0,), 10, False, None) for i in range(2)}
    (row,) = peer_rows(theirs, plain, {})
    assert row["tokens_per_s"] == pytest.approx(1e6) and row["prompts"] == 1 and row["same_tokens"] == 1.0
    assert row["why"] == "failed on 1 of 2 prompts (RuntimeError: too many tokens)"
    (row,) = peer_rows(theirs[1:], plain, {})
    assert row == {
        "name": "twice",
        "tokens_per_s": None,
        "why": "failed on 1 of 1 prompts (RuntimeError: too many tokens)",
    }


def test_the_built_in_prompts_hold_ten_of_each_task_and_the_quick_ones_two() -> None:
    whole, quick = read_prompts("own"), read_prompts("quick")
    assert [sum(prompt.category == task for prompt in whole) for task in TASKS] == [10] * 6
    assert [sum(prompt.category == task for prompt in quick) for task in TASKS] == [2] * 6
    assert len({prompt.text for prompt in whole}) == 60 and set(quick) <= set(whole)


def test_so_many_of_each_task_are_taken_from_its_kinds_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    kinds = ["writing", "writing", "coding", "qa", "coding", "qa"]
    path.write_text("".join(f'{{"prompt": "{i}", "category": "{kind}"}}\n' for i, kind in enumerate(kinds)))
    assert [prompt.text for prompt in read_prompts(path, 2)] == ["0", "2", "3", "5"]
