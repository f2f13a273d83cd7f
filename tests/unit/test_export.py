"""A run as one HTML file: its scripts put into one, and nothing in it that a text could break out of."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from hsd_core.cli import main
from hsd_core.export.bundle import BundleError, bundle
from hsd_core.export.run_page import EMPTY, empty_page, script_json

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "assets" / "traces" / "01-code.jsonl.gz"


def bundled(**modules: str) -> str:
    return bundle("js/main.js", lambda path: modules[Path(path).stem])


def test_modules_stand_in_the_order_in_which_they_need_one_another() -> None:
    text = bundled(
        main='import { twice as double } from "./a.js";\nimport * as all from "./b.js";\ndouble(all.ONE);',
        a='import { ONE } from "./b.js";\nexport { ONE } from "./b.js";\nexport const twice = (x) => x + ONE;',
        b="const ONE = 1;\nexport { ONE };",
    )
    assert [text.index(f'$["js/{name}.js"] =') for name in "ba"] == sorted(
        text.index(f'$["js/{n}.js"] =') for n in "ba"
    )
    assert 'const { twice: double } = $["js/a.js"];' in text
    assert 'return { ONE: $["js/b.js"].ONE, twice };' in text


def test_modules_that_need_one_another_share_functions_alone() -> None:
    circle = 'import { b } from "./b.js";\nexport function a() { return b(); }'
    text = bundled(main=circle, b='import { a } from "./main.js";\nexport function b() { return a; }')
    assert 'const a = (...given) => $["js/main.js"].a(...given);' in text
    with pytest.raises(BundleError, match="not an exported function"):
        bundled(main='import "./b.js";\nexport const a = 1;', b='import { a } from "./main.js";')


@pytest.mark.parametrize("line", ["export default 1;", "export let x = 1;", 'import main from "./b.js";'])
def test_what_is_not_understood_is_refused(line: str) -> None:
    with pytest.raises(BundleError, match="not a supported form of import or export"):
        bundled(main=line, b="")


def test_comments_on_lines_of_their_own_are_left_out_and_code_beside_one_stays() -> None:
    main = """/** Of a module. */
// A line.
  /** @type {any} */ const a = 1;
/** @param {string} x
 *  more */
const b = "// no comment"; // beside code
/* one */
"""
    text = bundled(main=main)
    assert "Of a module" not in text and "A line" not in text and "@param" not in text and "one */" not in text
    assert "/** @type {any} */ const a = 1;" in text and 'const b = "// no comment"; // beside code' in text


def test_no_text_of_a_script_ends_the_script() -> None:
    text = bundled(main='const ends = "</script><script>", note = "<!--";')
    assert "<script" not in text and "</script" not in text and "<!--" not in text


def test_the_file_holds_the_run_and_may_reach_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run.html"
    assert main(["export", str(TRACE), "--out", str(out)]) == 0
    text = out.read_text()
    assert len(text) < 1_500_000
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy and "default-src 'none'" in policy[1] and "unsafe" not in policy[1] and "http" not in policy[1]
    assert text.count("<script") == text.count("</script") == 3
    packed = re.search(r'id="hx-run">([^<]+)<', text)
    assert packed
    records = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert [r["event"] for r in records].count("commit") == [r["event"] for r in records].count("snapshot") > 5
    assert EMPTY in empty_page() and EMPTY not in text


def test_a_file_that_cannot_be_written_or_read_is_refused_with_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(TRACE), "--out", str(tmp_path / "no" / "run.html")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert main(["export", str(ROOT / "README.md"), "--out", str(tmp_path / "run.html")]) == 2
    assert "not JSON" in capsys.readouterr().err


def test_no_text_of_a_run_ends_the_script_that_holds_it() -> None:
    text = script_json({"prompt": "</script><img src=x onerror=alert(1)>"})
    assert "<" not in text
    assert json.loads(text)["prompt"].startswith("</script>")
