"""Which trained draft a level takes: the shipped one of its depth, the one it names, or none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from hsd_core.grammar.stack_text import parse
from hsd_core.levels import opened_drafts
from hsd_core.levels.opened_drafts import draft_file_of
from hsd_core.models.drafts import known_drafts
from hsd_core.models.drafts.draft_file import DraftError, list_drafts, read_info
from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.stacks.presets import catalogue

SHIPPED = tuple(
    SimpleNamespace(
        name=name,
        at=at,
        fed=fed,
        follows=fed,
        layers=layers,
        heads=not layers,
        joined=(),
        ahead=1,
        window=0,
        states=False,
        masked=False,
        path=Path(f"{name}.safetensors"),
    )
    for name, at, fed, layers in (
        ("a-nano-fed", 0, True, 1),
        ("a-medusa", 0, True, 0),
        ("a-nano", 0, False, 2),
        ("a-exit4", 4, False, 1),
        ("a-exit8", 8, False, 1),
    )
)


@pytest.fixture(autouse=True)
def drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drafts above are those that come with preset a; other files say depth 6."""
    monkeypatch.setattr(opened_drafts, "shipped", lambda preset, folder: SHIPPED)
    monkeypatch.setattr(
        opened_drafts, "read_info", lambda path: SimpleNamespace(name=path.stem, at=6, layers=1, heads=False, path=path)
    )


def taken(level: str) -> str | None:
    """The name of the draft that a level takes."""
    path = draft_file_of(parse(f"{level},target")[0], "a")
    return path and path.stem


def test_a_level_takes_the_draft_of_its_place() -> None:
    assert taken("exit@at=4") == "a-exit4"
    assert taken("exit@at=8") == "a-exit8"
    assert taken("exit@at=5") is None
    assert taken("nano") == "a-nano-fed"
    assert taken("medusa") == taken("medusa@id=a-medusa") == "a-medusa"


def test_a_level_takes_the_draft_it_names(tmp_path: Path) -> None:
    assert taken("nano@id=a-nano") == "a-nano"
    own = tmp_path / "own.safetensors"
    own.touch()
    assert taken(f"exit@at=6@id={own}") == "own"


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("exit@at=4@id=a-exit8", "draft a-exit8 was trained for depth 8; write exit@at=8@id=a-exit8"),
        ("exit@at=4@id=a-nano", "draft a-nano was trained for depth 0; write nano@id=a-nano"),
        ("nano@id=a-exit4", "write exit@at=4@id=a-exit4"),
        ("exit@at=4@id=none", "no draft 'none'; those of preset a are: a-exit4, a-exit8"),
        ("nano@id=none", "those of preset a are: a-nano-fed, a-nano"),
        ("nano@id=missing.safetensors", "no draft"),
        ("nano@id=a-medusa", "draft a-medusa is heads over the target's last state; write medusa@id=a-medusa"),
        ("medusa@id=a-nano", "write nano@id=a-nano"),
        ("medusa@id=a-exit4", "write exit@at=4@id=a-exit4"),
        ("medusa@id=b", "those of preset a are: a-medusa"),
    ],
)
def test_a_draft_for_another_place_is_refused(level: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        taken(level)
    assert message in str(caught.value)


def test_the_catalogue_names_the_trained_depths_and_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_drafts, "shipped", lambda preset: SHIPPED if preset == "smollm2" else ())
    presets = {entry["name"]: {level["name"]: level for level in entry["levels"]} for entry in catalogue()}
    levels = presets["smollm2"]
    assert levels["exit"]["depth"] == {"min": 1, "max": 29, "default": 4, "trained": [4, 8]}
    assert (levels["nano"]["usable"], levels["nano"]["params"]) == (True, {})
    assert [(d["name"], d["fed"]) for d in levels["nano"]["drafts"]] == [("a-nano-fed", True), ("a-nano", False)]
    assert [(d["name"], d["at"], d["fed"]) for d in levels["exit"]["drafts"]] == [
        ("a-exit4", 4, False),
        ("a-exit8", 8, False),
    ]
    bare = presets["qwen-coder"]
    assert bare["exit"]["depth"] == {"min": 1, "max": 27, "default": 7, "trained": []}
    assert (bare["nano"]["usable"], bare["nano"]["drafts"]) == (False, [])
    assert "no nano draft was trained" in bare["nano"]["reason"]


def test_a_draft_that_broke_off_is_no_draft(tmp_path: Path) -> None:
    whole = next(FOLDER.glob("*.safetensors")).read_bytes()
    path = tmp_path / "a.safetensors"
    path.write_bytes(whole)
    assert [draft.name for draft in list_drafts(tmp_path)] == ["a"]
    path.write_bytes(whole[:-1])
    with pytest.raises(DraftError, match=r"a.safetensors is damaged: \d+ bytes of \d+; fetch or train it again"):
        read_info(path)
    assert list_drafts(tmp_path) == ()
