"""What was measured here of a system: rows of shipped benchmarks, and the totals of its recording. Nothing is typed in
beside a paper's figure."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from app.tabs.atlas.systems import Measured, System
from app.tabs.explore.recordings import Recordings
from app.tabs.results.bundled_results import Bundled
from hsd_core.measure.bench.summary import results
from hsd_core.measure.rawfile import read_raw
from hsd_core.measure.tables import OnClock

log = logging.getLogger(__name__)


class OurFigures:
    """Looked up in the folder of the benchmarks and among the recordings, as they are now."""

    def __init__(self, folder: Path, recordings: Recordings) -> None:
        self._folder = folder
        self._reports: dict[str, Any] = {one["id"]: one["results"] for one in Bundled(folder).reports}
        self._runs = {one["name"]: one for one in recordings.menu() if not one["reason"]}

    def recorded(self, system: System) -> bool:
        """Whether its recording is one that can be shown."""
        return system.recording in self._runs

    def of(self, system: System) -> list[dict[str, Any]]:
        """Gains over plain decoding, each with its stack and where and how it was measured: those of benchmarks in the
        order of the card, then that of the recording. Empty where nobody measured it.

        `low` and `high`: of its interval (95 %); None for a recording, which is one prompt. `clock`: whose it is where
        levels work at the same time, "reckoned" or "real"; "" where they do not. `bench`: None for a recording.
        `title`: of a recording. `spared`: of a stack that is not exact, the share of tokens that are not the target's
        own choice; None for others.
        """
        found = [*map(self._benched, system.measured), self._replayed(system)]
        return [one for one in found if one is not None]

    def _benched(self, measured: Measured) -> dict[str, Any] | None:
        if (report := self._report(measured.results)) is None:
            return None
        row = next((one for one in report["stacks"] if one["stack"] == measured.stack), None)
        if row is None:
            return None
        low, high = row["interval"]
        about = report["about"]
        stack, clock = OnClock.read(row["stack"])
        return {
            **{"gain": row["speed_up"], "low": low, "high": high, "prompts": row["prompts"], "stack": stack},
            **{
                "clock": clock,
                "machine": about["machine"],
                "recorded": about["recorded"],
                "preset": about["preset"],
                "bench": measured.results,
                "title": "",
                "spared": (row.get("price") or {}).get("spared"),
            },
        }

    def _report(self, name: str) -> Any:
        """A benchmark by its folder: one that the Results tab shows, or the raw runs of one within a study."""
        if name not in self._reports:
            self._reports[name] = _raw(self._folder / name / "runs.jsonl")
        return self._reports[name]

    def _replayed(self, system: System) -> dict[str, Any] | None:
        run = self._runs.get(system.recording or "")
        if run is None or run["speed_up"] is None or run["clock"] == "simulated":
            return None
        return {
            **{"gain": run["speed_up"], "low": None, "high": None, "prompts": 1, "stack": run["stack"]},
            **{"clock": run["clock"], "machine": run["machine"], "recorded": run["recorded"]},
            **{"preset": run["preset"], "bench": None, "title": run["title"], "spared": run.get("spared")},
        }


def _raw(path: Path) -> dict[str, Any] | None:
    """The rows of a file of raw runs; None where it cannot be read."""
    try:
        about, records = read_raw(path)
    except (ValueError, OSError) as error:
        log.warning("the runs in %s are passed over: %s", path, error)
        return None
    return results(about, records) if about["kind"] == "bench" else None
