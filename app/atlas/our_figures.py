"""What was measured here of a system: a row of a shipped benchmark, else the totals of its recording. Nothing is typed
in beside a paper's figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.atlas.systems import System
from app.play.recordings import Recordings
from app.results.bundled_results import Bundled
from hsd_core.lab.bench.outputs import results
from hsd_core.lab.results.on_clock import OnClock
from hsd_core.lab.results.rawfile import read_raw


class OurFigures:
    """Looked up in the folder of the benchmarks and among the recordings, as they are now."""

    def __init__(self, folder: Path, recordings: Recordings) -> None:
        self._folder = folder
        self._reports: dict[str, Any] = {one["id"]: one["results"] for one in Bundled(folder).reports}
        self._runs = {one["name"]: one for one in recordings.menu() if not one["reason"]}

    def recorded(self, system: System) -> bool:
        """Whether its recording is one that can be shown."""
        return system.recording in self._runs

    def of(self, system: System) -> dict[str, Any] | None:
        """The gain over plain decoding, of which stack, where and how that was measured; None where nobody did.

        `low` and `high`: of its interval (95 %); None for a recording, which is one prompt. `clock`: whose it is where
        levels work at the same time, "reckoned" or "real"; "" where they do not.
        """
        return self._benched(system) or self._replayed(system)

    def _benched(self, system: System) -> dict[str, Any] | None:
        if system.measured is None or (report := self._report(system.measured.results)) is None:
            return None
        row = next((one for one in report["stacks"] if one["stack"] == system.measured.stack), None)
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
                "preset": about["preset"],
                "bench": system.measured.results,
            },
        }

    def _report(self, name: str) -> Any:
        """A benchmark's results: those of the Results tab, else what its raw runs give; None where there are none."""
        if name not in self._reports:
            raw = self._folder / name / "runs.jsonl"
            self._reports[name] = results(*read_raw(raw)) if raw.is_file() else None
        return self._reports[name]

    def _replayed(self, system: System) -> dict[str, Any] | None:
        run = self._runs.get(system.recording or "")
        if run is None or run["speed_up"] is None or run["clock"] == "simulated":
            return None
        return {
            **{"gain": run["speed_up"], "low": None, "high": None, "prompts": 1, "stack": run["stack"]},
            **{"clock": run["clock"], "machine": run["machine"], "preset": run["preset"], "bench": None},
        }
