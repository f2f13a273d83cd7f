"""A profile that is made up and says so, and a validation of it, for the Planner's tests."""

from __future__ import annotations

from typing import Any

HOSTILE = "<img src=x onerror=window.PWNED=1>"
STEM = "toy-cpu"


def made_up() -> dict[str, Any]:
    """Three tables of the toy preset with costs and acceptances that nobody measured."""

    def costs(first: float, more: float) -> dict[str, float]:
        return {str(n): first + more * (n - 1) for n in (1, 2, 4, 8, 16)}

    names = ("order1", "order3", "target")
    levels: list[dict[str, Any]] = [
        {"name": name, "cost_ms": costs(first, more), "spec": f"table@id={spec}"}
        for name, first, more, spec in zip(
            names, (1.0, 4.0, 32.0), (0.02, 0.1, 0.5), ("order1", "order3", "order6"), strict=True
        )
    ]
    levels[2]["interval_ms"] = {n: [0.9 * ms, 1.1 * ms] for n, ms in levels[2]["cost_ms"].items()}
    return {
        "version": 1,
        "levels": levels,
        "acceptance": [[1, 0.8, 0.68], [0, 1, 0.85], [0, 0, 1]],
        "interval": [[None, [0.78, 0.82], [0.65, 0.71]], [None, None, [0.83, 0.87]], [None, None, None]],
        "max_block": 16,
        "by_width": {"order3->target": [0.85, 0.9]},
        "about": {"preset": "toy", "device": "cpu", "simulated": True, "title": f"made up {HOSTILE}"},
    }


MEASURED: dict[str, Any] = {
    "version": 2,
    "about": {"preset": "toy", "device": "cpu", "machine": "made up", "temperature": 0.0},
    "model": {"name": "rows", "said": f"i.i.d. {HOSTILE}", "named": "2026-11-22 09:00 UTC"},
    "sittings": [
        {
            "number": 1,
            "began": "2026-11-22 09:01 UTC",
            "prompts": 12,
            "pace": 0.97,
            "ms": 0.06,
            "worst_ms": 0.09,
            "speed_ups": 0.03,
            "worst_speed_ups": 0.05,
        },
        {
            "number": 2,
            "began": "2026-11-22 12:00 UTC",
            "prompts": 12,
            "pace": 1.14,
            "ms": 0.12,
            "worst_ms": 0.2,
            "speed_ups": 0.05,
            "worst_speed_ups": 0.11,
        },
        {
            "number": None,
            "began": "2 sittings",
            "prompts": 24,
            "pace": 1.05,
            "ms": 0.09,
            "worst_ms": 0.2,
            "speed_ups": 0.04,
            "worst_speed_ups": 0.11,
        },
    ],
    "stacks": [
        {"stack": "target", "predicted_ms": 32.0, "measured_ms": 31.0, "interval": [30.0, 32.5]},
        {
            "stack": "table:4@id=order3,target",
            "predicted_ms": 20.0,
            "measured_ms": 22.0,
            "interval": [21.0, 23.0],
            "predicted_speed_up": 1.6,
            "speed_up": 1.41,
            "picked_by": ["2 levels"],
        },
    ],
}


def side_by_side() -> dict[str, Any]:
    """The tables under lookups that offer five sequences side by side, in few rows each."""
    given = made_up()
    lookups = {"name": "ngram@guess=5", "cost_ms": {"1": 0.2}, "spec": "ngram@guess=5", "hit_rate": 0.8}
    given["levels"].insert(0, {**lookups, "beside": [1.9, 1.6, 1.4, 1.2]})
    given["acceptance"] = [[1, 0.7, 0.75, 0.75], [0, 1, 0.8, 0.68], [0, 0, 1, 0.85], [0, 0, 0, 1]]
    return {key: value for key, value in given.items() if key not in ("interval", "by_width")}
