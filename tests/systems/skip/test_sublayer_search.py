"""The search for sublayers to leave out: what it reads is what a draft would choose, it is greedy, and it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tiny import tiny

from hsd_core.cli import main
from hsd_core.models.lean.decoder import LeanDecoder
from hsd_core.models.lean.sublayers import ATTENTION, MLP, NONE, Sublayers
from hsd_core.models.one_pass import Pass
from hsd_core.systems.skip.agreement import SublayerAgreement
from hsd_core.systems.skip.bayes import beside, compared
from hsd_core.systems.skip.search import ResumeFile, Weights, answer, priced, reads_of, search, without_first, worth
from hsd_core.systems.skip.sublayer_sets import read_set
from hsd_core.theory import ProfileLevel
from hsd_core.theory.profiles.costs import Costs

DECODERS = {kind: tiny(kind, layers=4, vocab=17) for kind in ("llama", "gemma3_text")}  # the other one has windows
TEXTS = [([5, 3, 16, 2, 9, 9, 1, 0, 4, 11], 4), ([7, 7, 2, 14, 8, 10], 2)]
OUT = Sublayers.of([(ATTENTION, 1), (MLP, 2)])


def first_of_a_draft(decoder: LeanDecoder, ids: list[int], at: int, without: Sublayers) -> int:
    """What a draft chooses behind the target's own keys and values of all that precedes."""
    with torch.inference_mode():
        cache = decoder.new_cache(len(ids))
        if at:
            decoder.forward_layers(Pass(ids[:at]), cache, 0, decoder.layers)
        return int(decoder.head(decoder.leaving_out(cache, without)(Pass([ids[at]], at))).argmax())


@pytest.mark.parametrize(("kind", "every"), [("llama", 1), ("llama", 3), ("gemma3_text", 1)])
def test_every_token_is_read_as_the_first_of_a_draft(kind: str, every: int) -> None:
    decoder = DECODERS[kind]
    agrees = SublayerAgreement(decoder, TEXTS, every)
    places = [(ids, at) for ids, start in TEXTS for at in range(start - 1, len(ids) - 1, every)]
    assert agrees.places == len(places)
    assert agrees.begin(NONE) == 1.0, "with nothing left out it is the target"

    def share(without: Sublayers) -> float:
        same = [
            first_of_a_draft(decoder, ids, at, without) == first_of_a_draft(decoder, ids, at, NONE)
            for ids, at in places
        ]
        return sum(same) / len(same)

    assert agrees.begin(OUT) == pytest.approx(share(OUT)) and share(OUT) < 1.0
    for kind, layer in agrees.sublayers():
        more = Sublayers.of([*OUT.named(), (kind, layer)])
        assert agrees.also_without(kind, layer) == pytest.approx(share(more)), (kind, layer)


class Scripted:
    """Agreement is a sum of what each sublayer is worth; how often it was read is counted."""

    def __init__(self, worth: dict[tuple[str, int], float]) -> None:
        self.worth, self.read, self.without = worth, 0, NONE

    def sublayers(self):
        return iter(self.worth)

    def begin(self, without: Sublayers) -> float:
        self.without = without
        return 1.0 - sum(self.worth[one] for one in without.named())

    def also_without(self, kind: str, layer: int) -> float:
        self.read += 1
        return 1.0 - sum(self.worth[one] for one in self.without.named()) - self.worth[kind, layer]


WORTH = {(ATTENTION, 0): 0.05, (MLP, 0): 0.06, (ATTENTION, 1): 0.01, (MLP, 1): 0.5}
BYTES = Weights(attention=10, mlp=30, whole=100)


def test_each_step_leaves_out_what_costs_least_agreement_per_weight() -> None:
    found = search(Scripted(WORTH), BYTES, 3, ResumeFile(None, {}))
    assert [(s["kind"], s["layer"]) for s in found["path"]] == [(ATTENTION, 1), (MLP, 0), (ATTENTION, 0)]
    assert [s["agree"] for s in found["path"]] == pytest.approx([0.99, 0.93, 0.88])
    assert [s["left"] for s in found["path"]] == pytest.approx([0.9, 0.6, 0.5])
    assert {(a["kind"], a["layer"]): a["agree"] for a in found["alone"]} == pytest.approx(
        {one: 1.0 - lost for one, lost in WORTH.items()}
    )
    assert without_first(found["path"], 2) == Sublayers.of([(ATTENTION, 1), (MLP, 0)])


def test_a_search_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    whole, part = Scripted(WORTH), tmp_path / "ladder.part"
    expected = search(whole, BYTES, 3, ResumeFile(None, {}))

    def interrupts(said: str) -> None:
        if said == "step 2":
            raise KeyboardInterrupt

    first, second = Scripted(WORTH), Scripted(WORTH)
    with pytest.raises(KeyboardInterrupt):
        search(first, BYTES, 3, ResumeFile(part, {"of": "these"}), interrupts)
    assert search(second, BYTES, 3, ResumeFile(part, {"of": "these"})) == expected
    assert first.read + second.read == whole.read == 4 + 3 + 2
    with pytest.raises(ValueError, match="holds another search; name another --out"):
        ResumeFile(part, {"of": "others"})
    part.write_text("{}\nno line", "utf-8")
    with pytest.raises(ValueError, match="cannot be gone on from"):
        ResumeFile(part, {})


class Baited(Scripted):
    """Greedy steps go astray: the sublayer that costs least alone makes all others dear."""

    def begin(self, without: Sublayers) -> float:
        self.read, self.without = self.read + 1, without
        lost = {one: cost for one, cost in self.worth.items() if one in set(without.named())}
        return 1.0 - sum(lost.values()) - 0.04 * (len(lost) - 1) * ((MLP, 5) in lost)

    def also_without(self, kind: str, layer: int) -> float:
        was = self.without
        agree = self.begin(Sublayers.of([*was.named(), (kind, layer)]))
        self.without = was
        return agree


def test_a_bayesian_search_finds_what_greedy_steps_cannot_with_as_many_reads(tmp_path: Path) -> None:
    every = [(kind, layer) for layer in range(10) for kind in (ATTENTION, MLP)]
    costs = {one: 0.02 + 0.003 * place for place, one in enumerate(every)} | {(MLP, 5): 0.001}
    greedy, bayes, kept = Baited(costs), Baited(costs), ResumeFile(tmp_path / "part", {})
    path = search(greedy, Weights(10, 10, 400), 5, ResumeFile(None, {}))["path"]
    found = beside(bayes, Weights(10, 10, 400), path, 5, kept)
    assert greedy.read - 5 == reads_of(20, 5) == found["reads"] >= bayes.read
    assert found["left"] <= path[-1]["left"] and found["agree"] > found["greedy"] + 0.03
    assert found["agree"] == pytest.approx(1.0 - sum(sorted(costs.values())[1:6])), "of all sets the best"
    assert compared(found).endswith("by Bayesian search; the latter won.")
    again = Baited(costs)
    assert beside(again, Weights(10, 10, 400), path, 5, ResumeFile(tmp_path / "part", {})) == found and not again.read


def test_a_draft_has_to_be_right_more_often_than_it_is_cheap() -> None:
    target = ProfileLevel("target", Costs((1, 16), (10.0, 12.0)))
    assert worth(target, 0.9, 0.95)[0] < 1.0 < worth(target, 0.9, 0.2)[0]
    steps = [{"kind": ATTENTION, "layer": 1, "agree": 0.9, "left": 0.95}]
    assert answer(priced(target, steps)).startswith("Skip nothing: ")
    assert answer(priced(target, [{**steps[0], "left": 0.2}])).startswith("Skip 1: ")


@pytest.mark.everything
@pytest.mark.weights
def test_the_command_writes_a_ladder_and_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ladder.json"
    asked = ["sets", "--preset", "smollm2", "--prompts", "assets/prompts/own.jsonl", "--limit", "1", "--steps", "1"]
    asked += ["--bayes", "1"]
    assert main([*asked, "--max-new-tokens", "4", "--every", "2", "--out", str(out)]) == 0
    ladder = json.loads(out.read_text("utf-8"))
    assert len(ladder["alone"]) == 60 and len(ladder["path"]) == 1 and ladder["answer"].startswith("Skip ")
    assert not out.with_name("ladder.json.part").exists() and ladder["answer"] in capsys.readouterr().out
    found = read_set(tmp_path / "smollm2-skip1.json")
    assert (found.preset, found.layers, found.count) == ("smollm2", 30, 1)
    assert ladder["bayes"][0]["reads"] == 60 and "by Bayesian search" in ladder["answer"]
    assert main([*asked, "--bayes", "2", "--out", str(out)]) == 2
    assert main([*asked, "--steps", "61", "--out", str(out)]) == 2
    assert "the target has 60 sublayers" in capsys.readouterr().err
