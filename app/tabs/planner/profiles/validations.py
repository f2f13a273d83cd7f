"""What `validate --summary` wrote for the page: which of the files stands for a profile, and what is drawn of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hsd_core.theory.profiles.profile import Profile
from hsd_core.theory.profiles.profile_store import digest, machine_distance

LARGEST_MS = 1e9
MOST_STACKS = 60
MOST_SITTINGS = 20
PLANNED_BY = "best"  # of the `picked_by`
VERSION = 2


def nearest(files: Iterable[Any], profile: Profile) -> dict[str, Any]:
    """The validation that says most of a profile: its own, else the latest of the machine most like the profile's.

    Args:
        files: the contents of each, parsed. Those of another preset or device are passed over, and greedy runs never
            stand for a sampled profile.
    Returns:
        See `measured_from`, and `machine`, on which the stacks ran; `elsewhere`, the profile's own machine where that
        is another; {} where none fits.
    """
    of, named = profile.about, digest(profile)
    own = str(of.get("machine") or "")[:120]
    found: list[tuple[bool, int, str, Mapping[str, Any], str]] = []
    for file in files:
        about = _about(file)
        if not about or not _alike(about, profile):
            continue
        machine = str(about.get("machine") or "")[:120]
        found.append(
            (about.get("profile_digest") == named, -machine_distance(machine, own), _named(file), file, machine)
        )
    if not found:
        return {}
    *_, file, machine = max(found, key=lambda one: one[:3])
    return {**measured_from(file), "machine": machine, "elsewhere": "" if machine == own else own}


def _about(file: Any) -> Mapping[str, Any]:
    about = file.get("about") if isinstance(file, Mapping) and file.get("version") == VERSION else None
    return about if isinstance(about, Mapping) else {}


def _alike(about: Mapping[str, Any], profile: Profile) -> bool:
    of, greedy = profile.about, about.get("temperature", 0.0) == 0.0
    return (
        bool(of.get("preset"))
        and about.get("preset") == of.get("preset")
        and about.get("device") == of.get("device", "cpu")
        and greedy == (profile.temperature == 0.0)
    )


def _named(file: Mapping[str, Any]) -> str:
    model = file.get("model")
    return str(model.get("named", "")) if isinstance(model, Mapping) else ""


def measured_from(data: Any) -> dict[str, Any]:
    """What `validate --summary` wrote; {} if it is something else."""
    if not isinstance(data, Mapping) or data.get("version") != VERSION:
        return {}
    model = data.get("model")
    model = model if isinstance(model, Mapping) else {}
    return {
        "stacks": _stacks(data.get("stacks")),
        "sittings": _sittings(data.get("sittings")),
        "model": str(model.get("said", ""))[:120],
        "named": str(model.get("named", ""))[:40],
        "earlier": _earlier(data.get("earlier")),
    }


def _earlier(parts: Any) -> list[dict[str, Any]]:
    """Validations before this one: each with its model, and all of its sittings together."""
    found: list[dict[str, Any]] = []
    for part in parts if isinstance(parts, list) else ():
        whole = _sittings([part])
        if not whole or len(found) == MOST_SITTINGS:
            continue
        said, named = str(part.get("said", ""))[:120], str(part.get("named", ""))[:40]
        found.append({**whole[0], "model": said, "named": named})
    return found


def _sittings(parts: Any) -> list[dict[str, Any]]:
    """Shares are of 1; `number` is None for all sittings together."""
    found: list[dict[str, Any]] = []
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, Mapping) or len(found) == MOST_SITTINGS:
            continue
        shares = {key: _share(part.get(key)) for key in ("ms", "worst_ms", "speed_ups", "worst_speed_ups")}
        pace, number = _figure(part.get("pace")), part.get("number")
        if pace is None or None in shares.values():
            continue
        one = isinstance(number, int) and not isinstance(number, bool)
        found.append(
            {"number": number if one else None, "began": str(part.get("began", ""))[:40], "pace": pace, **shares}
        )
    return found


def _stacks(rows: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, Mapping) or len(found) == MOST_STACKS:
            continue
        predicted, measured = _figure(row.get("predicted_ms")), _figure(row.get("measured_ms"))
        if predicted is None or measured is None:
            continue
        interval = row.get("interval")
        ends = [_figure(end) for end in interval] if isinstance(interval, list) else []
        whole = len(ends) == 2 and None not in ends
        stack = str(row.get("stack", ""))[:120]
        asked = row.get("picked_by")
        found.append(
            {
                "stack": stack,
                "predicted_ms": predicted,
                "measured_ms": measured,
                "interval": ends if whole else None,
                "picked": isinstance(asked, list) and PLANNED_BY in asked,
                "predicted_speed_up": _figure(row.get("predicted_speed_up")),
                "speed_up": _figure(row.get("speed_up")),
            }
        )
    return found


def _figure(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < LARGEST_MS else None


def _share(value: Any) -> float | None:
    return 0.0 if value == 0 and not isinstance(value, bool) else _figure(value)
