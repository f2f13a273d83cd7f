"""What lessons compute in the browser (js/tabs/learn/sums) is the theory's: both give the cases of `sums.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from profiles import flat
from test_theory_planner import best_by_edges

from hsd_core.core.rules import _residual
from hsd_core.systems.lanes.closed_forms import tokens_per_step
from hsd_core.theory import Planner, StackPlan, expected
from hsd_core.theory.search.planner import node_ms

CASES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "sums.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["yields"])
def test_the_yield_of_a_block_and_what_it_gains(case: dict[str, Any]) -> None:
    profile = flat((case["c"], 1.0), case["a"])
    planner = Planner(profile)
    tokens = planner.edges.table(0, 1, planner.modes[0]).tokens[case["n"] - 1]
    assert tokens == pytest.approx(case["tokens"], abs=1e-12)
    assert 1.0 / expected(profile, StackPlan((0, 1), (case["n"],))).ms_per_token == pytest.approx(
        case["speed"], abs=1e-12
    )


@pytest.mark.parametrize("case", CASES["steps"])
def test_what_lock_step_commits_and_how_long_a_token_takes(case: dict[str, Any]) -> None:
    a, g, d = case["a"], case["g"], case["d"]
    assert tokens_per_step(a, g) == pytest.approx(case["tokens"], abs=1e-12)
    assert max(g * d, 1.0) / tokens_per_step(a, g) == pytest.approx(case["step"], abs=1e-12)
    assert expected(flat((d, 1.0), a), StackPlan((0, 1), (g,))).ms_per_token == pytest.approx(case["turn"], abs=1e-12)
    together = {g: max(g * d, 1.0) / tokens_per_step(a, g) for g in range(1, 17)}
    best = min(together, key=together.__getitem__)
    assert [together[best], best] == pytest.approx([case["best"], case["best_block"]], abs=1e-12)


@pytest.mark.parametrize("case", CASES["hops"])
def test_the_shortest_path_over_a_small_graph(case: dict[str, Any]) -> None:
    above = [a for i, row in enumerate(case["kept"]) for a in row[i + 1 :]]
    planner = Planner(flat(tuple(case["costs"]), *above, max_block=case["most"]))
    nodes = node_ms(planner)
    np.testing.assert_allclose(nodes, case["nodes"], rtol=1e-12)
    assert min(best_by_edges(planner, nodes), case["costs"][-1]) == pytest.approx(case["best"], rel=1e-12)


@pytest.mark.parametrize("case", CASES["residuals"])
def test_the_residual_is_the_rules(case: dict[str, Any]) -> None:
    p, q = (torch.tensor(case[name], dtype=torch.float64) for name in ("p", "q"))
    assert _residual(p, q).tolist() == pytest.approx(case["residual"], abs=1e-12)
    assert float(torch.minimum(p, q).sum()) == pytest.approx(case["kept"], abs=1e-12)
