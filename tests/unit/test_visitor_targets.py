"""Targets that an operator names: listed with what speaks against them, run by their names, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime")

from families import save
from profiles import flat
from toys import output_of

from app.serve import offer as offers
from app.serve.loader import Loader
from app.serve.offer import Looks, OfferError, ServerOffer, meant
from app.serve.settings import RequestError, check, parse
from app.tabs.planner.price import Prices, profile_for
from app.tabs.planner.price import parse as priced
from app.tabs.planner.profiles.sources import measured_here
from app.tabs.race.race_request import asked_for
from hsd_core.models.weights import Source, WeightsError
from hsd_core.models.weights.hub import HubLookup
from hsd_core.pipeline import Pipeline
from hsd_core.stacks.targets import preset_option, unread_preset
from hsd_core.theory.profiles.profile_store import store_profile

REPOSITORY = Path(__file__).parents[2]
HUB = "someone/large"
PROMPT = "The small level drafts"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`big` and `gpt` for an operator to name; the folder `models` with `small` and `bare`, which has no tokenizer."""
    root = tmp_path_factory.mktemp("targets")
    save(root / "big", "qwen3")
    save(root / "gpt", "gpt2")
    save(root / "models/small", "llama-tied", seed=3, layers=2)
    save(root / "models/bare", "mistral")
    (root / "models/bare/tokenizer.json").unlink()
    return root


@pytest.fixture
def offer(root: Path) -> ServerOffer:
    named = f"{root / 'big'},{root / 'gpt'},{HUB}"
    made = ServerOffer.of("", str(root / "models"), Pipeline.catalogue(), targets=named)
    return replace(made, looks=Looks(lambda source: HubLookup(bytes=16_400_000_000)))


def listed(offer: ServerOffer) -> dict[str, dict[str, Any]]:
    """The targets' entries when all is known."""
    for _ in range(200):
        entries = {entry["name"]: entry for entry in offer.catalogue(Pipeline.catalogue()) if entry.get("target")}
        if not offer.looks.busy:
            return entries
        time.sleep(0.05)
    raise AssertionError("still looking")


def asked(**changes: Any) -> Any:
    return parse(
        {"run": "a" * 32, "prompt": PROMPT, "stack": "target", "preset": "big", "max_new_tokens": 12, **changes}
    )


def test_targets_are_listed_with_what_can_be_built_over_them(offer: ServerOffer, root: Path) -> None:
    entries = listed(offer)
    entries = listed(offer)  # what was found out meanwhile stands in the next answer
    assert list(entries) == ["big", "gpt", HUB, "small", "bare"]
    big, gpt = entries["big"], entries["gpt"]
    assert big["usable"] and [one["name"] for one in big["stacks"]] == ["lookup", "copy", "exits", "plain"]
    levels = {level["name"]: level for level in gpt["levels"]}
    assert not levels["exit"]["usable"] and "through transformers" in levels["exit"]["reason"]
    assert entries[HUB]["download_mb"] == 16_400 and "from the Hugging Face Hub" in entries[HUB]["reason"]
    assert (
        not entries["bare"]["usable"] and "no tokenizer.json lies in this folder; save it" in entries["bare"]["reason"]
    )
    assert str(root) not in json.dumps(list(entries.values())), "no folder of the server"
    assert [level["params"] for level in big["levels"] if level["name"] == "model"][1:] == [
        {"id": "bare"},
        {"id": "small"},
    ]


def test_a_target_runs_by_its_name_as_a_preset_and_in_a_stack(offer: ServerOffer) -> None:
    catalogue = offer.catalogue(Pipeline.catalogue())
    loader, texts = Loader(Pipeline, opening=offer.opening), list[list[int]]()
    stacks = [
        ("big", "target"),
        ("smollm2", "ngram:3,exit:2@at=1@id=lens,target@id=big"),
        ("big", "model:3@id=small,target"),
    ]
    for preset, stack in stacks:
        run = meant(asked(preset=preset, stack=stack), catalogue)
        check(run, catalogue)
        assert run.preset == "big" and "target@id" not in run.stack
        with loader.awaited(run.preset, None) as opening:
            events = list(run.start(opening.done.result(60)))
        assert events[0].preset == "big"
        texts.append(output_of(events))
    assert len(texts[0]) > 2 and texts[1] == texts[2] == texts[0]


def test_a_target_that_is_not_offered_is_refused_in_one_sentence(offer: ServerOffer, root: Path) -> None:
    catalogue = offer.catalogue(Pipeline.catalogue())
    for name in ("other/model", str(root / "big"), "../big"):
        with pytest.raises(RequestError, match=r"is not offered by this server \(targets here: big, gpt, .*small"):
            meant(asked(preset="smollm2", stack=f"ngram:3,target@id={name}"), catalogue)
        with pytest.raises(RequestError, match="there is no preset"):
            check(asked(preset=name), catalogue)
    with pytest.raises(RequestError, match="bare cannot be used: no tokenizer"):
        check(meant(asked(stack="target@id=bare"), catalogue), catalogue)
    with pytest.raises(RequestError, match="a race is over one target, and these stacks name big and gpt"):
        asked_for({**asked_data(), "stacks": ["target", "ngram:2,target@id=gpt"]}, catalogue)
    assert asked_for({**asked_data(), "stacks": ["target", "ngram:2,target@id=big"]}, catalogue).preset == "big"


def asked_data() -> dict[str, Any]:
    return {"run": "a" * 32, "prompt": PROMPT, "preset": "big"}


def test_what_the_hub_says_against_a_model_is_its_reason_and_is_asked_again(
    offer: ServerOffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([HubLookup(wrong=f"{HUB} is a gated model: accept its licence"), HubLookup(bytes=1_000_000)])
    gated = replace(offer, looks=Looks(lambda source: next(told)))
    assert gated.catalogue([])[0]["usable"]
    listed(gated)
    entry = listed(gated)[HUB]
    assert not entry["usable"] and "accept its licence" in entry["reason"]
    monkeypatch.setattr("app.serve.offer.AGAIN_S", -1.0)
    once_more = replace(offer, looks=Looks(lambda source: HubLookup(wrong="the Hub does not answer")))
    for _ in range(3):
        assert listed(once_more)


def test_a_target_that_no_memory_here_holds_says_what_would_fit(
    offer: ServerOffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offers, "memory_gb_here", lambda: 0.0004)
    entry = listed(offer)["big"]
    assert not entry["usable"]
    assert "its weights take 1 MB of memory in float32" in entry["reason"] and "take --dtype int8" in entry["reason"]
    assert listed(replace(offer, dtype="int8"))["big"]["usable"]


def test_a_draft_of_another_tokenizer_says_so_before_anything_is_loaded(offer: ServerOffer, root: Path) -> None:
    path = root / "models/small/tokenizer.json"
    kept = path.read_text(encoding="utf-8")
    spec = json.loads(kept)
    vocabulary = spec["model"]["vocab"]
    vocabulary["q"], vocabulary["x"] = vocabulary["x"], vocabulary["q"]
    try:
        path.write_text(json.dumps(spec), encoding="utf-8")
        listed(offer)
        small = next(one for one in listed(offer)["big"]["levels"] if one["params"].get("id") == "small")
        assert not small["usable"] and "tokenizer differs from the target's" in small["reason"]
    finally:
        path.write_text(kept, encoding="utf-8")


def test_a_target_has_no_price_before_it_is_calibrated_and_says_how(offer: ServerOffer, root: Path) -> None:
    asks = {"preset": "big", "stacks": ["target"]}
    answer = Prices(root).answer(priced(asks, offer.source))
    assert answer["about"] is None and "calibrate --target FOLDER measures one" in answer["prices"][0]["reason"]
    with pytest.raises(ValueError, match="no preset 'big'"):
        priced(asks)
    assert priced({**asks, "preset": "toy"}, dtype="int8").dtype == "int8", "profiles are those of the server's dtype"
    assert preset_option(HUB) == f"--target {HUB}" and preset_option("smollm2") == "--preset smollm2"


def test_the_planner_takes_the_profile_of_a_target_in_the_dtype_that_the_operator_chose(
    offer: ServerOffer, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HSD_CACHE", str(tmp_path))
    known = flat((1.0, 4.0), 0.5)
    store_profile(known, unread_preset(str(root / "big")), "cpu", "int8")
    asks = {"preset": "big", "stacks": ["target"]}
    assert profile_for(priced(asks, offer.source), root) is None
    found = profile_for(priced(asks, offer.source, "int8"), root)
    assert found is not None and found[0].acceptance == known.acceptance
    assert not measured_here(offer)
    (source,) = measured_here(replace(offer, dtype="int8"))
    assert source["id"] == "measured:big" and source["preset"] == "big"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"targets": "nope"}, "--targets: 'nope' is not a folder"),
        ({"dtype": "float7"}, "--dtype is 'float7'; use one of float32"),
        ({"device": "cuda:9"}, "--device: device 'cuda:9' is not here; devices are cpu"),
    ],
)
def test_what_an_operator_gets_wrong_is_refused_at_start(options: dict[str, str], said: str) -> None:
    with pytest.raises(OfferError, match=said):
        ServerOffer.of("", "", [], **options)


def test_two_targets_of_one_name_are_refused(root: Path) -> None:
    other = root / "elsewhere" / "big"
    other.mkdir(parents=True, exist_ok=True)
    with pytest.raises(OfferError, match="two targets are called 'big'; rename"):
        ServerOffer.of("", "", [], targets=f"{root / 'big'},{other}")


def test_dtype_and_device_reach_what_is_opened(offer: ServerOffer) -> None:
    run = ServerOffer.of("", "", Pipeline.catalogue(), targets="", device="cpu", dtype="int8")
    assert run.opening("smollm2") == ("smollm2", {"dtype": "int8"})
    assert run.opening("toy") == ("toy", {}), "tables have no dtype"
    devices = {one["name"]: one for one in run.catalogue(Pipeline.catalogue())[0]["devices"]}
    assert devices["cpu"]["usable"] and devices["cuda"]["reason"] == "this server runs on cpu alone"
    over, more = replace(offer, dtype="int4").opening("big")
    pipeline = Pipeline.open(over, device="cpu", **more)
    assert pipeline.dtype == "int4" and pipeline.entries("target")[0].level.decoder.dtype == "int4"  # type: ignore[attr-defined]
    with pytest.raises(WeightsError):
        Source.parse("big")


@pytest.mark.everything
def test_listing_targets_and_models_imports_nothing_that_runs_models(root: Path) -> None:
    code = (
        "import sys; from app.page import build; from app.serve.offer import ServerOffer; "
        "from hsd_core.pipeline import Pipeline; "
        f"offer = ServerOffer.of('', {str(root / 'models')!r}, Pipeline.catalogue(), targets={str(root / 'big')!r}); "
        "build(Pipeline, offer=offer); named = [e for e in offer.catalogue(Pipeline.catalogue()) if e.get('target')]; "
        "assert len(named) == 3 and any(e['usable'] for e in named), named; "
        "print(*({'torch', 'transformers', 'onnxruntime'} & sys.modules.keys()))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert ended.stdout.strip() == ""
