"""Opening the page costs no torch, no weights and nothing from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.kit.static import ASSETS, files

ROOT = Path(__file__).resolve().parents[2]


def test_building_the_page_imports_no_torch() -> None:
    code = (
        "import sys; from app.page import build; from hsd_core.pipeline import Pipeline; build(Pipeline);"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_app_never_names_torch_and_the_engine_never_names_the_page() -> None:
    for path in (ROOT / "app").rglob("*.py"):
        assert "import torch" not in path.read_text(encoding="utf-8"), path.name
    for path in (ROOT / "hsd_core").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import gradio" not in text, path.name
        if path.name not in ("bench_page.py", "passes_report.py"):  # pages of benchmarks
            assert "import plotly" not in text, path.name


def test_scripts_and_styles_reach_for_no_other_host() -> None:
    for name in files().names:
        text = (ASSETS / name).read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert not any(word in text for word in ("http://", "https://", "//cdn")), name


def test_no_script_parses_html() -> None:
    for path in (ASSETS / "js").rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in text, f"{path.name}: {word}"
