"""What a stack is called where it is read, "Lookups, then an 8-bit copy, then the model", and each of its levels:
"lookups", "8-bit copy", "the model".

The words are those of the kinds, keys, rules and policies (`hsd_core.grammar.kind`). On the page
`assets/js/shared/levels/stack-names.js` puts the same together; tests/stack_names.json holds for both.
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

_ASIDE = re.compile(r"\[.*?\]")  # of a form: what stands in sentences alone
_BRACKETS = str.maketrans("", "", "[]")
_BLOCK = "block"  # beside the keys' names in what a level was given


def stack_name(text: str) -> str:
    """The name of one stack; the text itself where it is none."""
    return stack_names([text])[text]


def stack_names(texts: Iterable[str]) -> Mapping[str, str]:
    """Names of stacks that stand together, by text. Where several would be called the same, parentheses say what tells
    them apart, shape and block lengths first, and no more than is needed; what a level has anyway is not said. That
    levels work at the same time is said of every stack: it is another run, not another size of one."""
    stacks = {text: _read(text) for text in texts}
    names = {text: _joined(stack, ()) if stack else text for text, stack in stacks.items()}
    alike: dict[str, list[str]] = {}
    for text, name in names.items():
        alike.setdefault(name, []).append(text)
    for group in alike.values():
        telling = _telling([[_told(spec) for spec in stacks[text]] for text in group])
        names |= {text: _joined(stacks[text], telling) for text in group if telling}
    return names


def level_phrase(spec: LevelSpec) -> str:
    """What a level is called within the name of its stack: "an 8-bit copy"."""
    return _phrase(spec)[0]


def level_name(spec: LevelSpec) -> str:
    """What a level is called by itself: "8-bit copy". How many candidates it offers is no part of it."""
    told = {name: value for name, value in _told(spec).items() if name == _BLOCK or not keys()[name].fans}
    return _filled(spec, _ASIDE.sub("", _form(spec, told)), told)


def full_level_name(spec: LevelSpec) -> str:
    """The same with how many candidates it offers and what stands beside it: "7 lookups at once"."""
    told = _told(spec)
    return _surrounded(spec, _filled(spec, _ASIDE.sub("", _form(spec, told)), told), told)


def level_names(text: str, labels: Sequence[str] = ()) -> Sequence[str]:
    """What the levels of a stack are called, cheapest first; of several by one name each has its number.

    Args:
        labels: of the levels, which are called by those where the text is no stack of that many.
    """
    names = [level_name(spec) for spec in _read(text)]
    if labels and len(names) != len(labels):
        return labels
    return [name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}" for i, name in enumerate(names)]


def _telling(group: Sequence[Sequence[Mapping[str, str]]]) -> list[str]:
    """The keys that tell stacks of one name apart, each of which leaves fewer of them alike."""
    chosen: list[str] = []
    for key in _order():
        if _kinds(group, [*chosen, key]) > _kinds(group, chosen):
            chosen.append(key)
    return chosen


def _kinds(group: Sequence[Sequence[Mapping[str, str]]], chosen: Sequence[str]) -> int:
    return len({tuple(told.get(key) for told in stack for key in chosen) for stack in group})


def _order() -> list[str]:
    """What may be told, in its order: the shape of a tree says its length too, so lengths stand behind it."""
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
        told = _told(spec)
        given = {key: told[key] for key in _order() if key in {WITH.name, *telling} and key in told and key not in used}
        notes = [_noted(spec, key, value, units) for key, value in given.items()]
        units += _BLOCK in given
        said, before = JOINTS["again"] if phrase == before else phrase, phrase
        parts.append(JOINTS["aside"].format(level=said, notes=", ".join(notes)) if notes else said)
    whole = JOINTS["then"].join(parts) if len(parts) > 1 else JOINTS["alone"].format(level=parts[0])
    named = "id" in _phrase(stack[0])[1] and whole.startswith(_term(stack[0], "id", _told(stack[0])["id"]))
    return whole if named else whole[0].upper() + whole[1:]


def _phrase(spec: LevelSpec) -> tuple[str, set[str]]:
    """A level's words, and the keys that they tell whole."""
    told = _told(spec)
    form = _form(spec, told).translate(_BRACKETS)
    return _surrounded(spec, _filled(spec, form, told), told), _slots(form)


def _surrounded(spec: LevelSpec, phrase: str, told: Mapping[str, str]) -> str:
    own = kind_of(spec).text.in_names.around
    around = {name: key.around for name, key in keys().items() if key.around} | dict(own)
    for key in keys():
        if key in told and key in around:
            phrase = around[key].format(level=phrase)
    return phrase


def _form(spec: LevelSpec, told: Mapping[str, str]) -> str:
    text = kind_of(spec).text
    return next(form for form in (*text.in_names.forms, text.title) if _slots(form) <= told.keys())


def _filled(spec: LevelSpec, form: str, told: Mapping[str, str]) -> str:
    return form.format(**{key: _term(spec, key, told[key]) for key in _slots(form)})


def _slots(form: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(form) if name}


def _told(spec: LevelSpec) -> dict[str, str]:
    """What a level was given and would not have anyway, as written: its block length, and the keys that count."""
    own, told = kind_of(spec), {}
    if own.placement.stands != LAST and not spec.widths:
        told[_BLOCK] = str(spec.block or own.placement.block)
    for name, key in keys().items():
        value = spec.values.get(name)
        if value is not None and _counts(spec, key) and spec.having(**{name: None}).get(key) != value:
            told[name] = key.write(value)
    if own.written:
        told.pop(own.written.key, None)
    return told


def _counts(spec: LevelSpec, key: Key[Any]) -> bool:
    heeds_it = key.when and any(own.name == key.when[0] for own in kind_of(spec).keys)
    if key.when and heeds_it and spec.get(keys()[key.when[0]]) not in key.when[1]:
        return False
    return not key.of or any(spec.get(keys()[other]) for other in key.of)


def _term(spec: LevelSpec, key: str, value: str) -> str:
    known = {**keys()[key].terms, **kind_of(spec).text.in_names.terms}
    return known.get(value, value.rsplit("/", 1)[-1])


def _noted(spec: LevelSpec, key: str, value: str, units: int) -> str:
    """What is told of a key; of block lengths the first one has a unit."""
    if key != _BLOCK:
        return keys()[key].note.replace("{}", _term(spec, key, value))
    return value if units else JOINTS["token" if value == "1" else "tokens"].format(n=value)
