"""The folder of a Space: what the Hub reads of it, and what it would refuse."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from app.space import folder
from app.space.front_matter import faults, read, written
from hsd_core.cli import main


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small program and a small page in the place of ours."""
    root = tmp_path / "program"
    for name in ("app", "hsd_core", "assets"):
        (root / name / "__pycache__").mkdir(parents=True)
        (root / name / "one.py").write_text("1\n", encoding="utf-8")
    for name in ("app.py", "LICENSE", ".gitattributes"):
        (root / name).write_text("x\n", encoding="utf-8")
    (root / "requirements.txt").write_text((folder.ROOT / "requirements.txt").read_text(encoding="utf-8"), "utf-8")
    monkeypatch.setattr(folder, "ROOT", root)

    def page(out: Path) -> int:
        (out / "hx").mkdir()
        (out / "hx" / "a.js").write_text("1", encoding="utf-8")
        return (out / "index.html").write_text('<script src="hx/a.js"></script>', encoding="utf-8")

    monkeypatch.setattr(folder, "write_site", page)
    return tmp_path / "space"


@pytest.mark.parametrize("kind", folder.KINDS)
def test_a_folder_is_whole_and_is_written_again_over_itself(
    kind: str, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (quick / ".git").mkdir(parents=True)
    for _ in range(2):
        assert main(["space", kind, "--out", str(quick)]) == 0
    assert "hf upload" in capsys.readouterr().err
    given = read((quick / "README.md").read_text(encoding="utf-8"))
    assert not faults(given) and given["sdk"] == ("static" if kind == "static" else "gradio")
    assert (quick / ".git").is_dir() and not list(quick.rglob("__pycache__"))
    if kind != "static":
        assert given["sdk_version"] == importlib.metadata.version("gradio") and given["python_version"] == "3.12"
        needs = (quick / "requirements.txt").read_text(encoding="utf-8")
        assert "gradio" not in needs and ("spaces" in needs) == (kind == "zerogpu")
        assert ("torch>=2.8,<2.12\n" in needs) == (kind == "zerogpu")


def test_a_folder_of_other_things_is_left_alone(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick.mkdir()
    (quick / "README.md").write_text("mine", encoding="utf-8")
    assert main(["space", "static", "--out", str(quick)]) == 2
    assert "README.md" in capsys.readouterr().err and [path.name for path in quick.iterdir()] == ["README.md"]


def test_what_the_hub_would_refuse_is_said(quick: Path) -> None:
    folder.write("static", quick)
    assert not list(folder.check("static", quick))
    (quick / "hx" / "large.bin").write_bytes(bytes(folder.MOST_FILE + 1))
    (quick / "index.html").write_text('<script src="https://x.example/a.js"></script><a href="no.html">', "utf-8")
    said = " ".join(folder.check("static", quick))
    assert "hx/large.bin has 10.0 MB" in said and "https://x.example/a.js" in said and "no.html" in said


def test_each_key_and_value_is_checked() -> None:
    good = folder.front_matter("zerogpu")
    assert read(written(good)) == good and not faults(good)
    for name, value in (
        ("emoji", "ok"),
        ("colorFrom", "teal"),
        ("sdk", "streamlit"),
        ("sdk_version", "6"),
        ("pinned", "no"),
        ("short_description", "long " * 20),
        ("suggested_hardware", "zero-a10g"),  # what a Space runs on, but no flavour that may be suggested
        ("models", "gpt2"),
        ("preload_from_hub", ["gpt2 config.json main"]),
        ("startup_duration_timeout", "soon"),
        ("hardware", "cpu-basic"),
    ):
        (fault,) = faults({**good, name: value})
        assert name in fault, json.dumps([name, fault])
    (fault,) = faults({name: value for name, value in good.items() if name != "app_file"})
    assert "app_file" in fault
    with pytest.raises(ValueError, match="front matter"):
        read("# no front matter\n")


def test_a_space_names_its_models_and_on_zerogpu_has_those_of_the_hub_in_its_image() -> None:
    models = {kind: folder.front_matter(kind)["models"] for kind in folder.KINDS}
    assert models["static"] == [folder.OPENING_MODEL] == models["cpu"][:1] and models["cpu"] == models["zerogpu"]
    preloaded = folder.front_matter("zerogpu")["preload_from_hub"]
    assert preloaded == ["Qwen/Qwen2.5-Coder-1.5B-Instruct", "Qwen/Qwen2.5-Coder-0.5B-Instruct"]
    assert set(preloaded) < set(models["zerogpu"]), "gated models are in none of them"
    assert not any("llama" in name.lower() for name in models["cpu"])
    assert "preload_from_hub" not in folder.front_matter("cpu"), "the model of the first Generate comes from PyPI"


def test_lists_are_read_as_they_are_written() -> None:
    given = {"preload_from_hub": ["a/b one.json,two.json " + "0" * 40, "c"], "tags": ["x", "y-z"]}
    assert read(written(given)) == given
    assert "tags: [x, y-z]" in written(given) and not [one for one in faults(given) if "missing" not in one]


def test_the_repository_as_it_stands_is_the_space_on_a_cpu() -> None:
    own = read((folder.ROOT / "README.md").read_text(encoding="utf-8"))
    assert not faults(own)
    # A folder that is written names the Gradio that is installed; README one of those that the program takes.
    assert Version(own.pop("sdk_version")) in taken("requirements.txt")
    assert own == {name: value for name, value in folder.front_matter("cpu").items() if name in own}


def test_the_tools_take_the_same_gradio_as_the_page_and_the_one_that_is_installed_is_among_them() -> None:
    assert taken("requirements.txt") == taken("app/requirements-mcp.txt")
    assert Version(importlib.metadata.version("gradio")) in taken("requirements.txt")


def taken(name: str) -> SpecifierSet:
    """The versions of Gradio in a file of requirements."""
    lines = (folder.ROOT / name).read_text(encoding="utf-8").splitlines()
    return next(Requirement(line).specifier for line in lines if line.startswith("gradio"))
