"""Which cases of a test run by default: together they have every value, and --all has every case."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.covering
@pytest.mark.parametrize("a", "xyz")
@pytest.mark.parametrize("b", range(4))
def test_product(a, b): pass

@pytest.mark.covering("text")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", ["table", "table:2,table", "table:2,table@rule=block", "top:2@tree=2.1,table"])
def test_stacks(text, seed): pass

@pytest.mark.everything
def test_large(): pass

def test_small(): pass
"""
FEW = {"test_small", "test_stacks[table:2,table@rule=block-0]", "test_stacks[top:2@tree=2.1,table-0]"}


def names(run: pytest.RunResult) -> set[str]:
    return {line.partition("::")[2] for line in run.outlines if "::" in line}


CASES = (), ("--all",), ("--all", "-m", "everything")


@pytest.mark.parametrize(("options", "count"), [*zip(CASES, (7, 26, 19), strict=True)])
def test_every_value_runs_and_all_runs_every_case(
    pytester: pytest.Pytester, options: tuple[str, ...], count: int
) -> None:
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nmarkers = covering\n  everything")
    found = names(pytester.runpytest("--collect-only", "-q", "-p", "no:cacheprovider", *options))
    assert len(found) == count
    if not options:
        product = {name for name in found if name.startswith("test_product")}
        assert found - product == FEW
        assert {part for name in product for part in name[13:-1].split("-")} == {*"xyz0123"}
    assert (found & FEW == FEW) is ("everything" not in options)
