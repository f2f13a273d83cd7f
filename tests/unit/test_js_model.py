"""The scripts that need no page, tested in node; skipped, with the cure, where node is missing."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hsd_core.grammar.stack_text import grammar

ROOT = Path(__file__).parents[2]
SUITES = sorted(suite for folder in ("app/js", "js") for suite in (ROOT / "tests" / folder).glob("*.test.mjs"))
# A suite that puts something in place of what a whole process shares has one of its own.
ALONE = [suite for suite in SUITES if re.search(r"globalThis|mock\.", suite.read_text(encoding="utf-8"))]
TOGETHER = [suite for suite in SUITES if suite not in ALONE]
RUN = "for (const suite of process.argv.slice(1)) await import(suite)"


def test_there_are_suites():
    assert ALONE and TOGETHER


@pytest.mark.parametrize("suites", [*([suite] for suite in ALONE), TOGETHER], ids=lambda some: f"{some[0].name}")
def test_suites_pass_in_node(suites):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node.js 20 or newer to test the page's model")
    env = {**os.environ, "HSD_GRAMMAR": json.dumps(grammar()), "HSD_PYTHON": sys.executable}
    command = [node, "--input-type=module", "--eval", RUN, *map(str, suites)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, cwd=ROOT)
    failed = re.split(r"(?m)^(?=not ok )", done.stdout)[1:] or [done.stdout]
    assert done.returncode == 0, "\n".join(said[:3000] for said in failed[:5]) + done.stderr[-2000:]
