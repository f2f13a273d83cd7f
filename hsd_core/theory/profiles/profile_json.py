"""Profiles as JSON, cheapest level first, the target last.

    {"version": 1,
     "levels": [{"name": "m0", "cost_ms": {"1": 0.5, "8": 0.6}}, {"name": "target", "cost_ms": {"1": 9, "8": 12}}],
     "acceptance": [[1, 0.8], [0, 1]], "max_block": 16}

Of a level also: `spec`, `hit_rate`, `reach`, `draft_ms`, `beside` ([1.9, 1.4]), `interval_ms` ({"1": [low, high]}),
`joint_ms` (by texts, then rows of each: {"1": {"1": 9, "8": 12}, "4": {"1": 12, "8": 40}}).
Of a profile also: `edge_cost_ms` ({"m0->target": {"4": 3.0}}), `interval` (as `acceptance`, [low, high] or null),
`hit_rate` (by level name), `temperature`, `round_ms`, `by_width` ({"m0->target": [0.8, 0.87]}), `by_rule`, `about`,
`lengths` ({"limit": 40, "texts": 24, "ended": [7, 33]}), `sure` ({"m0->target": {"margin": [[0.2, 0.95, 0.98]]}}).
Files of earlier versions may have `threads` and `contention`, which are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, field

from hsd_core.theory.profiles.costs import Costs, Form, ProfileError, row_count
from hsd_core.theory.profiles.profile import (
    VERSION,
    Matrix,
    Pair,
    Profile,
    ProfileLevel,
    SureShare,
    TextLengths,
    check_levels,
)
from hsd_core.typed import Int, Malformed, Wrong, convert, encode, plain, pretty
from hsd_core.typed.files import read_bytes

GivenCosts = dict[str, float] | float
GivenMatrix = Sequence[Sequence[float | None]]  # entries not above the diagonal are ignored
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
GivenIntervals = Sequence[Sequence[tuple[Share, Share] | float | None]]  # diagonals are often written as numbers
T = TypeVar("T")
MAX_BYTES = 20_000_000  # of a file
_NUMBERS = ("max_block", "temperature", "round_ms")  # optional fields of a profile
_ALIKE = ("acceptance", "interval", "by_rule", "about", "lengths")  # fields that are the same in JSON


class _Level(Form, frozen=True):
    name: str
    cost_ms: GivenCosts = field(default_factory=dict)
    spec: str = ""
    hit_rate: float | None = None
    reach: tuple[float, ...] = ()
    draft_ms: float | None = None
    beside: tuple[float, ...] = ()
    interval_ms: dict[str, list[float]] | None = None  # [low, high]
    joint_ms: dict[str, GivenCosts] = field(default_factory=dict)


class _Finer(Struct, frozen=True):
    """Acceptances of a pair in older files, where `by_width` was not a field of the profile; the rest is ignored."""

    by_width: tuple[float, ...] = ()


class _Profile(Form, frozen=True, kw_only=True):
    version: Int | None = None
    levels: list[Any]
    acceptance: GivenMatrix
    max_block: Int | None = None
    temperature: float | None = None
    round_ms: float | None = None
    interval: GivenIntervals | None = None
    edge_cost_ms: dict[str, Any] = field(default_factory=dict)
    by_width: dict[str, tuple[float, ...]] = field(default_factory=dict)
    sure: dict[str, dict[str, tuple[SureShare, ...]]] = field(default_factory=dict)
    conditional: dict[str, _Finer] = field(default_factory=dict)  # of older files
    by_rule: Mapping[str, GivenMatrix] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    lengths: TextLengths | None = None
    hit_rate: dict[str, float] = field(default_factory=dict)
    threads: Any = None  # of older files
    contention: Any = None  # of older files


def read_profile(path: str | Path) -> Profile:
    """A profile from a JSON file.

    Raises:
        ProfileError: it is not a readable profile; the message names the file, the field and what to do.
        OSError: there is no such file.
    """
    try:
        return profile_from(plain(read_bytes(path, MAX_BYTES)))
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from None
    except Malformed as error:
        raise ProfileError(f"{path}: no JSON ({error}); make a profile with the calibrate command") from None
    except ValueError as error:
        raise ProfileError(str(error)) from None


def write_profile(profile: Profile, path: str | Path) -> None:
    """Write a profile as JSON."""
    Path(path).write_text(pretty(_form(profile)) + "\n", encoding="utf-8")


def profile_from(given: Any) -> Profile:
    """A profile from its JSON form.

    Raises:
        ProfileError: a field is missing, unknown or wrong.
    """
    form = _read(given, _Profile, "")
    if form.version not in (None, VERSION):
        raise ProfileError(
            f"version is {form.version}; this program reads version {VERSION}: update it or calibrate again"
        )
    named = [level.get("name") if isinstance(level, dict) else None for level in form.levels]
    where = [f"level {name!r}" if isinstance(name, str) else f"levels[{i}]" for i, name in enumerate(named)]
    read = (_read(level, _Level, which) for level, which in zip(form.levels, where, strict=True))
    levels = tuple(_level(level, form.hit_rate) for level in read)
    check_levels(levels)
    names = tuple(level.name for level in levels)
    if unknown := form.hit_rate.keys() - set(names):
        raise ProfileError(f"hit_rate names {min(unknown)!r}; levels are {', '.join(names)}")
    given = {name: value for name in _NUMBERS if (value := getattr(form, name)) is not None}
    older = {pair: finer.by_width for pair, finer in form.conditional.items() if finer.by_width}
    return Profile(
        levels,
        _matrix(form.acceptance),
        edge_cost=_pairs(form.edge_cost_ms, names, "edge_cost_ms", Costs.read),
        interval=None
        if form.interval is None
        else tuple(tuple(pair if isinstance(pair, tuple) else None for pair in row) for row in form.interval),
        by_width=_pairs({**older, **form.by_width}, names, "by_width", lambda shares, _: shares),
        sure=_pairs(form.sure, names, "sure", lambda shares, _: shares),
        by_rule={rule: _matrix(matrix) for rule, matrix in form.by_rule.items()},
        about=form.about,
        lengths=form.lengths,
        **given,
    )


def to_dict(profile: Profile) -> dict[str, Any]:
    """The JSON form as plain types; defaults are omitted."""
    form: dict[str, Any] = plain(encode(_form(profile)))
    return form


def _form(profile: Profile) -> _Profile:
    def arrows(pairs: Mapping[Pair, Any]) -> dict[str, Any]:
        return {f"{profile.names[j]}->{profile.names[i]}": value for (j, i), value in pairs.items()}

    return _Profile(
        version=VERSION,
        levels=[
            _Level(
                x.name,
                x.cost.as_dict(),
                x.spec,
                x.hit_rate,
                x.reach,
                x.draft_ms,
                x.beside,
                x.cost.intervals_as_dict(),
                joint_as_dict(x.joint),
            )
            for x in profile.levels
        ],
        edge_cost_ms=arrows({pair: costs.as_dict() for pair, costs in profile.edge_cost.items()}),
        by_width=arrows(profile.by_width),
        sure=arrows(profile.sure),
        **{name: getattr(profile, name) for name in (*_NUMBERS, *_ALIKE)},
    )


def _read(given: Any, form: type[T], where: str) -> T:
    try:
        return convert(given, form)
    except Wrong as error:
        fields = f"; fields are {', '.join(form.__struct_fields__)}" if error.what.startswith("unknown") else ""  # type: ignore[attr-defined]
        text = error.what if error.what.startswith(error.where) else str(error)  # some messages name the field already
        raise ProfileError(f"{where + ': ' if where else ''}{text}{fields}") from None


def _level(form: _Level, rates: Mapping[str, float]) -> ProfileLevel:
    return ProfileLevel(
        form.name,
        Costs.read(form.cost_ms, f"level {form.name!r}: cost_ms", form.interval_ms),
        form.spec,
        rates.get(form.name) if form.hit_rate is None else form.hit_rate,
        form.reach,
        form.draft_ms,
        form.beside,
        joint_from(form.name, form.joint_ms),
    )


def joint_as_dict(joint: Mapping[int, Costs]) -> dict[str, GivenCosts]:
    """`ProfileLevel.joint` in JSON."""
    return {str(texts): costs.as_dict() for texts, costs in joint.items()}


def joint_from(name: str, given: Mapping[str, GivenCosts]) -> dict[int, Costs]:
    """The inverse of `joint_as_dict`. name: of the level, for errors.

    Raises:
        ProfileError: these are not costs by number of texts.
    """
    where = f"level {name!r}: joint_ms"
    return {row_count(n, f"{where}: texts"): Costs.read(ms, f"{where} of {n}") for n, ms in given.items()}


def _matrix(rows: GivenMatrix) -> Matrix:
    """The matrix with 1 and 0 at and below the diagonal; a missing entry above it becomes NaN, which is refused
    later."""
    return tuple(
        tuple(float(i == j) if j <= i else math.nan if x is None else x for j, x in enumerate(row))
        for i, row in enumerate(rows)
    )


def _pairs(given: Mapping[str, Any], names: tuple[str, ...], what: str, read: Callable[[Any, str], T]) -> dict[Pair, T]:
    out = {}
    for arrow, value in given.items():
        below, mark, above = arrow.partition("->")
        if not mark or below not in names or above not in names:
            raise ProfileError(f'{what} has {arrow!r}; write "drafter->verifier" with names of {", ".join(names)}')
        out[names.index(below), names.index(above)] = read(value, f"{what} {arrow}")
    return out
