"""A pair of models is judged: do their tokenizers fit, what is accepted, what passes cost, and would it pay."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from families import TEXTS, save
from tokenizers import Tokenizer as FastTokenizer
from toys import output_of

from hsd_core import cli
from hsd_core.core.events import Verify
from hsd_core.doctor.draft_profile import Share
from hsd_core.measure.pair import MOST, PairCosts, acceptance_of, by_size, fit_of, read_pair, rounds_over, verdict_of
from hsd_core.models.tokenizer import Tokenizer
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import target_preset

PROMPT = "The small level drafts a few tokens"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A target, and as drafts its first layers, another model, and one with another tokenizer."""
    where = tmp_path_factory.mktemp("pair")
    made = {name: save(where / name, "llama-tied", seed=seed) for name, seed in (("target", 0), ("other", 7))}
    save(where / "foreign", "llama-tied")
    change(where / "foreign", "draft", "drafu")
    # a draft that is close: the target with a little noise
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(made["target"])
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.add_(torch.randn_like(weight) * 0.012)
    model.save_pretrained(where / "close")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (where / "close" / name).write_bytes((where / "target" / name).read_bytes())
    return {**made, "foreign": where / "foreign", "close": where / "close"}


def change(folder: Path, token: str, other: str) -> None:
    """Write one token of a tokenizer otherwise."""
    path = folder / "tokenizer.json"
    spec = json.loads(path.read_text())
    vocabulary = spec["model"]["vocab"]
    old = next((known for known in vocabulary if token in known), None) or max(vocabulary, key=vocabulary.get)
    vocabulary[other] = vocabulary.pop(old)
    spec["model"]["merges"] = [merge for merge in spec["model"]["merges"] if old not in "".join(merge)]
    path.write_text(json.dumps(spec))
    FastTokenizer.from_file(str(path))


def test_tokenizers_that_are_the_same_fit(folders: dict[str, Path]) -> None:
    fit = fit_of(Tokenizer(folders["other"]), Tokenizer(folders["target"]))
    assert fit.fits and not fit.differences and fit.same_ids == fit.target_ids
    assert fit.sentence() == f"The tokenizers are the same ({fit.target_ids} ids)."


def test_what_differs_is_said_in_words_with_the_way_out(folders: dict[str, Path]) -> None:
    fit = fit_of(Tokenizer(folders["foreign"]), Tokenizer(folders["target"]))
    assert not fit.fits
    said = fit.sentence()
    assert f"1 of the draft's {fit.draft_ids} tokens are not the target's, such as 'drafu'" in said
    merges = (Tokenizer(folders[name]).merges for name in ("foreign", "target"))
    first = next(n for n, (a, b) in enumerate(zip(*merges, strict=False), 1) if a != b)
    assert f"the merges differ from number {first} on" in said and "the level `cross`" in said


def test_special_tokens_that_no_text_gives_do_not_matter(folders: dict[str, Path], tmp_path: Path) -> None:
    spec = json.loads((folders["target"] / "tokenizer.json").read_text())
    spec["added_tokens"][0]["content"] = "<unused>"
    spec["model"]["vocab"] = {
        "<unused>" if token == "<pad>" else token: i for token, i in spec["model"]["vocab"].items()
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec))
    fit = fit_of(Tokenizer(tmp_path), Tokenizer(folders["target"]))
    assert fit.fits and "1 special token differs" in fit.sentence()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rounds_over_a_text_are_those_of_all_outcomes(k: int) -> None:
    """Every way in which each token is accepted or not, weighed; rounds are followed token by token."""
    accepts = np.array([0.9, 0.2, 0.6, 0.5, 0.8])
    kept, tried = np.zeros(k), np.zeros(k)
    for outcome in product((0, 1), repeat=len(accepts)):
        chance = float(np.prod([a if yes else 1 - a for a, yes in zip(accepts, outcome, strict=True)]))
        at = 0
        while at < len(outcome):
            for i in range(k):
                if at + i >= len(outcome):
                    break
                tried[i] += chance
                if not outcome[at + i]:
                    break
                kept[i] += chance
            else:
                i = k
            at += i + 1
    assert rounds_over(accepts, k) == (pytest.approx(kept), pytest.approx(tried))


def test_over_its_own_text_a_target_accepts_as_in_a_run(folders: dict[str, Path]) -> None:
    pipeline = Pipeline.open(target_preset(str(folders["target"]), str(folders["close"])), stack="model:3,target")
    events = list(pipeline.run("model:3,target", PROMPT, max_new_tokens=60, raw=True))
    output = output_of(events)
    entries = pipeline.entries("model:3,target")
    greedy, sampled = read_pair(entries, pipeline.encode(PROMPT, raw=True), output)
    assert len(greedy) == len(sampled) == len(output) and set(greedy) <= {0.0, 1.0} and 0 <= min(sampled) <= 1
    verified = [event for event in events if isinstance(event, Verify)]
    in_run = [sum(check.outcome == "accepted" for check in event.checks) for event in verified]
    followed, at = [], 0
    while at < len(output):
        run = next((i for i in range(3) if at + i >= len(output) or not greedy[at + i]), 3)
        followed.append(run)
        at += run + 1
    assert followed[:-1] == in_run[: len(followed) - 1] and len(set(in_run)) > 1
    kept, tried = rounds_over(greedy, 3)
    assert tried[0] == len(followed) and abs(kept.sum() - sum(in_run)) <= 3


def test_the_overlap_is_the_sum_of_the_smaller_probabilities(folders: dict[str, Path]) -> None:
    import transformers

    pipeline = Pipeline.open(target_preset(str(folders["target"]), str(folders["close"])), stack="model:3,target")
    ids = pipeline.encode(" ".join(TEXTS), raw=True)[:24]
    greedy, sampled = read_pair(pipeline.entries("model:3,target"), ids[:4], ids[4:])
    rows = []
    for name in ("target", "close"):
        model = transformers.AutoModelForCausalLM.from_pretrained(folders[name]).eval()
        with torch.no_grad():
            rows.append(model(torch.tensor([ids])).logits[0, 3:-1].double().softmax(-1))
    assert sampled == pytest.approx(torch.minimum(*rows).sum(-1).numpy(), abs=1e-3)
    assert greedy == pytest.approx((rows[0].argmax(-1) == rows[1].argmax(-1)).double().numpy())


def test_shares_have_intervals_over_texts_and_rare_positions_are_left_out() -> None:
    read = [(np.ones(100), np.full(100, 0.5)), (np.zeros(100), np.full(100, 0.7))]
    found = acceptance_of(read, 8)
    assert found.greedy_each.value == 0.5 and found.greedy_each.low == 0.0 and found.greedy_each.high == 1.0
    assert 0.5 < found.sampled[0].value < 0.6  # the text that accepts less has more rounds
    assert len(found.sampled) < 8 and (found.texts, found.tokens) == (2, 200)


def test_at_the_break_even_acceptance_nothing_is_gained() -> None:
    costs = PairCosts(2.0, tuple(10.0 + 0.5 * rows for rows in range(MOST + 1)), measured=True)
    verdict = verdict_of([Share(0.7)], costs)
    for k, needed in enumerate(verdict.break_even_acceptance, 1):
        if needed <= 1:
            assert verdict_of([Share(needed)], costs).lengths[k - 1].speed_up == pytest.approx(1.0, abs=1e-6)
    tokens = [sum(0.7**i for i in range(k + 1)) for k in range(MOST + 1)]
    times = [10.0, *(2.0 * k + 10.0 + 0.5 * k for k in range(1, MOST + 1))]
    speed = [10.0 * tokens[k] / times[k] for k in range(MOST + 1)]
    assert [length.speed_up for length in verdict.lengths] == pytest.approx(speed[1:])
    assert verdict.best.k == int(np.argmax(speed))


def test_the_verdict_says_yes_no_or_that_it_is_open() -> None:
    good = verdict_of([Share(0.9, 0.88, 0.92, trials=4000)], by_size(1, 20))
    assert good.sentence(by_size(1, 20), "x").startswith("Worth a test: drafts of 8")
    open_ = verdict_of([Share(0.55, 0.2, 0.9, trials=8)], by_size(2, 5))
    assert open_.sentence(by_size(2, 5), "x").startswith("Open: ")
    dear = PairCosts(9.0, (10.0,) * (MOST + 1), measured=True)
    bad = verdict_of([Share(0.6, 0.5, 0.7, trials=100)], dear)
    assert bad.best.k == 0 and bad.sentence(dear, "x").startswith("Do not use it: at its best length, 1")
    never = PairCosts(11.0, (10.0,) * (MOST + 1), measured=True)
    assert "more than every token accepted" in verdict_of([Share(0.99)], never).sentence(never, "x")


def run(capsys: pytest.CaptureFixture[str], *given: object) -> tuple[int, str, str]:
    code = cli.main(["pair", *map(str, given)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_pair_is_judged_over_texts_of_one_s_own(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_bytes("\r\n\r\n".join(TEXTS).encode())
    found = {}
    for draft in ("target", "close", "other"):
        code, out, _ = run(capsys, folders[draft], folders["target"], "--texts", texts, "--by-size", "--json")
        assert code == 0
        found[draft] = json.loads(out)
    assert found["target"]["acceptance"] == {"greedy": 1.0, "sampled": pytest.approx(1.0)}
    assert 1 > found["close"]["acceptance"]["sampled"] > found["other"]["acceptance"]["sampled"] > 0
    assert found["close"]["texts"]["texts"] == len(TEXTS) and not found["close"]["costs"]["measured"]
    assert [one["k"] for one in found["close"]["lengths"]] == list(range(1, 9))
    # as large as the target, memory being the limit: no acceptance makes it pay
    assert found["target"]["best"]["k"] == 0 and found["target"]["lengths"][0]["pays_from_acceptance"] == 1.0


def test_passes_are_measured_and_a_copy_in_fewer_bits_is_a_draft(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, folders["target"], folders["target"], "--draft-dtype", "int8", "--limit", 3)
    assert code == 0, err
    assert "ms a drafted token" in out and "| 8 |" in out and "in int8" in out and "By size" in out


def test_a_pair_that_does_not_fit_is_told_before_anything_runs(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, folders["foreign"], folders["target"], "--json")
    found = json.loads(out)
    assert code == 0 and not found["fits"] and "tokenised again" in found["verdict"] and "lengths" not in found


@pytest.mark.parametrize(("text", "said"), [("too short", "give longer ones"), ("", "give longer ones")])
def test_texts_that_are_too_short_are_refused(
    folders: dict[str, Path], text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.txt").write_text(text)
    code, _, err = run(capsys, folders["close"], folders["target"], "--texts", tmp_path / "t.txt", "--by-size")
    assert code == 2 and said in err


def test_a_model_that_is_none_is_refused_in_one_line(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "no such model", folders["target"])
    assert code == 2 and "is not a folder, a .gguf file or a hub id" in err and len(err.splitlines()) == 1
