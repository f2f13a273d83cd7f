"""The scripts that need no page, tested in node; skipped, with the cure, where node is missing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hsd_core.grammar.stack_text import grammar

ROOT = Path(__file__).parents[2]
SUITES = sorted(suite for folder in ("app/js", "js") for suite in (ROOT / "tests" / folder).glob("*.test.mjs"))


def test_there_are_suites():
    assert SUITES


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.name)
def test_suite_passes_in_node(suite):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node.js 20 or newer to test the page's model")
    env = {**os.environ, "HSD_GRAMMAR": json.dumps(grammar()), "HSD_PYTHON": sys.executable}
    done = subprocess.run([node, str(suite)], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
