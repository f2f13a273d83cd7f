"""Which trained draft a level takes: the shipped one of its depth, the one it names, or none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from hsd_core.models.drafts import known_drafts
from hsd_core.models.drafts.draft_file import DraftError, list_drafts, read_info
from hsd_core.models.drafts.known_drafts import FOLDER
from hsd_core.stacks import opened_drafts
from hsd_core.stacks.catalogue import catalogue
from hsd_core.stacks.opened_drafts import OpenedDrafts

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


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> OpenedDrafts:
    """A registry with the drafts above, none of which has a file."""
    reads: list[Path] = []

    def read(self: OpenedDrafts, path: Path, decoder: object) -> object:
        reads.append(path)
        return next(
            (d for d in SHIPPED if d.path == path),
            SimpleNamespace(name=path.stem, at=6, fed=path.stem == "fed", layers=1),
        )

    monkeypatch.setattr(opened_drafts, "shipped", lambda preset, folder: SHIPPED)
    monkeypatch.setattr(OpenedDrafts, "_read", read)
    return OpenedDrafts("a")


def taken(full: OpenedDrafts, depth: int, name: str | None = None) -> str | None:
    draft = full.at(depth, name, None)  # type: ignore[arg-type]
    return draft and draft.name


def test_a_level_takes_the_draft_of_its_depth(full: OpenedDrafts) -> None:
    assert taken(full, 4) == "a-exit4"
    assert taken(full, 8) == "a-exit8"
    assert taken(full, 5) is None
    assert taken(full, 0) == "a-nano-fed"


def test_a_level_takes_the_draft_it_names(full: OpenedDrafts, tmp_path: Path) -> None:
    assert taken(full, 0, "a-nano") == "a-nano"
    own = tmp_path / "own.safetensors"
    own.touch()
    assert taken(full, 6, str(own)) == "own"


@pytest.mark.parametrize(
    ("depth", "name", "message"),
    [
        (4, "a-exit8", "draft a-exit8 was trained for depth 8; write exit@at=8"),
        (4, "a-nano", "draft a-nano was trained for depth 0; write nano"),
        (0, "a-exit4", "write exit@at=4"),
        (4, "none", "no draft 'none'; those of preset a are: a-exit4, a-exit8"),
        (0, "none", "those of preset a are: a-nano-fed, a-nano"),
        (0, "missing.safetensors", "no draft"),
        (0, "a-medusa", "draft a-medusa is heads over the target's last state; write medusa@id=a-medusa"),
    ],
)
def test_a_draft_for_another_place_is_refused(full: OpenedDrafts, depth: int, name: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        taken(full, depth, name)
    assert message in str(caught.value)


def test_heads_are_taken_where_heads_are_asked_for(full: OpenedDrafts) -> None:
    for name in (None, "a-medusa"):
        heads = full.heads(name, None)  # type: ignore[arg-type]
        assert heads is not None and heads.name == "a-medusa"
    for name, message in (
        ("a-nano", "write nano@id=a-nano"),
        ("a-exit4", "write exit@at=4@id=a-exit4"),
        ("b", "no draft"),
    ):
        with pytest.raises(ValueError, match=message):
            full.heads(name, None)  # type: ignore[arg-type]


def test_an_exit_takes_a_draft_that_also_reads_the_last_states(full: OpenedDrafts, tmp_path: Path) -> None:
    fed = tmp_path / "fed.safetensors"
    fed.touch()
    draft = full.at(6, str(fed), None)  # type: ignore[arg-type]
    assert draft is not None and draft.fed


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
