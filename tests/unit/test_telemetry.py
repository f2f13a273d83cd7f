"""Nothing of a user goes anywhere unasked: what libraries would tell their makers is off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(os.name == "nt", reason="another folder there")
def test_onnxruntime_leaves_no_number_of_this_device_and_so_reports_nothing(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    unset = ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    fresh = {**{name: value for name, value in os.environ.items() if name not in unset}, "HOME": str(tmp_path)}
    code = "import hsd_core, onnxruntime"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=fresh, check=True)
    assert not list(tmp_path.rglob("*"))
