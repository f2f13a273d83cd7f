"""Profiles as JSON, cheapest level first, the target last.

    {"version": 1,
     "levels": [{"name": "m0", "cost_ms": {"1": 0.5, "8": 0.6}}, {"name": "target", "cost_ms": {"1": 9, "8": 12}}],
     "acceptance": [[1, 0.8], [0, 1]], "max_block": 16}

Of a level also: `spec`, `hit_rate`, `reach`, `draft_ms`, `interval_ms` ({"1": [low, high]}). Of a profile also:
`edge_cost_ms` ({"m0->target": {"4": 3.0}}), `interval` (as `acceptance`, [low, high] or null), `hit_rate` (by level
name), `temperature`, `round_ms`, `conditional` ({"m0->target": {"accepted": 0.9, ...}}), `by_rule`, `about`, `lengths`
({"limit": 40, "texts": 24, "ended": [7, 33]}).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hsd_core.theory.costs import Costs, ProfileError, number, probability
from hsd_core.theory.lengths import Lengths
from hsd_core.theory.profile import (
    VERSION,
    Conditional,
    Matrix,
    Pair,
    Profile,
    ProfileLevel,
    check_levels,
    check_matrix,
)

_KEYS = {
    "version", "levels", "acceptance", "max_block", "edge_cost_ms", "interval", "hit_rate", "temperature", "round_ms",
    "conditional", "by_rule", "about", "lengths",
}  # fmt: skip
_LEVEL_KEYS = {"name", "cost_ms", "spec", "hit_rate", "reach", "draft_ms", "interval_ms"}
_CONDITIONS = ("accepted", "residual", "bonus")
_CONDITIONAL_KEYS = {*_CONDITIONS, "by_position", "by_kind", "counts"}


def read_profile(path: str | Path) -> Profile:
    """A profile from a JSON file.

    Raises:
        ProfileError: it is no profile that we can read; the message names the file, the field and the cure.
        OSError: there is no such file.
    """
    try:
        return profile_from(json.loads(Path(path).read_text(encoding="utf-8")))
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ProfileError(f"{path}: no JSON ({error}); make a profile with the calibrate command") from None


def write_profile(profile: Profile, path: str | Path) -> None:
    """Write a profile as JSON."""
    Path(path).write_text(json.dumps(to_dict(profile), indent=1) + "\n", encoding="utf-8")


def profile_from(given: Any) -> Profile:
    """A profile from its JSON form.

    Raises:
        ProfileError: a field is missing, unknown or wrong.
    """
    given = _object(given, "the profile", _KEYS)
    version = given.get("version", VERSION)
    if version != VERSION or isinstance(version, bool):
        raise ProfileError(f"version is {version!r}; this program reads version {VERSION}: update it or calibrate anew")
    rates = _object(given.get("hit_rate", {}), "hit_rate")
    levels = tuple(_level(entry, i, rates) for i, entry in enumerate(_list(_needed(given, "levels"), "levels")))
    check_levels(levels)
    names = tuple(level.name for level in levels)
    if unknown := set(rates) - set(names):
        raise ProfileError(f"hit_rate names {min(unknown)!r}; levels are {', '.join(names)}")
    max_block = _whole(given.get("max_block", 16), "max_block")
    edges = _pairs(given.get("edge_cost_ms", {}), names, "edge_cost_ms")
    conditional = _pairs(given.get("conditional", {}), names, "conditional")
    by_rule = _object(given.get("by_rule", {}), "by_rule")
    return Profile(
        levels,
        _matrix(_needed(given, "acceptance"), names, "acceptance"),
        max_block,
        edge_cost={pair: Costs.read(value, f"edge_cost_ms {name}") for pair, name, value in edges},
        interval=_intervals(given.get("interval")),
        temperature=number(given.get("temperature", 0.0), "temperature"),
        round_ms=number(given.get("round_ms", 0.0), "round_ms"),
        conditional={pair: _conditional(value, f"conditional {name}") for pair, name, value in conditional},
        by_rule={rule: _matrix(matrix, names, f"by_rule {rule!r}") for rule, matrix in by_rule.items()},
        about=dict(_object(given.get("about", {}), "about")),
        lengths=_lengths(given["lengths"]) if "lengths" in given else None,
    )


def to_dict(profile: Profile) -> dict[str, Any]:
    """The JSON form; what holds its default is left out."""
    names = profile.names
    out: dict[str, Any] = {
        "version": VERSION,
        "levels": [_level_dict(level) for level in profile.levels],
        "acceptance": [list(row) for row in profile.acceptance],
        "max_block": profile.max_block,
        "temperature": profile.temperature,
        "round_ms": profile.round_ms,
    }
    if profile.interval is not None:
        out["interval"] = [[None if pair is None else list(pair) for pair in row] for row in profile.interval]
    if profile.edge_cost:
        out["edge_cost_ms"] = {_arrow(pair, names): costs.as_dict() for pair, costs in profile.edge_cost.items()}
    if profile.conditional:
        out["conditional"] = {_arrow(pair, names): _conditional_dict(c) for pair, c in profile.conditional.items()}
    if profile.by_rule:
        out["by_rule"] = {rule: [list(row) for row in matrix] for rule, matrix in profile.by_rule.items()}
    if profile.about:
        out["about"] = dict(profile.about)
    if profile.lengths is not None:
        out["lengths"] = {**asdict(profile.lengths), "ended": list(profile.lengths.ended)}
    return out


def _level(given: Any, at: int, rates: Mapping[str, Any]) -> ProfileLevel:
    given = _object(given, f"levels[{at}]", _LEVEL_KEYS)
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise ProfileError(f"levels[{at}]: name is missing; give each level its own")
    where = f"level {name!r}"
    if "cost_ms" not in given:
        raise ProfileError(f'{where}: cost_ms is missing; give ms by row count, such as {{"1": 0.5, "8": 0.6}}')
    spec = given.get("spec", "")
    if not isinstance(spec, str):
        raise ProfileError(f"{where}: spec is {spec!r}; write a level of the stack grammar, such as exit@at=8")
    rate = given.get("hit_rate", rates.get(name))
    draft_ms = given.get("draft_ms")
    reach = _list(given.get("reach", []), f"{where}: reach")
    return ProfileLevel(
        name,
        Costs.read(given["cost_ms"], f"{where}: cost_ms", given.get("interval_ms")),
        spec,
        None if rate is None else probability(rate, f"{where}: hit_rate"),
        tuple(probability(p, f"{where}: reach") for p in reach),
        None if draft_ms is None else number(draft_ms, f"{where}: draft_ms"),
    )


def _level_dict(level: ProfileLevel) -> dict[str, Any]:
    out: dict[str, Any] = {"name": level.name, "cost_ms": level.cost.as_dict()}
    optional = {
        "spec": level.spec or None,
        "hit_rate": level.hit_rate,
        "reach": list(level.reach) or None,
        "draft_ms": level.draft_ms,
        "interval_ms": level.cost.intervals_as_dict(),
    }
    return out | {key: value for key, value in optional.items() if value is not None}


def _conditional(given: Any, where: str) -> Conditional:
    given = _object(given, where, _CONDITIONAL_KEYS)
    plain = {k: probability(given[k], f"{where}: {k}") for k in _CONDITIONS if given.get(k) is not None}
    kinds = _object(given.get("by_kind", {}), f"{where}: by_kind")
    counts = _object(given.get("counts", {}), f"{where}: counts")
    return Conditional(
        **plain,
        by_position=tuple(probability(p, f"{where}: by_position") for p in _list(given.get("by_position", []), where)),
        by_kind={kind: probability(p, f"{where}: by_kind {kind}") for kind, p in kinds.items()},
        counts={key: int(number(n, f"{where}: counts {key}")) for key, n in counts.items()},
    )


def _conditional_dict(given: Conditional) -> dict[str, Any]:
    out: dict[str, Any] = {k: getattr(given, k) for k in _CONDITIONS if getattr(given, k) is not None}
    rest = {"by_position": list(given.by_position), "by_kind": dict(given.by_kind), "counts": dict(given.counts)}
    return out | {key: value for key, value in rest.items() if value}


def _lengths(given: Any) -> Lengths:
    given = _object(given, "lengths", {"limit", "texts", "ended"})
    ended = _list(given.get("ended", []), "lengths: ended")
    limit, texts, *tokens = (_whole(n, "lengths") for n in (_needed(given, "limit"), _needed(given, "texts"), *ended))
    return Lengths(limit, texts, tuple(tokens))


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ProfileError(f"{what} is {value!r}; use a whole number")
    return value


def _matrix(given: Any, names: tuple[str, ...], what: str) -> Matrix:
    """Entries at and below the diagonal are not read: they are 1 and 0 from here on."""
    rows = [_list(row, what) for row in _list(given, what)]
    if len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        check_matrix(tuple(tuple(row) for row in rows), names, what)
    return tuple(
        tuple(
            probability(x, f"{what} of {names[i]} by {names[j]}") if i < j else float(i == j)
            for j, x in enumerate(row)
        )
        for i, row in enumerate(rows)
    )  # fmt: skip


def _intervals(given: Any) -> tuple[tuple[tuple[float, float] | None, ...], ...] | None:
    def pair(entry: Any) -> tuple[float, float] | None:
        if entry is None or not isinstance(entry, Sequence):
            return None  # a diagonal is often written as a number
        if len(entry) != 2:
            raise ProfileError(f"interval has {entry!r}; use [low, high] or null")
        return probability(entry[0], "interval"), probability(entry[1], "interval")

    if given is None:
        return None
    return tuple(tuple(pair(entry) for entry in _list(row, "interval")) for row in _list(given, "interval"))


def _pairs(given: Any, names: tuple[str, ...], what: str) -> list[tuple[Pair, str, Any]]:
    out = []
    for arrow, value in _object(given, what).items():
        below, mark, above = arrow.partition("->")
        if not mark or below not in names or above not in names:
            raise ProfileError(f'{what} has {arrow!r}; write "drafter->verifier" with names of {", ".join(names)}')
        out.append(((names.index(below), names.index(above)), arrow, value))
    return out


def _arrow(pair: Pair, names: tuple[str, ...]) -> str:
    return f"{names[pair[0]]}->{names[pair[1]]}"


def _object(given: Any, what: str, keys: set[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ProfileError(f"{what} is no JSON object")
    if keys is not None and (unknown := [key for key in given if key not in keys]):
        raise ProfileError(f"{what} has the unknown field {unknown[0]!r}; fields are {', '.join(sorted(keys))}")
    return given


def _list(given: Any, what: str) -> Sequence[Any]:
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise ProfileError(f"{what} is no JSON list")
    return given


def _needed(given: Mapping[str, Any], key: str) -> Any:
    if key not in given:
        raise ProfileError(f"{key} is missing; a profile has levels and acceptance, its lengths a limit and texts")
    return given[key]
