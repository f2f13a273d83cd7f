"""The folder of a Space: the page without a server, or the program as a Space starts it; checked once written."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from app.site.written import write as write_site
from app.space.front_matter import faults, read, written
from app.words import page as page_says
from app.words import space as says
from hsd_core.grammar.preset import Preset
from hsd_core.stacks.presets import PRESETS
from hsd_core.typed.program_files import PACKAGE, ROOT

STATIC, CPU, ZEROGPU = KINDS = ("static", "cpu", "zerogpu")
PYTHON = "3.12"  # of the versions that ZeroGPU offers, one that this program is tested with
MOST_FILE = 10_000_000  # bytes: the Hub takes no larger one but as a large file apart
TORCH = "torch>=2.8,<2.12"  # what ZeroGPU offers ends below
SPACES = "spaces>=0.51"
PROGRAM = (".gitattributes", "app.py", "LICENSE", "app", "hsd_core", "assets")
IGNORED = ("__pycache__", ".*", "*.pyi", "report.md")  # of the program's folders: what it makes of itself
TAGS = ("speculative-decoding", "hierarchical-speculative-decoding", "text-generation", "inference", "education")
OPENING_MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"  # out of a package; the Hub's card is of the same model
FREE = "Apache-2.0"
PRELOADED = "qwen-coder"  # its weights are in a ZeroGPU Space's image before anybody asks for them
_LINK = re.compile(r"\]\(([^)]+)\)|(?:href|src)=\"([^\"]+)\"")


def write(kind: str, out: Path) -> int:
    """Write the folder of a Space, which is made, or emptied of an earlier one; its size in bytes.

    Raises:
        ValueError: the folder holds other things, or what was written would be refused by the Hub.
    """
    _emptied(out)
    if kind == STATIC:
        write_site(out)
    else:
        _program(kind, out)
    (out / "README.md").write_text(written(front_matter(kind)) + says.readme(kind), encoding="utf-8")
    if wrong := list(check(kind, out)):
        raise ValueError("; ".join(wrong))
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file())


def front_matter(kind: str) -> dict[str, Any]:
    """What the README of a Space of this kind says of it."""
    given: dict[str, Any] = {
        "title": page_says.TITLE,
        "emoji": "🗼",
        "colorFrom": "blue",
        "colorTo": "yellow",
        "sdk": "static" if kind == STATIC else "gradio",
    }
    if kind != STATIC:
        version = importlib.metadata.version("gradio")
        given |= {"sdk_version": version, "python_version": PYTHON, "app_file": "app.py"}
    given |= {"pinned": False, "license": "apache-2.0", "short_description": says.SHORT, "fullWidth": True}
    given |= {"tags": list(TAGS), "models": [OPENING_MODEL]}
    if kind == CPU:
        given["suggested_hardware"] = "cpu-basic"
    if kind != STATIC:
        given["models"] += list(dict.fromkeys(_from_hub(PRESETS.values())))
    if kind == ZEROGPU:  # on a CPU the page opens with a model from PyPI, and an image that is larger wakes later
        given["preload_from_hub"] = list(_from_hub([PRESETS[PRELOADED]]))
    return given


def _from_hub(presets: Iterable[Preset]) -> Iterator[str]:
    """The models of the Hub that presets fetch without asking for anybody's consent."""
    for preset in presets:
        for source in (preset.target, preset.draft):
            if source is not None and source.kind == "hub" and source.licence == FREE:
                yield source.id


def check(kind: str, out: Path) -> Iterator[str]:
    """What the Hub would refuse, or what would not work there."""
    readme = (out / "README.md").read_text(encoding="utf-8")
    given = read(readme)
    yield from faults(given)
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.stat().st_size > MOST_FILE:
            yield says.too_large(path.relative_to(out).as_posix(), path.stat().st_size / 1e6, MOST_FILE / 1e6)
    pages = [readme] + ([(out / "index.html").read_text(encoding="utf-8")] if kind == STATIC else [])
    for link in (one or other for page in pages for one, other in _LINK.findall(page)):
        if not link.startswith("data:") and (link.startswith("/") or not (out / link).exists()):
            yield says.no_link(link)
    if kind == STATIC:
        return
    if not (out / given["app_file"]).is_file():
        yield says.no_link(given["app_file"])
    if given["sdk_version"] != importlib.metadata.version("gradio"):
        yield says.other_version(given["sdk_version"])
    needs = (out / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if kind == ZEROGPU and not {TORCH, SPACES} <= set(needs):
        yield says.NO_ZEROGPU


def requirements(kind: str, given: str) -> str:
    """The lines of a Space's requirements.txt, of this program's own. Gradio comes with the Space."""
    lines = [line for line in given.splitlines() if line and not line.startswith(("#", "gradio"))]
    if kind == ZEROGPU:
        lines = [TORCH if line.startswith("torch") else line for line in lines] + [SPACES]
    return "\n".join(lines) + "\n"


def _program(kind: str, out: Path) -> None:
    for path in (PACKAGE if name == "hsd_core" else ROOT / name for name in PROGRAM):
        if path.is_dir():
            shutil.copytree(path, out / path.name, ignore=shutil.ignore_patterns(*IGNORED))
        else:
            shutil.copyfile(path, out / path.name)
    needs = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (out / "requirements.txt").write_text(requirements(kind, needs), encoding="utf-8")


def _emptied(out: Path) -> None:
    """Only what an earlier call wrote is taken away; a clone of the Space keeps its history."""
    out.mkdir(parents=True, exist_ok=True)
    own = {"README.md", "index.html", "hx", "requirements.txt", *PROGRAM, ".git"}
    there = {path.name for path in out.iterdir()}
    if others := sorted(there - own):
        raise ValueError(says.holds(str(out), others[0]))
    if there - {".git", ".gitattributes"}:
        readme = out / "README.md"
        if not readme.is_file() or page_says.TITLE not in readme.read_text(encoding="utf-8", errors="replace"):
            raise ValueError(says.holds(str(out), sorted(there)[0]))
    for name in there - {".git", ".gitattributes"}:
        path = out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
