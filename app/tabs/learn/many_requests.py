"""What the lesson on many requests at once is told: joint passes and a map of levels of the shipped profile by load,
what stacks gained in the shipped benchmark, and what passes cost on machines that were not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.tabs.planner.load_map import answer
from hsd_core.measure.whatif import whatif_profile
from hsd_core.theory import Profile, expected, plan_of
from hsd_core.theory.profiles.costs import MOST_ROWS, Costs
from hsd_core.theory.profiles.profile_store import shipped_profile
from hsd_core.theory.profiles.under_load import under_load
from hsd_core.theory.search.by_load import BY_LOAD

PRESET = "smollm2"
COMPUTED = ("h100", "phone")  # what-if profiles


def many_requests(folder: Path = BY_LOAD) -> dict[str, Any]:
    """Empty where no profile with joint passes is shipped.

    Returns:
        `about`: machine and day. `loads`, `rows`, `pass_ms`: ms of a pass of the target over so many rows of each of
        so many requests, by load and rows. `gains`: of the stack that gained most with one request, for each load its
        `stack`, `load`, `speed_up` and `interval`, as `bench --load` measured it (`measured`); where nothing was
        measured, the best stack's prediction. `map`: as `load_map.answer`. `machines`: name, `rows` and `times` of a
        pass, as multiples of a pass of one row, `twice` (the rows from which it takes twice as long), `computed`.
    """
    profile = shipped_profile(PRESET, folder=folder)
    if profile is None or not (joint := profile.levels[-1].joint):
        return {}
    found, loads, rows = answer(profile), sorted(joint), joint[1].rows
    measured = _measured(found["measured"])
    return {
        "about": {key: str(profile.about.get(key, "")) for key in ("machine", "recorded")},
        "loads": loads,
        "rows": list(rows),
        "pass_ms": [[joint[load](n) for n in rows] for load in loads],
        "measured": bool(measured),
        "gains": measured or [_predicted(profile, found["rows"][0]["stack"], load) for load in loads],
        "map": found,
        "machines": [_machine("", _by_all_rows(joint), False), *map(_computed, COMPUTED)],
    }


def _measured(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    rows = (found or {"rows": []})["rows"]
    alone = [row for row in rows if row["load"] == 1 and "," in row["stack"]]
    best = max(alone, key=lambda row: row["speed_up"])["stack"] if alone else None
    return [row for row in rows if row["stack"] == best]


def _predicted(profile: Profile, stack: str, load: int) -> dict[str, Any]:
    gain = expected(under_load(profile, load), plan_of(profile, stack)).speedup
    return {"stack": stack, "load": load, "speed_up": gain, "interval": [gain, gain]}


def _by_all_rows(joint: Any) -> Costs:
    """ms by all rows of a joint pass: one row of each request, then more rows of each of the most."""
    ms = {load: costs(1) for load, costs in joint.items()}
    most = max(joint)
    ms |= {most * n: joint[most](n) for n in joint[most].rows}
    return Costs(tuple(sorted(ms)), tuple(ms[rows] for rows in sorted(ms)))


def _computed(name: str) -> dict[str, Any]:
    profile = whatif_profile(name)
    return _machine(str(profile.about["machine"]), profile.levels[-1].cost, True)


def _machine(name: str, costs: Costs, computed: bool) -> dict[str, Any]:
    one = costs(1)
    twice = next((rows for rows in range(1, MOST_ROWS) if costs(rows) >= 2 * one), MOST_ROWS)
    rows = sorted({1, *(n for n in costs.rows if n <= 1024), *(2**i for i in range(11))})
    return {
        "name": name,
        "computed": computed,
        "rows": rows,
        "times": [costs(n) / one for n in rows],
        "twice": twice,
    }
