"""Opening the page costs no torch, no weights and nothing from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.static import ASSETS, app_options, files

ROOT = Path(__file__).resolve().parents[2]


def test_building_the_page_imports_no_torch() -> None:
    code = (
        "import sys; from app.page import build; from hsd_core.workbench import Workbench; build(Workbench);"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_app_never_names_torch_and_the_engine_never_names_the_page() -> None:
    for path in (ROOT / "app").glob("*.py"):
        assert "import torch" not in path.read_text(encoding="utf-8"), path.name
    for path in (ROOT / "hsd_core").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("import gradio", "import plotly")), path.name


def test_scripts_and_styles_reach_for_no_other_host() -> None:
    for name in files():
        text = (ASSETS / name).read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert not any(word in text for word in ("http://", "https://", "//cdn")), name


def test_no_script_parses_html() -> None:
    for path in (ASSETS / "js").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in text, f"{path.name}: {word}"


def test_every_script_and_style_is_served() -> None:
    routes = {route.path for route in app_options()["routes"]}
    assert all(f"/hx/{name.split('/')[0]}" in routes for name in files())
    assert "js/stage.js" in files()
