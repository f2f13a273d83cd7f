"""What visitors may load: usable presets and levels on devices that are here, the operator's lists, few at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.serve.loader import OPEN, Loader
from app.serve.offer import OfferError, ServerOffer
from app.serve.settings import RequestError, check, parse
from hsd_core.models import machine
from hsd_core.models.local import local_models, local_source
from hsd_core.pipeline import Pipeline


def asked(**changes: Any) -> Any:
    return parse({"run": "a" * 32, "prompt": "x", "stack": "target", "preset": "smollm2", **changes})


def catalogue(**changes: Any) -> list[dict[str, Any]]:
    return [{**p, **changes} if p["name"] == "qwen2.5-hub" else p for p in Pipeline.catalogue()]


def test_a_preset_that_is_marked_unusable_is_refused_with_its_reason() -> None:
    listed = catalogue(usable=False, reason="needs 24 GB of memory")
    with pytest.raises(RequestError, match=r"qwen2.5-hub cannot be used: needs 24 GB"):
        check(asked(preset="qwen2.5-hub"), listed)
    with pytest.raises(RequestError, match=r"there is no preset 'other'; the presets are .*smollm2"):
        check(asked(preset="other"), listed)
    check(asked(), listed)


def test_a_level_that_is_marked_unusable_is_refused_within_a_usable_preset() -> None:
    with pytest.raises(RequestError, match="the level model cannot be used: no smaller model"):
        check(asked(stack="ngram:2,model:4,target"), catalogue())


@pytest.mark.parametrize("device", ["cpu:0", "cpu:1", "cuda:7", "mps", "../cpu"])
def test_only_devices_that_are_here_are_loaded_on(device: str) -> None:
    for wrong in (asked(device=device), asked(stack=f"int8:4,target@ device = {device}")):
        with pytest.raises(RequestError, match="is not here; devices are cpu"):
            check(wrong, catalogue())
    check(asked(device="cpu", stack="int8:4@device=cpu,target"), catalogue())


def test_a_device_has_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "devices", lambda: ("cpu", "cuda", "cuda:1"))
    assert [machine.device_name(name) for name in (None, "cuda", "cuda:0", "cuda:1", "cpu")] == [
        "cuda",
        "cuda",
        "cuda",
        "cuda:1",
        "cpu",
    ]


class Bench:
    """Counts what is opened."""

    opened: list[tuple[str, str]]

    def __init__(self) -> None:
        self.opened = []

    def open(self, preset: str, *, device: str, progress: Any, **_: Any) -> object:
        self.opened.append((preset, device))
        return object()


def test_few_presets_stay_open_and_one_device_is_opened_once() -> None:
    pipeline = Bench()
    loader = Loader(pipeline)
    for preset in ("a", "b", "a", "c", "a", "b"):
        for device in (None, "cpu"):
            with loader.awaited(preset, device) as opening:
                opening.done.result(10)
    assert OPEN == 2
    assert pipeline.opened == [("a", "cpu"), ("b", "cpu"), ("c", "cpu"), ("b", "cpu")], "the least recently used went"


def test_an_operator_s_list_shows_the_others_with_the_reason() -> None:
    offer = ServerOffer.of("toy, smollm2", "", Pipeline.catalogue())
    listed = {p["name"]: p for p in offer.catalogue(Pipeline.catalogue())}
    assert [p["usable"] for p in listed.values()][:2] == [True, True]
    assert listed["qwen2.5-hub"]["reason"] == "this server offers toy, smollm2"
    with pytest.raises(RequestError, match="this server offers"):
        check(asked(preset="qwen2.5-hub"), list(listed.values()))
    with pytest.raises(OfferError, match="no preset 'smolm'; the presets are"):
        ServerOffer.of("smolm", "", Pipeline.catalogue())
    with pytest.raises(OfferError, match="is not a folder"):
        ServerOffer.of("", "/no/such/place", Pipeline.catalogue())


def test_models_of_the_operator_s_folder_may_be_named_and_nothing_else(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "models"
    for place in (outside, folder / "good", folder / "bare", folder / "odd,name"):
        place.mkdir(parents=True)
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            (place / name).touch()
    (folder / "bare" / "model.safetensors").unlink()
    (folder / "link").symlink_to(outside)
    (folder / "tiny.gguf").touch()
    listed = ServerOffer.of("", str(folder), Pipeline.catalogue()).catalogue(Pipeline.catalogue())
    for name in ("good", "tiny.gguf"):
        check(asked(stack=f"model:4@id={name},target"), listed)
        assert local_source(name, folder) is not None
    with pytest.raises(RequestError, match="bare cannot be used: no safetensors"):
        check(asked(stack="model:4@id=bare,target"), listed)
    for name in ("link", "../outside", str(outside), str(folder / "good"), "good/../../outside", "Owner/name"):
        with pytest.raises(RequestError, match="command line"):
            check(asked(stack=f"model:4@id={name},target"), listed)
        assert local_source(name, folder) is None
    assert [m.name for m in local_models(folder)] == ["bare", "good", "tiny.gguf"]
    assert local_source("good", None) is None


def test_a_drafter_of_the_operator_s_folder_is_a_level_of_its_kind_and_no_target(tmp_path: Path) -> None:
    for name, weights in (("drafter", "model.safetensors"), ("pickled", "pytorch_model.bin")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text('{"architectures": ["LlamaForCausalLMEagle3"]}', encoding="utf-8")
        (tmp_path / name / weights).touch()
    listed = ServerOffer.of("", str(tmp_path), Pipeline.catalogue()).catalogue(Pipeline.catalogue())
    check(asked(stack="eagle3:4@id=drafter,target"), listed)
    with pytest.raises(RequestError, match="pickled cannot be used: no safetensors"):
        check(asked(stack="eagle3:4@id=pickled,target"), listed)
    with pytest.raises(RequestError):
        check(asked(stack="model:4@id=drafter,target"), listed)
    assert not {"drafter", "pickled"} & {preset["name"] for preset in listed}
