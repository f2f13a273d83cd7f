"""Many requests at once, for the page: the best stack at each load, and where levels drop out of it.

A question to a profile like those that systems bring along (`question.py`; see `hsd_core.cli.plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.tabs.planner.answer import shown
from app.tabs.planner.profiles.turn import kind_of
from hsd_core.grammar import StackError
from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import machine_distance
from hsd_core.theory.search.by_load import LOADS, AtLoad, plans_by_load, with_joint_passes
from hsd_core.theory.stack_table import StackTable
from hsd_core.typed import plain
from hsd_core.typed.files import read_bytes
from hsd_core.typed.program_files import ASSETS

NAME = "load"  # on the page
HELP = "the best stack with 1, 2, 4, ... requests at once, and where levels drop out"
SECONDS = 6.0  # of CPU time, at most
RESULTS = ASSETS / "results"
SHOWN = ("stack", "load", "sum", "speed_up", "interval", "predicted_sum", "predicted_speed_up")  # of what was measured
MORE_LOADS = (*LOADS, 64, 128, 256)  # where costs are assumed: large machines have room for so many


def answer(profile: Profile, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The map of levels by load.

    Returns:
        `about`: machine and day, and whether costs are assumed. `levels`: name and kind of each, cheapest first.
        `rows`: of each load, ascending, the plan (as `answer.shown`; ms are of a token of all requests together),
        `rate` and `plain` (tokens/s of all together, of the plan and of plain decoding), and names of levels: `left`
        (in no plan from this load on), `computed` (whose costs are those of n B rows of one request, or assumed).
        `passes`: machine and day of the measured joint passes, or None.
        `measured`: see `measured_under_load`. `table`: all rows as one stack (`StackTable`); "" where they are none.
    """
    assumed = profile.about.get("simulated") is True
    over, source = with_joint_passes(profile)
    rows = plans_by_load(over, MORE_LOADS if assumed else LOADS, check=check)
    levels = [{"name": name, "kind": kind_of(profile, i)} for i, name in enumerate(profile.names)]
    found = [_row(profile, row, assumed) for row in rows]
    return {
        "about": {**_where(profile.about), "assumed": assumed},
        "levels": levels,
        "rows": found,
        "table": _table(found),
        "passes": source and _where(source.about),
        "measured": None if assumed else measured_under_load(profile.about),
    }


def measured_under_load(about: Mapping[str, Any], folder: Path = RESULTS) -> dict[str, Any] | None:
    """What `bench --load` measured of a profile's preset on the machine most like its own: `about`, and `rows` with
    `SHOWN` of each stack and load; plain decoding is one of the stacks. None where nothing was."""
    found = [plain(read_bytes(path)) for path in sorted(folder.glob("*/load.json"))]
    alike = [one for one in found if one["about"].get("preset") == about.get("preset")]
    if not alike:
        return None
    own = str(about.get("machine", ""))
    near = min(alike, key=lambda one: machine_distance(str(one["about"].get("machine", "")), own))
    return {"about": _where(near["about"]), "rows": [{key: row[key] for key in SHOWN} for row in near["rows"]]}


def _where(about: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(about.get(key, ""))[:160] for key in ("machine", "recorded")}


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    with suppress(StackError):  # levels without a spec, or in no common order
        return str(StackTable.of({row["load"]: row["stack"] for row in rows}))
    return ""


def _row(profile: Profile, row: AtLoad, assumed: bool) -> dict[str, Any]:
    computed = range(len(profile.levels)) if assumed else row.computed
    return {
        "load": row.load,
        **shown(profile, row.best),
        "rate": row.tokens_per_s,
        "plain": 1000.0 / row.answer.plain.prediction.ms_per_token,
        "left": [profile.names[i] for i in row.left],
        "computed": [profile.names[i] for i in computed],
    }
