"""The core: types that one can keep in mind, and no paper in them but those that they are about."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from hsd_core.core.level import DraftOrder, Level, Proposal, Sampler, TreeShape
from hsd_core.core.run import run

CORE = Path(__file__).parents[2] / "hsd_core" / "core"
MOST_LINES = 3000  # that are not blank
# HSD, Leviathan et al., Sun et al.; and the bound that any exact rule has, which is no system's
PAPERS = {"2510.19705", "2211.17192", "2403.10444", "2502.18779"}
NAMES = re.compile(
    r"\b(Medusa|EAGLE|Kangaroo|HiSpec|LayerSkip|AdaDecode|PEARL|CARD|DuoDecoding|SpecInfer|MCSD|LongSpec|TriForce|"
    r"TokenTiming|kNN-LM|RaLMSpec|RASD|EasySpec|Draft ?& ?Verify|HierarchyDrafting)\b"
)
MOST = {Proposal: 7, DraftOrder: 6, Sampler: 5, TreeShape: 3}


@pytest.mark.parametrize("what", MOST)
def test_a_type_has_no_more_fields_than_one_keeps_in_mind(what: type) -> None:
    assert len(fields(what)) <= MOST[what], "what one system says of a draft rides along as a note"


def test_a_run_takes_a_stack_a_prompt_settings_and_who_watches() -> None:
    assert [*inspect.signature(run).parameters] == ["stack", "prompt_ids", "settings", "watcher"]


def test_a_level_has_at_most_eight_members() -> None:
    assert len({*Level.__annotations__} | {name for name in vars(Level) if not name.startswith("_")}) <= 8


def test_the_core_is_read_in_one_afternoon() -> None:
    texts = [path.read_text(encoding="utf-8") for path in CORE.rglob("*.py")]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= MOST_LINES


def test_the_core_names_no_paper_of_a_system() -> None:
    for path in CORE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert {*re.findall(r"\b\d{4}\.\d{5}\b", text)} <= PAPERS, path.name
        assert not NAMES.search(text), path.name
