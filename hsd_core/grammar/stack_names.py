"""Names of stacks for readers, "Lookups, then an 8-bit copy, then the model", and of their levels: "lookups",
"8-bit copy", "the model".

The texts are those of the kinds, keys, rules and policies (`hsd_core.grammar.kind`). On the page
`assets/js/shared/levels/stack-names.js` does the same; tests/stack_names.json is the test of both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

from hsd_core.grammar import LevelSpec, StackError, keys, kind_of
from hsd_core.grammar.key import Key
from hsd_core.grammar.keys import GROW, WITH
from hsd_core.grammar.kind import JOINTS, LAST
from hsd_core.grammar.stack_text import parse

_ASIDE = re.compile(r"\[.*?\]")  # the part of a form for sentences only
_BRACKETS = str.maketrans("", "", "[]")
_BLOCK = "block"  # among the names of keys in `_given`


def stack_name(text: str) -> str:
    """The name of one stack; the text itself if it is not a stack."""
    return stack_names([text])[text]


def stack_names(texts: Iterable[str]) -> Mapping[str, str]:
    """Names of stacks in one list, by text. Stacks with equal names get what tells them apart in parentheses, shape and
    block lengths first, as few as possible and without defaults. Overlapping levels are always named, because such a
    stack runs otherwise."""
    stacks = {text: _read(text) for text in texts}
    names = {text: _joined(stack, ()) if stack else text for text, stack in stacks.items()}
    alike: dict[str, list[str]] = {}
    for text, name in names.items():
        alike.setdefault(name, []).append(text)
    for group in alike.values():
        telling = _telling([[_given(spec) for spec in stacks[text]] for text in group])
        names |= {text: _joined(stacks[text], telling) for text in group if telling}
    return names


def level_name(spec: LevelSpec) -> str:
    """A level's name by itself, without its number of candidates: "8-bit copy"."""
    given = {name: value for name, value in _given(spec).items() if name == _BLOCK or not keys()[name].fans}
    return _filled(spec, _ASIDE.sub("", _form(spec, given)), given)


def full_level_name(spec: LevelSpec) -> str:
    """A level's name by itself, with its number of candidates: "7 lookups at once"."""
    given = _given(spec)
    return _surrounded(spec, _filled(spec, _ASIDE.sub("", _form(spec, given)), given), given)


def level_names(text: str, labels: Sequence[str] = ()) -> Sequence[str]:
    """The names of a stack's levels, cheapest first, numbered where they are equal.

    Args:
        labels: names to use if the text is not a stack of that many levels.
    """
    names = [level_name(spec) for spec in _read(text)]
    if labels and len(names) != len(labels):
        return labels
    return [name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}" for i, name in enumerate(names)]


def _telling(group: Sequence[Sequence[Mapping[str, str]]]) -> list[str]:
    """The keys that tell stacks of one name apart; each makes the number of different ones larger."""
    chosen: list[str] = []
    for key in _order():
        if _kinds(group, [*chosen, key]) > _kinds(group, chosen):
            chosen.append(key)
    return chosen


def _kinds(group: Sequence[Sequence[Mapping[str, str]]], chosen: Sequence[str]) -> int:
    return len({tuple(given.get(key) for given in stack for key in chosen) for stack in group})


def _order() -> list[str]:
    """The names of keys in the order of notes; block lengths follow a tree's shape, which includes its depth."""
    at = [*keys()].index(GROW.name) + 1
    return [*[*keys()][:at], _BLOCK, *[*keys()][at:]]


def _read(text: str) -> tuple[LevelSpec, ...]:
    try:
        return parse(text)
    except StackError:
        return ()


def _joined(stack: Sequence[LevelSpec], telling: Collection[str]) -> str:
    parts: list[str] = []
    units, before = 0, ""
    for spec in stack:
        phrase, used = _phrase(spec)
        given = _given(spec)
        noting = {WITH.name, *telling} - used
        noted = {key: given[key] for key in _order() if key in noting and key in given}
        notes = [_noted(spec, key, value, units) for key, value in noted.items()]
        units += _BLOCK in noted
        said, before = JOINTS["again"] if phrase == before else phrase, phrase
        parts.append(JOINTS["aside"].format(level=said, notes=", ".join(notes)) if notes else said)
    whole = JOINTS["then"].join(parts) if len(parts) > 1 else JOINTS["alone"].format(level=parts[0])
    named = "id" in _phrase(stack[0])[1] and whole.startswith(_term(stack[0], "id", _given(stack[0])["id"]))
    return whole if named else whole[0].upper() + whole[1:]


def _phrase(spec: LevelSpec) -> tuple[str, set[str]]:
    """A level's name in a stack, and the keys whose values are in it."""
    given = _given(spec)
    form = _form(spec, given).translate(_BRACKETS)
    return _surrounded(spec, _filled(spec, form, given), given), _slots(form)


def _surrounded(spec: LevelSpec, phrase: str, given: Mapping[str, str]) -> str:
    own = kind_of(spec).text.in_names.around
    around = {name: key.around for name, key in keys().items() if key.around} | dict(own)
    for key in keys():
        if key in given and key in around:
            phrase = around[key].format(level=phrase)
    return phrase


def _form(spec: LevelSpec, given: Mapping[str, str]) -> str:
    text = kind_of(spec).text
    return next(form for form in (*text.in_names.forms, text.title) if _slots(form) <= given.keys())


def _filled(spec: LevelSpec, form: str, given: Mapping[str, str]) -> str:
    return form.format(**{key: _term(spec, key, given[key]) for key in _slots(form)})


def _slots(form: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(form) if name}


def _given(spec: LevelSpec) -> dict[str, str]:
    """The given values, as written, that are not defaults and have an effect, and the block length."""
    own, given = kind_of(spec), {}
    if own.placement.stands != LAST and not spec.widths:
        given[_BLOCK] = str(spec.block or own.placement.block)
    for name, key in keys().items():
        value = spec.values.get(name)
        if value is not None and _counts(spec, key) and spec.having(**{name: None}).get(key) != value:
            given[name] = key.write(value)
    if own.written:
        given.pop(own.written.key, None)
    return given


def _counts(spec: LevelSpec, key: Key[Any]) -> bool:
    heeds_it = key.when and any(own.name == key.when[0] for own in kind_of(spec).keys)
    if key.when and heeds_it and spec.get(keys()[key.when[0]]) not in key.when[1]:
        return False
    return not key.of or any(spec.get(keys()[other]) for other in key.of)


def _term(spec: LevelSpec, key: str, value: str) -> str:
    known = {**keys()[key].terms, **kind_of(spec).text.in_names.terms}
    return known.get(value, value.rsplit("/", 1)[-1])


def _noted(spec: LevelSpec, key: str, value: str, units: int) -> str:
    """The note for the value of a key; only the first block length has a unit."""
    if key != _BLOCK:
        return keys()[key].note.replace("{}", _term(spec, key, value))
    return value if units else JOINTS["token" if value == "1" else "tokens"].format(n=value)
