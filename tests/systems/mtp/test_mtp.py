"""Heads for multi-token prediction: each form of names gives the rows of the paper's forward, and texts are the
target's."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace

import families
import pytest
import torch
import transformers.generation.candidate_generator as generating
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, from_scratch, model_distribution
from mtp_checkpoints import FORMS, Paper, copied_head, head_weights, with_heads
from tiny import tiny

from hsd_core.core.level import score_ids
from hsd_core.grammar.stack_text import StackError
from hsd_core.levels.draft_level import DraftLevel
from hsd_core.levels.draft_run import DraftRun
from hsd_core.levels.memory import of_run
from hsd_core.levels.model_level import ModelLevel
from hsd_core.levels.shared import SharedState
from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.loading import load_decoder
from hsd_core.models.one_pass import Branches
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.mtp.chain_run import ChainMtp
from hsd_core.systems.mtp.lean_mtp import LeanMtp
from hsd_core.systems.mtp.opened_heads import open_heads
from hsd_core.systems.mtp.whole_mtp import WholeMtp

VOCAB, IDS = 61, [5, 50, 3, 17, 44, 44, 8, 60, 2, 30]
TARGET = tiny(vocab=VOCAB, layers=3)
MORE_HEADS = "mtp:2@tree=2.1,target", "mtp:1,int8:2,target"


def opened(folder: Path, form: str, over: LeanDecoder = TARGET) -> tuple[LeanMtp, Paper]:
    weights = head_weights(form, width=32, layers=over.layers, bias=form == "mimo")
    head = open_heads(with_heads(folder, weights), "some", over)
    assert isinstance(head, LeanMtp)
    vocab = range(over.vocab_size)
    return head, Paper(weights, form, over.layers, over.embed(vocab), over.head_rows(vocab))


def of_paper(paper: Paper, ids: list[int], features: int) -> torch.Tensor:
    states = from_scratch(TARGET, ids[:features], TARGET.layers)
    paper.w["last"] = TARGET.last_norm
    return paper.rows(ids, torch.nn.functional.rms_norm(states, (32,), TARGET.last_norm, 1e-6))


def run_of(draft: LeanMtp) -> tuple[DraftRun, Trunk]:
    trunk = Trunk(TARGET, 64, 16)
    trunk.mark(TARGET.layers)
    return DraftRun(TARGET, draft, [trunk], 80, "mtp"), trunk


def near(logits: torch.Tensor, rows: torch.Tensor) -> bool:
    return torch.allclose(logits.log_softmax(-1).exp(), rows.exp(), atol=1e-4)


@pytest.mark.parametrize("features", [1, 4, 9])
@pytest.mark.parametrize("form", FORMS)
def test_rows_are_the_papers_for_each_form_of_names(tmp_path: Path, form: str, features: int) -> None:
    head, paper = opened(tmp_path, form)
    run, trunk = run_of(head)
    trunk.run(IDS, TARGET.layers, features)
    assert near(score_ids(run, IDS, 9)[0], of_paper(paper, IDS, features))


def test_accepts_rejects_and_trees_leave_the_rows_of_a_fresh_computation(tmp_path: Path) -> None:
    head, paper = opened(tmp_path, "deepseek")
    rng, (run, trunk) = random.Random(4), run_of(head)
    context = [rng.randrange(VOCAB) for _ in range(2)]
    for _ in range(5):
        trunk.run(context, TARGET.layers, len(context) - 1)
        logits, _ = run.grow(Context(context), [], Branches(len(context), ()), 0)
        assert near(logits, of_paper(paper, context, len(context) - 1)[-1:])
        nodes, parents = [rng.randrange(VOCAB) for _ in range(4)], (-1, -1, 0, 1)
        run.grow(Context(context), nodes[:2], Branches(len(context), parents[:2]), 2)
        logits, _ = run.grow(Context(context), nodes, Branches(len(context), parents), 2)
        for row, path in ((0, (0, 2)), (1, (1, 3))):
            line = [*context, *(nodes[node] for node in path)]
            assert near(logits[row : row + 1], of_paper(paper, line, len(context) - 1)[-1:])
        path = rng.choice([(), (0,), (1,), (1, 3)])
        run.keep(len(context), path)
        context += [*(nodes[node] for node in path), rng.randrange(VOCAB)]


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> LeanStacks:
    made = LeanStacks(layers=4, vocab=3, seed=5)
    head, _ = opened(tmp_path_factory.mktemp("mtp"), "deepseek", made.target)
    made.drafts = {"mtp": DraftLevel(made.target, head, name="mtp", label="MTP")}
    return made


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    "text",
    [
        "mtp:2@policy=confidence@theta=0.5,target@rule=block@bonus=0",
        "mtp:1,int8:2,target",
        "mtp:1,exit:2@at=2,target@rule=block",
        "ngram:1,mtp:2,target",
        "mtp:2@tree=2.1@replace=1,target",
        "mtp:2@grow=3,target",
    ],
)
def test_whole_runs_follow_the_targets_distribution(stacks: LeanStacks, text: str) -> None:
    found = run_distribution(stacks.stack(text), [1, 0], 2, sampling=SAMPLED)
    assert distance(found, model_distribution(stacks.target, [1, 0], 2)) < 1e-5


def chained(folder: Path, over: LeanDecoder, heads: int) -> tuple[ChainMtp, list[Paper]]:
    weights = head_weights("mimo", width=32, layers=over.layers, heads=heads)
    opened = open_heads(with_heads(folder, weights), "some", over)
    assert isinstance(opened, ChainMtp)
    vocab = range(over.vocab_size)
    rows = over.embed(vocab), over.head_rows(vocab)
    return opened, [Paper(weights, "mimo", over.layers, *rows, number) for number in range(heads)]


def test_each_head_of_several_reads_the_state_of_the_one_before(tmp_path: Path) -> None:
    chain, papers = chained(tmp_path, TARGET, 3)
    rng, shared, ids = random.Random(7), SharedState(64, 8), IDS[:5]
    target = ModelLevel(TARGET, name="target", kind="target", label="").open(64, shared)
    run = DraftLevel(TARGET, chain, name="mtp", label="MTP").open(64, shared)
    for _ in range(4):
        target.score(Context(ids[:-1]))
        h = torch.nn.functional.rms_norm(from_scratch(TARGET, ids[:-1], 3), (32,), TARGET.last_norm, 1e-6)
        line = [*ids, *(rng.randrange(VOCAB) for _ in range(3))]
        mine = torch.cat([score_ids(run, line[: len(ids) + drafted], 1)[0] for drafted in range(3)])
        for number, paper in enumerate(papers):
            h = paper.states(line[1 + number : len(h) + 1 + number], h)
            assert near(mine[number], (paper.head @ h[-1]).log_softmax(-1)), number
        beyond = score_ids(run, line, 1)[0]
        run.cut(0)
        assert near(beyond, score_ids(run, line, 1)[0].log_softmax(-1)), "as from a fresh computation"
        kept = rng.randrange(3)
        ids = [*line[: len(ids) + kept], rng.randrange(VOCAB)]
        run.keep(len(ids) - 1 - kept, range(kept))


@pytest.mark.parametrize(
    "text", ["mtp:3,target", *(pytest.param(text, marks=pytest.mark.everything) for text in MORE_HEADS)]
)
def test_runs_with_several_heads_follow_the_targets_distribution(tmp_path: Path, text: str) -> None:
    made = LeanStacks(layers=4, vocab=3, seed=5)
    made.drafts = {"mtp": DraftLevel(made.target, chained(tmp_path, made.target, 2)[0], name="mtp", label="MTP")}
    found = run_distribution(made.stack(text), [1, 0], 2, sampling=SAMPLED)
    assert distance(found, model_distribution(made.target, [1, 0], 2)) < 1e-5


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as Xiaomi publishes MiMo-7B: Qwen 2's layers, and one head."""
    folder = families.save(tmp_path_factory.mktemp("mtp") / "target", "qwen2")
    weights = head_weights("mimo", width=64, layers=4, size=16, bias=True)
    return with_heads(folder, weights, model_type="mimo", architectures=["MiMoForCausalLM"])


@pytest.mark.parametrize(
    "stack", ["mtp:3,target", "mtp:2@tree=2.2,int8:3,target", "mtp@grow=4,exit:2@at=3@id=lens,target"]
)
def test_greedy_text_is_the_targets(model: Path, stack: str) -> None:
    pipeline = Pipeline.open(target_preset(str(model)), stack=stack)
    runs = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in ("target", stack))
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in runs]
    assert ids[0] == ids[1]


_SMALL = {"vocab_size": families.VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4}
_SMALL |= {"num_attention_heads": 4, "max_position_embeddings": 256, "moe_intermediate_size": 32}
_GROUPED = {"num_key_value_heads": 2, "head_dim": 16, "num_experts_per_tok": 2}
_TURNS = {"layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 5}
_ROUTED = {"n_routed_experts": 4, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1}
_LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 16}
WHOLE = {
    "Glm4MoeConfig": ("deepseek", {**_ROUTED, **_GROUPED}),
    "DeepseekV3Config": ("deepseek", {**_ROUTED, **_LATENT, "num_key_value_heads": 4, "num_experts_per_tok": 2}),
    "MellumConfig": ("qwen3-next", {**_GROUPED, **_TURNS, "num_experts": 4}),
}


@pytest.mark.parametrize(
    "config", [pytest.param(name, marks=[pytest.mark.everything] * (name != "Glm4MoeConfig")) for name in WHOLE]
)
def test_heads_over_a_target_that_runs_whole_are_those_of_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    form, sizes = WHOLE[config]
    monkeypatch.setattr(families, "CONFIGS", {"moe": (config, {**_SMALL, **sizes})})
    folder = families.save(tmp_path, "moe")
    with_heads(folder, copied_head(folder, form, layers=4))
    decoder = load_decoder(folder, kind="transformers")
    head = open_heads(folder, "some", decoder)
    assert isinstance(head, WholeMtp)
    settings, model = SimpleNamespace(do_sample=False), decoder.model
    theirs = generating.MTPCandidateGenerator(model, settings, {})
    shared, ids, seen = SharedState(64, 8), [5, 50, 300, 17, 44, 44, 8, 61], 0
    target = ModelLevel(decoder, name="target", kind="target", label="").open(64, shared)
    run = DraftLevel(decoder, head, name="mtp", label="MTP").open(64, shared)
    for more in ([9, 7, 200], [31], [100, 3]):
        with torch.no_grad():
            out = model(torch.tensor([ids[:-1]]), output_hidden_states=True)
            states = SimpleNamespace(hidden_states=(out.hidden_states[-1][:, seen:],))
            places = {"position_ids": torch.arange(len(ids))[None]}
            kept = {"is_first_iteration": False, "n_last_matches": len(ids) - seen - 2}
            _, rows = theirs.get_candidates(torch.tensor([ids]), places, states, **kept)
        target.score(Context(ids[:-1]))
        mine = score_ids(run, ids, 1)[0]
        assert torch.allclose(mine.softmax(-1), rows[0].softmax(-1), atol=1e-4)
        again, tree = score_ids(run, [*ids, 7, 9], 2)[0], (-1, -1, 0, 1)
        run.keep(len(ids), ())
        run.grow(Context(ids), [3, 7], Branches(len(ids), tree[:2]), 2)
        grown, _ = run.grow(Context(ids), [3, 7, 8, 9], Branches(len(ids), tree), 2)
        assert torch.allclose(grown[1], again[1], atol=1e-3), "in a tree as in a line"
        run.keep(len(ids), (1, 3))
        run.keep(len(ids), ())
        seen, ids = len(ids) - 1, [*ids, *more]
    stacks = "target", "mtp:2,target", "mtp@tree=2.2,target"
    pipeline = Pipeline.open(target_preset(str(folder)), stack="target")
    runs = ([*pipeline.run(one, "Levels above", max_new_tokens=10, temperature=0.0)] for one in stacks)
    texts = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in runs]
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.everything
def test_several_heads_over_a_target_that_runs_whole_are_those_of_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, sizes = WHOLE["Glm4MoeConfig"]
    monkeypatch.setattr(families, "CONFIGS", {"moe": ("Glm4MoeConfig", {**_SMALL, **sizes})})
    folder = families.save(tmp_path, "moe")
    with_heads(folder, copied_head(folder, form, layers=4, heads=3), num_nextn_predict_layers=3)
    decoder = load_decoder(folder, kind="transformers")
    chain = open_heads(folder, "some", decoder)
    assert isinstance(chain, ChainMtp) and len(chain.heads) == 3
    theirs = generating.MTPCandidateGenerator(decoder.model, SimpleNamespace(do_sample=False), {})
    shared, ids, seen = SharedState(64, 8), [5, 50, 300, 17, 44, 44, 8, 61], 0
    target = ModelLevel(decoder, name="target", kind="target", label="").open(64, shared)
    run = DraftLevel(decoder, chain, name="mtp", label="MTP").open(64, shared)
    for kept in (0, 2, 3):
        with torch.no_grad():
            out = decoder.model(torch.tensor([ids[:-1]]), output_hidden_states=True)
            states = SimpleNamespace(hidden_states=(out.hidden_states[-1][:, seen:],))
            places = {"position_ids": torch.arange(len(ids))[None]}
            more = {"is_first_iteration": False, "n_last_matches": len(ids) - seen - 2}
            line, rows = theirs.get_candidates(torch.tensor([ids]), places, states, **more)
        target.score(Context(ids[:-1]))
        drafted = line[0].tolist()
        mine = torch.cat([score_ids(run, drafted[: len(ids) + k], 1)[0] for k in range(3)])
        assert torch.allclose(mine.softmax(-1), rows[0].softmax(-1), atol=1e-4)
        seen, start = len(ids) - 1, len(ids)
        ids = [*drafted[: start + kept], 9]
        run.keep(start, range(kept))


def test_its_head_is_the_targets_and_its_other_weights_are_counted(model: Path) -> None:
    lean = Pipeline.open(target_preset(str(model)), stack="target", kind="lean").entries("mtp,target")
    assert (
        of_run(lean, 64).weights - of_run(lean[1:], 64).weights
        == 4
        * sum(
            weight.numel()
            for weight in head_weights("mimo", width=64, layers=4, size=16, bias=True).values()
            if weight.dim() > 1
        )
        + 4 * 128
    )


def test_a_checkpoint_without_heads_or_with_a_part_of_one_says_so(tmp_path: Path) -> None:
    folder = families.save(tmp_path / "plain", "qwen3", layers=1)
    pipeline = Pipeline.open(target_preset(str(folder)), stack="target")
    with pytest.raises(StackError, match=r"no head for multi-token prediction \(num_nextn_predict_layers"):
        pipeline.entries("mtp,target")
    weights = head_weights("deepseek", width=32, layers=3)
    del weights["model.layers.3.hnorm.weight"]
    with pytest.raises(DraftError, match=r"lacks the weight 'layers.3.hnorm.weight'"):
        open_heads(with_heads(tmp_path, weights), "some", TARGET)
