"""What a builder keeps open: a bounded number of models, the least used let go, never one of the stack in hand."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from tiny import tiny

from hsd_core.grammar.stack_text import LevelSpec, StackError, parse
from hsd_core.stacks import builder as building
from hsd_core.stacks.builder import MOST_DECODERS, MOST_LEVELS, Builder, LevelPool
from hsd_core.stacks.presets import PRESETS
from tests.pretend_gpu import pretend_gpu


class Model:
    """Stands for a decoder, and for a level that reads one."""


class Opener:
    """Opens "models" by name and remembers which."""

    def __init__(self) -> None:
        self.pool, self.loaded = LevelPool(), list[str]()

    def stack(self, *names: str) -> list[Any]:
        with self.pool.stack():
            return [self.pool.level(LevelSpec("target", values={"id": name}), self._build) for name in names]

    def _build(self, kind: LevelSpec) -> Any:
        level = Model()
        key = (Path(str(kind.values["id"])), "float32", "cpu", "auto")
        level.decoder = self.pool.decoder(key, lambda: self._load(str(kind.values["id"])))  # type: ignore[attr-defined]
        return level

    def _load(self, name: str) -> Any:
        self.loaded.append(name)
        return Model()


def test_the_least_recently_used_model_is_let_go_and_opened_again_when_asked_for() -> None:
    opener = Opener()
    first = opener.stack("a")[0]
    for name in "bcd":
        opener.stack(name)
    assert opener.stack("a")[0] is first, "it is still open, and now the most recently used"
    opener.stack("e")
    assert opener.loaded == list("abcde")
    opener.stack("a", "c", "d", "e")
    assert opener.loaded == list("abcde")
    opener.stack("b")
    assert opener.loaded == list("abcdeb"), "b was let go for e"


def test_what_a_stack_needs_is_never_let_go_while_it_is_built() -> None:
    opener = Opener()
    opener.stack("z")
    levels = opener.stack(*"abcdef")
    assert opener.stack(*"abcdef") == levels
    assert opener.loaded == list("zabcdef")
    opener.stack("g")
    assert len(opener.pool._decoders) == MOST_DECODERS


def test_a_model_that_is_let_go_is_freed() -> None:
    opener = Opener()
    gone = weakref.ref(opener.stack("a")[0].decoder)
    assert gone() is not None
    for name in "bcde":
        opener.stack(name)
    assert gone() is None


def test_levels_without_a_model_are_bounded_too() -> None:
    opener = Opener()
    for i in range(MOST_LEVELS + 10):
        with opener.pool.stack():
            opener.pool.level(LevelSpec("ngram", values={"id": str(i)}), lambda _: Model())  # type: ignore[arg-type,return-value]
    assert len(opener.pool._levels) == MOST_LEVELS


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    """smollm2's, over small random models."""

    class Words:
        vocab_size, eos_ids, digest = 61, frozenset[int](), ""

    def load(folder: Path, *, dtype: str, device: str, kind: str, vocab: int, progress: object, profile: None) -> Any:
        return tiny(dtype=dtype, device=device, inner=64)

    monkeypatch.setattr(building, "ensure", lambda *_: tmp_path)
    monkeypatch.setattr(building, "Tokenizer", lambda _: Words())
    monkeypatch.setattr(building, "load_decoder", load)
    return Builder(PRESETS["smollm2"], "cpu", None, lambda *_: None)


@pytest.mark.parametrize("text", ["target@device=cpu:3", "int8:2@device=cpu:0,target", "target@device=cuda:7"])
def test_a_device_that_is_not_here_opens_no_model(builder: Builder, text: str) -> None:
    builder.entries(parse("target"))
    with pytest.raises(StackError, match="device"):
        builder.entries(parse(text))
    assert len(builder._pool._decoders) == 1


def test_a_device_by_another_name_is_the_same_model(builder: Builder) -> None:
    with pretend_gpu():
        levels = [builder.entries(parse(f"target@device={name}"))[0].level for name in ("cuda", "cuda:0")]
    assert levels[0] is levels[1]
    assert levels[0].about.device == "cuda"
    assert len(builder._pool._decoders) == 1


def test_drafts_go_with_the_model_that_they_read(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_DECODERS", 1)
    level: Any = builder.entries(parse("target"))[0].level
    assert builder.opened(level.decoder, "draft", list) is builder.opened(level.decoder, "draft", list)
    gone = weakref.ref(level.decoder)
    del level
    builder.entries(parse("target@dtype=int8"))
    gc.collect()
    assert gone() is None
    assert not builder._beside
