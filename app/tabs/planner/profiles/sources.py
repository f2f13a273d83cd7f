"""Where the Planner's profiles come from: measured on this machine, or shipped with the page; each says which.

A *source* is `{"id", "title", "kind", "note", "preset", "profiles"}`: `kind` is measured | shipped | simulated, and
`profiles` holds one profile per temperature. Unreadable files are listed with their reason and no profiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from app.serve.offer import EVERYTHING, ServerOffer
from app.tabs.planner import words as says
from app.tabs.planner.profiles.plan_request import PlannerError, PlanQuestion, read
from app.tabs.planner.profiles.validations import nearest
from hsd_core.measure.whatif import DEFAULT
from hsd_core.stacks.presets import PRESETS
from hsd_core.theory.profiles.by_length import BY_LENGTH, presets_by_length
from hsd_core.theory.profiles.profile import ACCEPTANCES_FROM
from hsd_core.theory.profiles.profile_store import FARTHEST, cached_profiles, distance_to_here, quick_profile
from hsd_core.typed import plain

LARGEST_FILE = 400_000  # bytes
KINDS = ("measured", "shipped", "simulated")
HOW = "python -m hsd_core calibrate"
HOW_VALIDATE = "python -m hsd_core validate"
QUICK = "quick:"  # how the ids of sources begin that were measured in seconds
_VALIDATION = "-validation"


class Sources:
    """The profiles that there are. Read again at every opening of the tab: a calibration may just have ended."""

    def __init__(self, folder: Path, measured: Callable[[], list[dict[str, Any]]] | None = None) -> None:
        self._folder, self._whatif = folder, folder.parent / "whatif"
        self._measured = measured or measured_here

    def listing(self) -> dict[str, Any]:
        """`sources`, best first, the commands that make a profile and a validation, and the presets and devices that
        there are profiles by length of."""
        here = self._measured()
        whole = [source for source in here if not source["id"].startswith(QUICK)]
        # What was measured in seconds has few levels: the tab does not open with it.
        quick = [source for source in here if source not in whole]
        found = [*whole, *self._shipped(), *quick, *self._made_up()]
        by_length = presets_by_length(self._folder / BY_LENGTH.name)
        listed = [_checked(source) for source in found]
        return {"sources": listed, "how": HOW, "validate": HOW_VALIDATE, "by_length": by_length}

    def validation(self, asked: PlanQuestion) -> dict[str, Any]:
        """Of the validations that there are, the one nearest to the profile (`nearest`); {} if none fits."""
        return nearest((_json(path) for path in self._files() if path.stem.endswith(_VALIDATION)), asked.profile)

    def stamp(self) -> tuple[tuple[str, int], ...]:
        """Changes with the validations that there are."""
        return _stamp(path for path in self._files() if path.stem.endswith(_VALIDATION))

    def lengths_stamp(self) -> tuple[tuple[str, int], ...]:
        """Changes with the profiles by length that there are."""
        return _stamp(sorted((self._folder / BY_LENGTH.name).glob("*.json")))

    def _shipped(self) -> list[dict[str, Any]]:
        groups: dict[str, dict[str, Any]] = {}
        for path in self._files():
            if path.stem.endswith(_VALIDATION):
                continue
            stem = path.stem.split("-t")[0]
            entry = groups.setdefault(
                stem,
                {"id": f"shipped:{stem}", "title": stem, "kind": "shipped", "note": "", "preset": "", "profiles": []},
            )
            data = _json(path)
            if not isinstance(data, dict):
                entry["reason"] = says.unreadable(path.name)
                continue
            entry["profiles"].append(data)
            about = data.get("about")
            if isinstance(about, Mapping):
                entry["kind"] = "simulated" if about.get("simulated") else "shipped"
                entry["preset"] = str(about.get("preset", ""))
                entry["title"] = _title(about, stem)
                entry["note"] = said(about)
        return sorted(groups.values(), key=_unlike_here)

    def _made_up(self) -> list[dict[str, Any]]:
        """Profiles of stacks that nobody has weights for; they stand beside the folder of the shipped ones."""
        found = []
        for path in sorted(self._whatif.glob("*.json"), key=lambda path: (path.stem != DEFAULT, path.stem)):
            data = _json(path)
            about = data.get("about") if isinstance(data, dict) else None
            about = about if isinstance(about, Mapping) else {}
            source = {"id": f"whatif:{path.stem}", "title": _title(about, path.stem), "kind": "simulated"}
            parts = (("note", "{}"), ("source", says.SOURCE_OF_COSTS))
            note = " ".join(words.format(about[part]) for part, words in parts if about.get(part))
            reason = "" if about else says.unreadable(path.name)
            found.append({**source, "note": note, "profiles": [data] if about else [], "reason": reason})
        return found

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []


def measured_here(offer: ServerOffer = EVERYTHING) -> list[dict[str, Any]]:
    """The profiles that `calibrate` left in this machine's cache, one source per preset and target that is offered, and
    one for what was measured in seconds."""
    found = []
    for preset in (*PRESETS.values(), *offer.over()):
        name, dtype = preset.name, None if preset.toy else offer.dtype
        if profiles := cached_profiles(preset, offer.device, dtype):
            source = {"id": f"measured:{name}", "title": preset.title, "kind": "measured", "preset": name}
            found.append({**source, "note": said(profiles[0].about), "profiles": [p.as_dict() for p in profiles]})
        if quick := quick_profile(preset, offer.device, dtype):
            source = {"id": f"{QUICK}{name}", "title": says.quick(preset.title), "kind": "measured", "preset": name}
            found.append({**source, "note": said(quick.about), "profiles": [quick.as_dict()]})
    return found


def _stamp(paths: Iterable[Path]) -> tuple[tuple[str, int], ...]:
    return tuple((path.name, path.stat().st_mtime_ns) for path in paths)


def said(about: Mapping[str, Any]) -> str:
    """Where and when a profile was measured, in a few words."""
    parts = [about.get("machine"), about.get("device"), about.get("dtype"), about.get("recorded")]
    if isinstance(other := about.get(ACCEPTANCES_FROM), Mapping):
        parts.append(says.agreement(other.get("machine"), other.get("recorded")))
    return " · ".join(str(part)[:160] for part in parts if part)


def _unlike_here(source: Mapping[str, Any]) -> int:
    """Shipped profiles of machines like this one stand first."""
    about = source["profiles"][0].get("about") if source["profiles"] else None
    return distance_to_here(about) if isinstance(about, Mapping) else FARTHEST


def _title(about: Mapping[str, Any], stem: str) -> str:
    preset = PRESETS.get(str(about.get("preset", "")))
    return str(about.get("title") or (preset.title if preset else stem))[:120]


def _checked(source: dict[str, Any]) -> dict[str, Any]:
    good, reasons = [], [str(source["reason"])] if source.get("reason") else []
    for profile in source.get("profiles", []):
        try:
            good.append(read(profile).as_dict())
        except PlannerError as error:
            reasons.append(str(error))
    good.sort(key=lambda profile: float(profile.get("temperature", 0.0)))  # the tab opens with the first: greedy
    kind = source.get("kind")
    return {
        "id": str(source["id"]),
        "title": str(source.get("title", source["id"])),
        "kind": kind if kind in KINDS else "shipped",
        "note": str(source.get("note", "")),
        "preset": str(source.get("preset", "")),
        "profiles": good,
        "reason": "; ".join(reasons),
    }


def _json(path: Path) -> Any:
    try:
        return plain(path.read_bytes()) if path.stat().st_size <= LARGEST_FILE else None
    except (OSError, ValueError):
        return None
