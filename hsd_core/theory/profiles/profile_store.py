"""Profiles measured on this machine, and the shipped ones. Needs no torch.

A profile holds for one preset on one device and dtype, one machine, one version of torch, one set of drafts and
databases. All of that is in its key: if anything changes, the machine is measured again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hsd_core.grammar.preset import Preset
from hsd_core.models import machine
from hsd_core.models.drafts.known_drafts import shipped
from hsd_core.models.machine import AVX512
from hsd_core.models.weights import Source, cache_folder
from hsd_core.stacks.presets import preset_of
from hsd_core.theory import Profile, ProfileError, read_profile
from hsd_core.typed import pretty, write_whole
from hsd_core.typed.program_files import ASSETS

FORMAT = 5  # version of the method; profiles of other versions are measured again
FOLDER = ASSETS / "profiles"
FARTHEST = 2
QUICK = "quick"  # `about["effort"]` of a profile measured in seconds, only for the levels of the default stack
_HEAD = 1 << 16  # first bytes of a file that identify it, with its size
MEASURED, SHIPPED, GIVEN = "measured", "shipped", "given"  # on this machine, with the package, by the user
ORIGIN = ("preset", "machine", "recorded", "device", "dtype", "effort")
BRIEF = ("version", "levels", "acceptance", "max_block", "edge_cost_ms", "temperature", "round_ms")


def cached_profile(
    preset: str | Preset, device: str | None = None, dtype: str | None = None, temperature: float = 0.0
) -> Profile | None:
    """The profile measured here for a preset's default levels, or None.

    Args:
        preset: its name, or the preset of another target.
        device, dtype: None for those that the preset is opened with.
        temperature: the nearest measured one is used, but never a sampled profile for greedy runs or the reverse.
    """
    return _nearest(cached_profiles(preset, device, dtype), temperature)


def quick_profile(preset: str | Preset, device: str | None = None, dtype: str | None = None) -> Profile | None:
    """The quick greedy profile of a preset's default stack measured here, or None."""
    if not _anything(preset):
        return None
    folder, name = _place(preset, device, dtype)
    return next(iter(readable_profiles([folder / _file(name, 0.0, QUICK)])), None)


def cached_profiles(preset: str | Preset, device: str | None = None, dtype: str | None = None) -> list[Profile]:
    """All profiles measured here for a preset's default levels, by ascending temperature. Arguments as above."""
    if not _anything(preset):
        return []
    folder, name = _place(preset, device, dtype)
    return sorted(readable_profiles(folder.glob(f"{name}-t*.json")), key=lambda profile: profile.temperature)


def store_profile(profile: Profile, preset: str | Preset, device: str, dtype: str) -> Path:
    """Writes a profile to the cache atomically.

    Raises:
        OSError: the cache cannot be written.
    """
    folder, name = _place(preset, device, dtype)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _file(name, profile.temperature, str(profile.about.get("effort", "")))
    write_whole(path, f"{pretty(profile.as_dict())}\n".encode())
    return path


def shipped_profile(
    preset: str, device: str = "cpu", temperature: float = 0.0, *, folder: Path = FOLDER, machine: str | None = None
) -> Profile | None:
    """The shipped profile of a preset, measured on another machine, or None.

    Files are named PRESET-DEVICE.json, with -MACHINE for several machines and -tT for sampled ones; the profiles of the
    most similar machine are used, `temperature` as for `cached_profile`.

    Args:
        machine: a description as in profiles and traces, instead of this machine's.
    """
    name = f"{preset.replace('/', '--')}-{device.partition(':')[0]}"
    found = readable_profiles([folder / f"{name}.json", *folder.glob(f"{name}-*.json")])
    here = _machine(device) if machine is None else machine
    for distance in range(FARTHEST + 1):
        near = (
            profile for profile in found if machine_distance(str(profile.about.get("machine", "")), here) == distance
        )
        if (nearest := _nearest(near, temperature)) is not None:
            return nearest
    return None


def shipped_profiles() -> list[Profile]:
    """All shipped profiles."""
    return readable_profiles(FOLDER.glob("*.json"))


def distance_to_here(about: Mapping[str, Any], device: str = "cpu") -> int:
    """The distance of a profile's machine to this one (see `machine_distance`)."""
    return machine_distance(str(about.get("machine", "")), _machine(device))


def machine_distance(one: str, other: str) -> int:
    """The distance of two described machines: 0 with the same description, 1 with the same instruction set for kernels
    (AVX-512 or not), else 2 (`FARTHEST`)."""
    return 0 if one == other else 1 if (AVX512 in one) == (AVX512 in other) else FARTHEST


def digest(profile: Profile) -> str:
    """A hash of the content of a profile."""
    text = json.dumps(profile.as_dict(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def origin(profile: Profile, source: str) -> dict[str, str]:
    """The origin of a profile: `source` (MEASURED, SHIPPED or GIVEN), and the machine and day of measurement."""
    origin = {key: profile.about.get(key) for key in ORIGIN}
    return {"source": source, **{key: value for key, value in origin.items() if isinstance(value, str)}}


def planning_origin(
    preset: str | Preset, device: str | None = None, temperature: float = 0.0, dtype: str | None = None
) -> dict[str, Any]:
    """The profile that a run would plan with, as in a trace's header: preset, machine, profile (None: there is
    none)."""
    preset = _known(preset)
    device = device or _default_device(preset)
    profile, source = cached_profile(preset, device, dtype, temperature), MEASURED
    if profile is None:
        profile, source = shipped_profile(preset.name, device, temperature), SHIPPED
    about = None if profile is None else {"about": origin(profile, source)}
    return {"preset": preset.name, "machine": _machine(device), "profile": about}


def header_profile(profile: Profile, source: str) -> dict[str, Any]:
    """The part of a profile in a trace's header: costs, acceptances, its digest and its origin."""
    full = profile.as_dict()
    kept = {key: full[key] for key in BRIEF if key in full}
    return {**kept, "digest": digest(profile), "about": origin(profile, source)}


def cache_key(preset: Preset, device: str, dtype: str) -> dict[str, Any]:
    """Everything that a profile depends on, as plain JSON types."""
    files = [*(draft.path for draft in shipped(preset.name)), preset.model_db, preset.text_db]
    sources = [preset.target, *preset.drafts]
    return {
        "format": FORMAT,
        "preset": preset.name,
        "device": device,
        "dtype": dtype,
        "machine": _machine(device),
        **{name: machine.versions().get(name, "") for name in ("torch", "onnxruntime")},  # whose kernels were timed
        "weights": [[source.id, [wheel.sha256 for wheel in source.wheels] or _files(source)] for source in sources],
        "files": {path.name: _mark(path) for path in files if path is not None},
    }


def _known(preset: str | Preset) -> Preset:
    return preset_of(preset) if isinstance(preset, str) else preset


def _files(source: Source) -> list[str]:
    """The identity of local weights; those of the Hub and of wheels are identified by their names."""
    path = Path(source.id)
    paths = {"folder": sorted(path.glob("*.safetensors")), "gguf": [path]}.get(source.kind, [])
    return [f"{one.name} {_mark(one)}" for one in paths]


def _place(preset: str | Preset, device: str | None, dtype: str | None) -> tuple[Path, str]:
    preset = _known(preset)
    device = device or _default_device(preset)
    key = json.dumps(cache_key(preset, device, dtype or _default_dtype(preset, device)), sort_keys=True)
    return _folder(), f"{preset.key}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _file(name: str, temperature: float, effort: str = "") -> str:
    return f"{name}-{effort or 't'}{temperature:g}.json"


def _anything(preset: str | Preset) -> bool:
    """Whether any profile of the preset is stored; a quick test, as computing the key may need torch on a GPU."""
    return any(path.name.startswith(f"{_known(preset).key}-") for path in _folder().glob("*.json"))


def profiles_stamp() -> tuple[tuple[str, int], ...]:
    """A stamp that changes with the stored and shipped profiles."""
    found = [path for where in (_folder(), FOLDER) for path in sorted(where.glob("*.json"))]
    return tuple((str(path), path.stat().st_mtime_ns) for path in found)


def _folder() -> Path:
    return cache_folder() / "profiles"


def _default_dtype(preset: Preset, device: str) -> str:
    dtype = preset.dtype(device)
    if device.startswith("cuda"):
        from hsd_core.models.gpu.precision import quick

        dtype = quick(dtype, device)
    return dtype


def _default_device(preset: Preset) -> str:
    return "cuda" if machine.has_cuda() and not preset.toy else "cpu"


def readable_profiles(paths: Iterable[Path]) -> list[Profile]:
    """The profiles of these files; damaged files are skipped."""
    found = []
    for path in sorted(paths):
        try:
            found.append(read_profile(path))
        except (OSError, ProfileError):
            continue
    return found


def _nearest(found: Iterable[Profile], temperature: float) -> Profile | None:
    """The profile of the nearest temperature, greedy or sampled like the given one."""
    alike = [profile for profile in found if (profile.temperature == 0.0) == (temperature == 0.0)]
    return min(alike, key=lambda profile: abs(profile.temperature - temperature), default=None)


def _machine(device: str) -> str:
    """Like `machine.describe`, but without torch for an accelerator too: by the names from its driver."""
    if not device.startswith("cuda"):
        return machine.describe(device)
    names = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model")]
    return ", ".join(names) or "cuda"


def _mark(path: Path) -> str:
    """A file's size and the digest of its first bytes, which contain its header."""
    try:
        with path.open("rb") as file:
            return f"{path.stat().st_size} {hashlib.sha256(file.read(_HEAD)).hexdigest()[:16]}"
    except OSError:
        return ""
