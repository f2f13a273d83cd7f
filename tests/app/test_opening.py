"""Opening the page costs no torch, no weights and nothing from elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from app.kit.static import ASSETS, files

ROOT = Path(__file__).resolve().parents[2]


def test_a_start_with_targets_reads_their_configs_and_imports_nothing_heavy(tmp_path: Path) -> None:
    """The page itself holds no torch either: see `test_engine_process.py`."""
    folder = tmp_path / "models/small"
    folder.mkdir(parents=True)
    sizes = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 320}
    scaled = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    rope = {**scaled, "original_max_position_embeddings": 64}
    config = {"model_type": "llama", **sizes, "rope_parameters": rope}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file({"model.embed_tokens.weight": np.zeros((320, 64), np.float16)}, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    code = (
        "import sys; from app.options import parse; from hsd_core.pipeline import Pipeline;"
        f"offer = parse(['--targets', {str(folder)!r}, '--allow-models', {str(tmp_path / 'models')!r}]).offer;"
        "(small,) = [one for one in offer.catalogue(Pipeline.catalogue()) if one['name'] == 'small'];"
        "assert [one['name'] for one in small['stacks']] == ['lookup', 'copy', 'exits', 'plain'], small;"
        "sys.exit(', '.join({'torch', 'transformers', 'onnxruntime'} & sys.modules.keys()) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_app_never_names_torch_and_the_engine_never_names_the_page() -> None:
    for path in (ROOT / "app").rglob("*.py"):
        assert "import torch" not in path.read_text(encoding="utf-8"), path.name
    for path in (ROOT / "hsd_core").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import gradio" not in text, path.name
        assert "import plotly" not in text, path.name


def test_scripts_and_styles_reach_for_no_other_host() -> None:
    # a name in XML, where a reader's press leads, and what is to be copied
    named = "http://www.w3.org/", "https://arxiv.org/abs/", "https://github.com/", "http://HOST:"
    for name in files().names:
        text = (ASSETS / name).read_text(encoding="utf-8")
        for one in named:
            text = text.replace(one, "")
        assert not any(word in text for word in ("http://", "https://", "//cdn")), name


def test_no_script_parses_html() -> None:
    for path in [*(ASSETS / "js").rglob("*.js"), *(ASSETS / "text").rglob("*.js")]:
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML =", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in text, f"{path.name}: {word}"
