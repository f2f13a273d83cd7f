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


def test_a_cluster_that_is_started_here_reports_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.serve")
    from ray._common.usage import usage_lib

    from app.serve.engines.cluster import deployed

    monkeypatch.setattr(ray, "init", lambda *given, **named: None)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "")  # so that it is taken away again behind the test
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    assert usage_lib.usage_stats_enabled()  # Ray's own choice
    deployed._connect("")
    assert not usage_lib.usage_stats_enabled()
