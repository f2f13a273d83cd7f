"""The table of families says what ran: the files agree, and some rows are made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime")

from families import CONFIGS, LAYERED, WHOLE, save
from family_table import FEW, page, row

FOLDER = Path(__file__).parents[2] / "assets/results/families"
SHIPPED: dict[str, Any] = json.loads((FOLDER / "families.json").read_text(encoding="utf-8"))
ROWS = {one["family"]: one for one in SHIPPED["rows"]}
REFUSED = [name for name, one in ROWS.items() if "refused" in one]


def test_the_file_for_readers_is_made_of_the_other_one() -> None:
    assert (FOLDER / "table.md").read_text(encoding="utf-8") == page(SHIPPED["rows"], SHIPPED["about"])
    assert list(ROWS) == list(CONFIGS), "every family has its row"


def test_what_can_be_used_is_exact_and_nothing_is_missing() -> None:
    for name, one in ROWS.items():
        if name in REFUSED:
            continue
        assert one["apart"] < 1e-4 * one["largest"], name
        assert {what: len(stacks) for what, stacks in one["equal"].items()} == one["of"], name
        assert (one["decoder"] == "transformers") == (one["of"].get("exits") is None), name
    assert {ROWS[name]["decoder"] for name in LAYERED} == {"compiled"}
    assert {ROWS[name]["decoder"] for name in WHOLE} == {"transformers"}
    assert len(REFUSED) >= 2


@pytest.mark.parametrize(
    "family", ["gpt2", *(pytest.param(one, marks=pytest.mark.everything) for one in ("llama-scaled", *REFUSED))]
)
def test_a_row_comes_out_again(family: str, tmp_path: Path) -> None:
    small = save(tmp_path / "small", "llama-tied", seed=3, layers=2)
    few = FEW if family in LAYERED else {"lookups": ("ngram:3,target",)}
    found, shipped = row(save(tmp_path / family, family), family, small, few), ROWS[family]
    for key in ("config", "refused", "decoder"):
        assert found.get(key) == shipped.get(key)
    if family not in REFUSED:
        assert found["apart"] < 1e-4 * found["largest"]
        assert found["equal"] == {what: list(stacks) for what, stacks in few.items()}
        assert set(found["equal"]) <= set(shipped["equal"])
