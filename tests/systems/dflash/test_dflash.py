"""Public DFlash drafters: the rows are those of transformers' generator, and texts are the target's."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import families
import pytest
import torch
import transformers
from dflash_checkpoints import BLOCK, MASK, written
from enumerator import SAMPLED, distance, run_distribution
from lean_stacks import LeanStacks, model_distribution
from safetensors.torch import load_file, save_file

from hsd_core.levels.trunk import Trunk
from hsd_core.models.context import Context
from hsd_core.models.drafts.draft_file import DraftError
from hsd_core.models.loading import load_decoder
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset
from hsd_core.systems.dflash.dflash_draft import open_dflash
from hsd_core.systems.dflash.dflash_level import DFlashLevel, DFlashRun

generating = pytest.importorskip("transformers.generation.candidate_generator")
if not hasattr(generating, "DFlashTokenCandidateGenerator"):
    pytest.skip("this transformers has no DFlash", allow_module_level=True)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any]:
    """A target's folder, a drafter's, and the drafter as transformers runs it."""
    folder = tmp_path_factory.mktemp("dflash")
    target = families.save(folder / "target", "qwen3")
    return target, *written(folder / "drafter", vocab=families.VOCABULARY, width=64)


@pytest.mark.parametrize("window", [None, 4])
def test_rows_are_those_of_transformers_generator(
    both: tuple[Path, Path, Any], tmp_path: Path, window: int | None
) -> None:
    folder, drafter, assistant = both
    if window:
        drafter, assistant = written(tmp_path, vocab=families.VOCABULARY, width=64, window=window)
    decoder = load_decoder(folder, kind="lean")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    settings = SimpleNamespace(max_length=200, do_sample=False)
    head = model.get_output_embeddings()
    theirs = generating.DFlashTokenCandidateGenerator(assistant, model.get_input_embeddings(), head, settings)
    draft = open_dflash(drafter, "some", decoder)
    trunk = Trunk(decoder, 64)
    for depth in {*draft.joined, decoder.layers}:
        trunk.mark(depth)
    run = DFlashRun(draft, [trunk], 64, "dflash")
    ids, seen = [5, 50, 300, 17, 44, 44, 8], 0
    for kept in (0, 2, 0, 3):
        with torch.no_grad():
            out = model(torch.tensor([ids[:-1]]), output_hidden_states=True)
            states = tuple(state[:, seen:] for state in out.hidden_states)
            given = {"position_ids": torch.arange(len(ids))[None], "attention_mask": torch.ones(1, len(ids))}
            model_outputs = SimpleNamespace(hidden_states=states)
            more = {"is_first_iteration": False, "n_last_matches": len(ids) - seen - 2}
            _, rows = theirs.get_candidates(torch.tensor([ids]), given, model_outputs, **more)
        trunk.run(ids, decoder.layers, len(ids) - 1)
        mine, work = run.predict(Context(ids), 9)
        assert torch.allclose(mine.softmax(-1), rows[0].softmax(-1), atol=1e-4)
        assert (work.rows, work.catch_up, len(mine)) == (BLOCK, len(ids) - 1 - seen, BLOCK - 1)
        seen = len(ids) - 1
        run.keep(len(ids), ())
        ids += [9, 7, 200, 31, 100][: kept + 1]


def speculators(folder: Path, **more: Any) -> Path:
    """The same drafter as vLLM's speculators writes it."""
    told = json.loads((folder / "config.json").read_text())
    own, layers = told.pop("dflash_config"), {**told, "model_type": "qwen3"}
    config = {
        "speculators_model_type": "dflash",
        "architectures": ["DFlashDraftModel"],
        "transformer_layer_config": layers,
        "speculators_config": {"algorithm": "dflash", "verifier": {"name_or_path": "some/target"}},
        "block_size": layers.pop("block_size"),
        "mask_token_id": own["mask_token_id"],
        "aux_hidden_state_layer_ids": [at + 1 for at in own["target_layer_ids"]],
    }
    (folder / "config.json").write_text(json.dumps(config | more))
    return folder


@pytest.mark.parametrize("apart", [None, False, True])
def test_a_drafter_of_speculators_is_the_same_and_its_windows_begin_before_the_block(
    both: tuple[Path, Path, Any], tmp_path: Path, apart: bool | None
) -> None:
    window = None if apart is None else 3
    folder, assistant = written(tmp_path, vocab=families.VOCABULARY, width=64, window=window)
    more = {} if apart is None else {"sliding_window_non_causal": apart}
    decoder = load_decoder(both[0], kind="lean")
    draft, states = open_dflash(speculators(folder, **more), "some", decoder), torch.randn(9, 3 * 64)
    cache, context = draft.new_cache(32), torch.arange(9)
    assert draft.joined == open_dflash(both[1], "some", decoder).joined and draft.of == "some/target"
    draft.read(states, cache)
    mine = draft.rows([7], cache)
    at, key = torch.arange(9, 9 + BLOCK)[:, None], torch.arange(9 + BLOCK)
    seen = (key >= 9 - 3) & ((key <= at) if apart is False else torch.ones_like(at, dtype=torch.bool))
    mask = torch.zeros(BLOCK, 9 + BLOCK).masked_fill(~seen, float("-inf"))[None, None]
    with torch.no_grad():
        out = assistant(
            noise_embeds=decoder.embed([7, *[MASK] * (BLOCK - 1)])[None],
            context_hidden_states=states[None],
            position_ids=torch.cat((context, at[:, 0]))[None],
            attention_mask={"full_attention": None, "sliding_attention": mask},
        ).last_hidden_state[0, 1:]
    rows = out @ decoder.head_rows(range(decoder.vocab_size)).T
    assert torch.allclose(mine.softmax(-1), rows.softmax(-1), atol=1e-4)


def test_a_vocabulary_of_its_own_leaves_no_mass_elsewhere(both: tuple[Path, Path, Any], tmp_path: Path) -> None:
    known, (folder, _) = [0, 3, 5, 300], written(tmp_path, vocab=families.VOCABULARY, width=64)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] = torch.randn(4, 64)
    weights["d2t"] = torch.tensor([id_ - row for row, id_ in enumerate(known)])
    save_file(weights, folder / "model.safetensors")
    draft = open_dflash(speculators(folder, draft_vocab_size=4), "some", load_decoder(both[0], kind="lean"))
    cache = draft.new_cache(32)
    draft.read(torch.randn(6, 3 * 64), cache)
    rows = draft.rows([7], cache)
    assert rows.shape == (BLOCK - 1, families.VOCABULARY) and rows.isfinite().nonzero()[:, 1].unique().tolist() == known


def test_tokens_of_a_middle_level_take_the_place_of_masks(both: tuple[Path, Path, Any]) -> None:
    decoder = load_decoder(both[0], kind="lean")
    draft = open_dflash(both[1], "some", decoder)
    trunk = Trunk(decoder, 64)
    for depth in {*draft.joined, decoder.layers}:
        trunk.mark(depth)
    run, ids = DFlashRun(draft, [trunk], 64, "dflash"), [5, 50, 300, 17, 44, 44, 8]
    trunk.run(ids, decoder.layers, 4)
    assert [len(run.predict(Context(ids[:n]), 9)[0]) for n in (5, 7)] == [4, 2]
    assert not len(run.predict(Context([*ids, 1, 2]), 9)[0]), "a whole block has been written since"


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> LeanStacks:
    made = LeanStacks(layers=4, vocab=4, seed=5)
    folder, _ = written(tmp_path_factory.mktemp("dflash") / "drafter", vocab=4, width=32)
    made.drafts = {"dflash": DFlashLevel(made.target, open_dflash(folder, "some", made.target))}
    return made


@pytest.mark.covering("text")
@pytest.mark.parametrize(
    "text",
    ["dflash:2,target@rule=block", "dflash:2,int8:2,target", "dflash:1,exit:2@at=2,target", "dflash:2@tree=2.1,target"],
)
def test_whole_runs_follow_the_targets_distribution(stacks: LeanStacks, text: str) -> None:
    found = run_distribution(stacks.stack(text), [1, 0], 2, sampling=SAMPLED)
    assert distance(found, model_distribution(stacks.target, [1, 0], 2)) < 1e-5


@pytest.mark.parametrize("stack", ["dflash:9{},target", "dflash@tree=2.2{},int8:4,target", "dflash:4@grow=6{},target"])
def test_greedy_text_is_the_targets(both: tuple[Path, Path, Any], stack: str) -> None:
    stack = stack.format(f"@id={both[1]}")
    pipeline = Pipeline.open(target_preset(str(both[0])), stack=stack)
    runs = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in ("target", stack))
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in runs]
    assert ids[0] == ids[1]


def test_a_target_that_runs_whole_gives_its_states(tmp_path: Path) -> None:
    target = families.save(tmp_path / "target", "gpt-oss")
    drafter, _ = written(tmp_path / "drafter", vocab=families.VOCABULARY, width=64)
    stack = f"dflash@tree=2.2@id={drafter},target"
    pipeline = Pipeline.open(target_preset(str(target)), stack=stack)
    runs = ([*pipeline.run(one, "Levels above", max_new_tokens=12, temperature=0.0)] for one in ("target", stack))
    ids = [[token.id for event in run if event.event == "commit" for token in event.tokens] for run in runs]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"architectures": ["Qwen3ForCausalLM"]}, "not of a DFlash drafter"),
        ({"dflash_config": {"mask_token_id": 3}}, "its config lacks 'target_layer_ids'"),
        ({"dflash_config": {"attention_modes": ["kda", "gqa"]}}, "a variant of DFlash with another attention"),
        ({"vocab_size": 9}, "is for another model: a vocabulary of 9, and this target has 61"),
        ({"dflash_config": {"mask_token_id": 3, "target_layer_ids": [8]}}, "states up to a layer of 9"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, more: dict[str, Any], why: str) -> None:
    written(tmp_path, vocab=61, width=32, **more)
    with pytest.raises(DraftError, match=why):
        open_dflash(tmp_path, "some", LeanStacks(layers=4).target)
