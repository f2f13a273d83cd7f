"""The page's ES modules as one script without imports, for a file that is opened from a disk: a browser loads no module
from there.

Every module becomes a function that is called once, in the order in which they depend on one another, and gives what
it exports. Of a module that needs it in turn, it gets functions alone, which look there when they are called. The
modules are ours, so the few forms of `import` and `export` that they use are known; another is refused. Comments on
lines of their own, a fifth of what is sent, are left out. The outcome may stand inside a `<script>`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_IMPORT = re.compile(r'^import\s+(?:(?P<what>\*\s+as\s+\w+|\{[^}]*\})\s+from\s+)?"(?P<path>[^"]+)";?[ \t]*$', re.M)
_FROM = re.compile(r'^export\s+\{(?P<names>[^}]*)\}\s+from\s+"(?P<path>[^"]+)";?[ \t]*$', re.M)
_LIST = re.compile(r"^export\s+\{(?P<names>[^}]*)\};?[ \t]*$", re.M)
_OWN = re.compile(r"^export\s+(?=(?:const|class|(?:async\s+)?function\*?)\s+(?P<name>[\w$]+))", re.M)
_FUNCTION = re.compile(r"^export\s+(?:async\s+)?function\s+([\w$]+)", re.M)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.M | re.S)  # that has its lines to itself
_LEFT = re.compile(r"^[ \t]*(?:import\s*[\w{*\"']|export\b).*$", re.M)
_NAME = re.compile(r"^(?P<name>[\w$]+)(?:\s+as\s+(?P<other>[\w$]+))?$")
_ENDS = re.compile(r"<(?=/script|script|!--)", re.I)  # what would end the script that it stands in, or nest another


class BundleError(ValueError):
    """Modules that cannot be put into one script; the message says which and why."""


class Module(NamedTuple):
    """A module of a bundle: the statement that keeps what it exports in `$`, and the names of that."""

    text: str
    exports: tuple[str, ...]


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """One script that does what loading a module does.

    Args:
        entry: path of the module, such as "js/tabs/explore/explore.js".
        read: gives the text of the module at a path.
    Raises:
        BundleError: an import or export is not understood, or modules that need one another share more than functions.
    """
    return script(modules([entry], read))


def modules(entries: Sequence[str], read: Callable[[str], str]) -> dict[str, Module]:
    """These modules and all that they import, by path, in the order in which they are to run. As `bundle` otherwise."""
    order: dict[str, Module] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in order or path in above:
            return
        module, needed = _module(path, read, (*above, path))
        for other in needed:
            visit(other, (*above, path))
        order[path] = module

    for entry in entries:
        visit(entry, ())
    return order


def script(order: Mapping[str, Module]) -> str:
    """Modules as one script; what each exports is kept in `$`, by its path."""
    return _ENDS.sub(r"\\x3c", '"use strict";\nconst $ = {};\n' + "\n".join(one.text for one in order.values()))


def _module(path: str, read: Callable[[str], str], waiting: Sequence[str]) -> tuple[Module, list[str]]:
    """A module, and those that it needs. `waiting`: those that come only after it, itself the last."""
    text = _COMMENT.sub("", read(path))
    needed: list[str] = []
    exported: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        needed.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), found["path"])))
        return f'$["{needed[-1]}"]'

    def imported(found: re.Match[str]) -> str:
        name, what = other(found), found["what"]
        if what is None:
            return ""
        later = needed[-1] in waiting
        if what.startswith("*"):
            if later:
                raise BundleError(f"{path}: imports all of {needed[-1]}, which needs it in turn; name the functions")
            return f"const {what.split()[-1]} = {name};"
        pairs = _names(path, what[1:-1])
        if not later:
            return f"const {{ {', '.join(a if a == b else f'{a}: {b}' for a, b in pairs)} }} = {name};"
        functions = set(_FUNCTION.findall(read(needed[-1])))
        if wrong := [a for a, _ in pairs if a not in functions]:
            raise BundleError(
                f"{path}: {wrong[0]} of {needed[-1]}, which needs it in turn, is not an exported function"
            )
        return " ".join(f"const {b} = (...given) => {name}.{a}(...given);" for a, b in pairs)

    def handed_on(found: re.Match[str]) -> str:
        name = other(found)
        if needed[-1] in waiting:
            raise BundleError(f"{path}: hands on what is in {needed[-1]}, which needs it in turn; import it from there")
        exported.update((b, f"{name}.{a}") for a, b in _names(path, found["names"]))
        return ""

    def listed(found: re.Match[str]) -> str:
        exported.update((b, a) for a, b in _names(path, found["names"]))
        return ""

    def own(found: re.Match[str]) -> str:
        exported[found["name"]] = found["name"]
        return ""

    for form, becomes in ((_FROM, handed_on), (_LIST, listed), (_OWN, own), (_IMPORT, imported)):
        text = form.sub(becomes, text)
    if left := _LEFT.search(text):
        raise BundleError(f"{path}: {left.group().strip()[:80]!r} is not a form of import or export that is known here")
    given = ", ".join(name if name == value else f"{name}: {value}" for name, value in exported.items())
    return Module(f'$["{path}"] = (() => {{\n{text}\nreturn {{ {given} }};\n}})();', tuple(exported)), needed


def _names(path: str, listed: str) -> list[tuple[str, str]]:
    """ "a, b as c" as pairs: what something is called there, and here."""
    pairs = []
    for part in filter(None, (one.strip() for one in listed.split(","))):
        found = _NAME.match(part)
        if found is None:
            raise BundleError(f"{path}: {part[:80]!r} is not a name to import or export")
        pairs.append((found["name"], found["other"] or found["name"]))
    return pairs
