"""`reference`: all declarations on one HTML page: grammar, commands, limits, endpoints, figures, trace.

The sections about the engine are generated here from its declarations; those about the page's server come from
`app.site.reference`, which is imported only when needed.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

from hsd_core import cli
from hsd_core.cli.options import writes
from hsd_core.cli.shared_options import command
from hsd_core.core.notes import known
from hsd_core.export.reference_page import Entry, Item, Section, anchor, page
from hsd_core.grammar import stack_text
from hsd_core.grammar.key import BOTTOM, DRAFTER, TOPMOST, VERIFIER, Choice, FileKey, Key, Share, Text, Whole
from hsd_core.grammar.keys import BLOCK, MAX_LEVELS
from hsd_core.grammar.kind import BELOW, LAST, Kind
from hsd_core.grammar.registry import keys, kinds, policies, rules, schedulers
from hsd_core.stacks.presets import PRESETS
from hsd_core.trace import metrics
from hsd_core.trace.schema import schema
from hsd_core.typed.program_files import page_module

STANDS = {BELOW: "below another level", LAST: "last"}
COUNTS = {
    VERIFIER: "at every level but the lowest",
    DRAFTER: "at every level but the last",
    BOTTOM: "at the lowest of several levels",
    TOPMOST: "at the last of several levels",
}
TRACE = "event"


def add(commands: Any) -> None:
    parser = command(commands, "reference", "all declarations on one HTML page", act)
    writes(parser, "--out FILE", "the page; it needs no other file and no network", required=True)


def act(options: argparse.Namespace) -> int:
    Path(options.out).write_text(text(), encoding="utf-8")
    print(f"{options.out}: open it in a browser", file=sys.stderr)
    return 0


def text() -> str:
    """The page. Imports torch, as the options of some commands need it."""
    grammar, commands, run = _grammar(), _commands(), _run()
    return page([*grammar, commands, *page_module("site.reference").sections(), *run])


def options_of(parser: argparse.ArgumentParser, *names: str) -> Iterator[Item]:
    """The arguments and options of a parser. names: the command, for the anchors."""
    if complete := getattr(parser, "complete", None):
        parser.complete = None  # type: ignore[attr-defined]
        complete()
    formatter = parser._get_formatter()
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        value = "" if action.nargs == 0 else formatter._format_args(action, _named(action))
        given = ", ".join(action.option_strings)
        help_text = formatter._expand_help(action) if action.help else ""
        of = f"one of {', '.join(map(str, action.choices))}" if action.choices and action.metavar else ""
        required = "required" if action.required and action.option_strings else ""
        shown = f"{given} {value}".strip()
        name = action.option_strings[-1] if action.option_strings else action.dest
        yield Item(shown, _joined(help_text, of, required), anchor("option", *names, name))


def _named(action: argparse.Action) -> str:
    if action.metavar:
        return str(action.metavar)
    if action.choices:
        return f"{{{','.join(map(str, action.choices))}}}"
    return action.dest.upper() if action.option_strings else action.dest


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _grammar() -> Iterator[Section]:
    yield Section(
        "The stack",
        "stack",
        stack_text.__doc__ or "",
        [
            Item("T", f"the block length, the most tokens that a level hands up at once: {BLOCK.low} to {BLOCK.high}"),
            Item("levels", f"at most {MAX_LEVELS}", code=False),
            Item("exactness", cleandoc(stack_text.stack_lossless.__doc__ or "").split("\n\n")[1], code=False),
        ],
    )
    yield Section("Levels", "levels", entries=[_kind(kind) for kind in kinds().values()])
    about = "Keys follow a level as `@key=value`. A key that has no effect at its level's position is kept."
    yield Section("Keys", "keys", about, entries=[_key(key) for key in keys().values()])
    yield Section("Rules", "rules", "How a verifier decides which drafted tokens to keep: `@rule=`.", entries=_rules())
    about = "When a level hands up its block: `@policy=`. A policy is asked before the next token is drawn."
    yield Section("Stop policies", "policies", about, entries=_policies())
    about = "Which levels work at the same time: `@with=` at the level that verifies."
    yield Section("Schedulers", "schedulers", about, entries=_schedulers())
    yield Section("Presets", "presets", "Models with one tokenizer: `--preset`.", entries=_presets())


def _kind(kind: Kind) -> Entry:
    place, written = kind.placement, kind.written
    facts = [
        Item("stands", STANDS.get(place.stands, "anywhere"), code=False),
        Item("verifies", "yes" if place.verifies else "no: it drafts", code=False),
        Item("letter", kind.look.letter, code=False),
    ]
    if place.stands != LAST:
        facts.insert(1, Item("T without a number", str(place.block), code=False))
    if written:
        facts.insert(0, Item("written", f"`{written.name}` with `@{written.key}={written.value}`", code=False))
    if kind.lookup.origins:
        found = ", ".join(f"`{one.letter}` {one.title}" for one in kind.lookup.origins)
        facts.append(Item("its tokens come from", found, code=False))
    usual = {key.name: key.usual for key in kind.keys}
    some = ", ".join(_link("key", key.name) + _usually(key, usual[key.name]) for key in kind.keys)
    facts.append(Item("keys", some or "none", code=False))
    return Entry(f"`{kind.name}` {kind.text.title}", anchor("level", kind.name), _kind_text(kind.text), facts)


def _kind_text(text: Any) -> str:
    return f"{_sentence(text.about)}\n\n{_sentence(text.help)}" if text.help != text.about else _sentence(text.about)


def _sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def _usually(key: Key[Any], usual: Any) -> str:
    """The default of the key for this kind, if it differs from the key's general default."""
    return "" if usual is None or usual == keys()[key.name].usual else f" (`{key.write(usual)}`)"


def _link(kind: str, name: str) -> str:
    return f"[{name}](#{anchor(kind, name)})"


def _key(key: Key[Any]) -> Entry:
    had = [kind.name for kind in kinds().values() if any(one.name == key.name for one in kind.keys)]
    facts = [Item("value", _values(key), code=False)]
    if key.usual is not None:
        usuals = [f"`{value}` with `{chosen}`" for chosen, value in key.usuals.items()]
        facts.append(Item("without it", ", ".join(usuals) or f"`{key.write(key.usual)}`", code=False))
    if key.counts:
        facts.append(Item("counts", COUNTS[key.counts], code=False))
    if key.when:
        what, some = key.when
        facts.append(Item("counts with", " or ".join(f"`@{what}={one}`" for one in some), code=False))
    if key.of:
        facts.append(Item("counts with", " or ".join(f"`@{one}=`" for one in key.of), code=False))
    if key.instead:
        facts.append(Item("instead of", _link("key", key.instead), code=False))
    for value, words in getattr(key, "words", {}).items():
        facts.append(
            Item(f"={value}", words.removeprefix(f"{value} · ")) if value else Item("left out", words, code=False)
        )
    facts.append(Item("levels", ", ".join(_link("level", name) for name in had) or "none", code=False))
    tips = [f"With `{chosen}`: {tip}." for chosen, tip in key.tips.items() if tip]
    return Entry(f"`@{key.name}=`", anchor("key", key.name), "\n\n".join(tips) or _sentence(key.tip), facts)


def _values(key: Key[Any]) -> str:
    if isinstance(key, Whole):
        return f"{key.low} or {key.high}" if key.type == "switch" else f"{key.low} to {key.high} {key.unit}".strip()
    if isinstance(key, Share):
        return f"{key.low:g} to {key.high:g}"
    if isinstance(key, Choice):
        return ", ".join(f"`{one}`" for one in key.choices)
    known: Sequence[str] = getattr(key, "known", ())
    words = f"; or {', '.join(f'`{one}`' for one in known)}" if known else ""
    if isinstance(key, FileKey):
        return key.cure.removeprefix("use ") or f"a file: {key.noun}{words}"
    return key.cure.removeprefix("use ") or ("a name" if isinstance(key, Text) else "a text") + words


def _rules() -> list[Entry]:
    found = []
    for rule in rules().values():
        facts = [
            Item("exact above temperature 0", "yes" if rule.lossless else "no", code=False),
            Item("judges trees", "yes" if rule.trees else "no: chains alone", code=False),
            *_own_keys(rule.keys),
        ]
        doc = pkgutil.resolve_name(rule.function).__doc__ or ""
        found.append(Entry(f"`{rule.name}`", anchor("rule", rule.name), _worded(rule.words, doc), facts))
    return found


def _policies() -> list[Entry]:
    found = [_registered("policy", one) for one in policies().values()]
    for kind in kinds().values():  # written as a policy
        if (written := kind.written) and written.key == "policy":
            facts = [Item("makes the level", _link("level", kind.name), code=False)]
            found.append(
                Entry(f"`{written.value}`", anchor("policy", written.value), _worded(written.words, ""), facts)
            )
    return found


def _schedulers() -> list[Entry]:
    return [_registered("scheduler", one) for one in schedulers().values()]


def _registered(what: str, one: Any) -> Entry:
    return Entry(
        f"`{one.name}`",
        anchor(what, one.name),
        _worded(one.words, getattr(one.make, "__doc__", "") or ""),
        _own_keys(one.keys),
    )


def _worded(words: str, doc: str) -> str:
    return (
        f"{_sentence(words.rpartition(' · ')[2])}\n\n{cleandoc(doc)}" if doc else _sentence(words.rpartition(" · ")[2])
    )


def _own_keys(some: Iterable[Key[Any]]) -> list[Item]:
    found = [
        f"{_link('key', key.name)}" + (f" (without it `{key.write(key.usual)}`)" if key.usual is not None else "")
        for key in some
    ]
    return [Item("keys", ", ".join(found), code=False)] if found else []


def _presets() -> list[Entry]:
    found = []
    for preset in PRESETS.values():
        facts = [Item("default stack", f"`{preset.default_stack}`", code=False)]
        facts += [Item("on a GPU", f"`{preset.gpu_stack}`", code=False)] if preset.gpu_stack else []
        facts += [Item("memory", f"{preset.memory_gb:g} GB", code=False)] if preset.memory_gb else []
        facts += [Item("licence", preset.licence, code=False)]
        found.append(
            Entry(f"`{preset.name}` {preset.title}", anchor("preset", preset.name), _sentence(preset.note), facts)
        )
    return found


def _commands() -> Section:
    parser, commands = cli.command_line()
    helps = {action.dest: action.help or "" for one in parser._actions for action in _listed(one)}
    entries = [
        Entry(f"`{name}`", anchor("command", name), _sentence(helps[name]), list(options_of(command_parser, name)))
        for name, command_parser in commands.items()
    ]
    about = (
        "`python -m hsd_core COMMAND`. Text goes to stdout, all else to stderr. Bad input gives one line that says "
        "what to do, and exit code 2."
    )
    return Section("Commands", "commands", about, entries=entries)


def _listed(action: argparse.Action) -> Sequence[Any]:
    return getattr(action, "_choices_actions", ())


def _run() -> Iterator[Section]:
    yield Section("Figures of a run", "figures", metrics.__doc__ or "")
    full = schema()
    parts: Mapping[str, Any] = full["$defs"]
    events = {ref["$ref"].rpartition("/")[2] for ref in full["anyOf"]}
    listed = [part_of(name, parts[name], TRACE) for name in parts if name in events]
    about = full["description"] + "\n\nOther programs read the same from `hsd_core/trace/schema.json`."
    yield Section("Events of a trace", "events", about, entries=listed)
    noted = {kind.__name__ for kind in known().values()}
    listed = [part_of(name, parts[name], "part") for name in parts if name not in events and name not in noted]
    yield Section("Parts of events", "parts", "Records inside events.", entries=listed)
    listed = [part_of(kind.__name__, parts[kind.__name__], "note", kind.note) for kind in known().values()]
    yield Section("Notes", "notes", "What one system adds to a draft or a verification: `notes`.", entries=listed)


def part_of(name: str, part: Mapping[str, Any], what: str, written: str = "", refers: str = "part") -> Entry:
    """An object of a JSON Schema. what: its kind, for the anchor. written: its name in a file. refers: the kind of the
    objects that its fields refer to."""
    shown = written or (name.lower() if what == TRACE else name)
    required = set(part.get("required", ()))
    fields = [
        Item(field, _typed(form, refers) + ("" if field in required else "; may be left out"))
        for field, form in part.get("properties", {}).items()
        if field != "event"
    ]
    return Entry(f"`{shown}`", anchor(what, shown), part.get("description", ""), fields)


def _typed(form: Mapping[str, Any], what: str) -> str:
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return f"[{name}](#{anchor(what, name)})"
    if "anyOf" in form:
        return " or ".join(_typed(one, what) for one in form["anyOf"])
    if "enum" in form:
        return " or ".join(f"`{one}`" for one in form["enum"])
    if form.get("type") == "array":
        inside = form.get("items") or {}
        return f"list of {_typed(inside, what)}" if inside else "list"
    if form.get("type") == "object" and isinstance(form.get("additionalProperties"), dict):
        return f"object of {_typed(form['additionalProperties'], what)}"
    names = {"integer": "whole number", "null": "null", "boolean": "true or false"}
    return names.get(str(form.get("type")), str(form.get("type", "any"))) + (
        f" ({form['description']})" if "description" in form else ""
    )
