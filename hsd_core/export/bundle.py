"""The page's ES modules as one script without imports, for a file opened from a disk, where browsers load no modules.

Every module becomes a function that is called once, in the order of dependence, and returns its exports. In a cycle of
imports only functions can be imported; they are looked up when they are called. Only the forms of `import` and
`export` that our modules use are supported, others are refused. Comment lines, a fifth of the text, are removed. The
result may be put inside a `<script>`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_IMPORT = re.compile(r'^import\s+(?:(?P<what>\*\s+as\s+\w+|\{[^}]*\})\s+from\s+)?"(?P<path>[^"]+)";?[ \t]*$', re.M)
_FROM = re.compile(r'^export\s+\{(?P<names>[^}]*)\}\s+from\s+"(?P<path>[^"]+)";?[ \t]*$', re.M)
_LIST = re.compile(r"^export\s+\{(?P<names>[^}]*)\};?[ \t]*$", re.M)
_DECLARED = re.compile(r"^export\s+(?=(?:const|class|(?:async\s+)?function\*?)\s+(?P<name>[\w$]+))", re.M)
_FUNCTION = re.compile(r"^export\s+(?:async\s+)?function\s+([\w$]+)", re.M)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.M | re.S)  # on lines without code
_LEFT = re.compile(r"^[ \t]*(?:import\s*[\w{*\"']|export\b).*$", re.M)
_NAME = re.compile(r"^(?P<name>[\w$]+)(?:\s+as\s+(?P<other>[\w$]+))?$")
_ENDS = re.compile(r"<(?=/script|script|!--)", re.I)  # would end the enclosing script element or nest another


class BundleError(ValueError):
    """Modules cannot be put into one script; the message says which and why."""


class Module(NamedTuple):
    """A module of a bundle: the statement that stores its exports in `$`, and their names."""

    text: str
    exports: tuple[str, ...]


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """One script with the effect of loading a module.

    Args:
        entry: path of the module, such as "js/tabs/explore/explore.js".
        read: returns the text of the module at a path.
    Raises:
        BundleError: an import or export is not supported, or modules in a cycle share more than functions.
    """
    return script(modules([entry], read))


def modules(entries: Sequence[str], read: Callable[[str], str]) -> dict[str, Module]:
    """These modules and all that they import, by path, in the order of execution; otherwise like `bundle`."""
    order: dict[str, Module] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in order or path in above:
            return
        module, imports = _module(path, read, (*above, path))
        for other in imports:
            visit(other, (*above, path))
        order[path] = module

    for entry in entries:
        visit(entry, ())
    return order


def script(order: Mapping[str, Module]) -> str:
    """Modules as one script, which stores the exports of each in `$` by path."""
    return _ENDS.sub(r"\\x3c", '"use strict";\nconst $ = {};\n' + "\n".join(one.text for one in order.values()))


def _module(path: str, read: Callable[[str], str], waiting: Sequence[str]) -> tuple[Module, list[str]]:
    """A module, and the modules that it imports. `waiting`: those that are executed after it, itself the last."""
    text = _COMMENT.sub("", read(path))
    imports: list[str] = []
    exported: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        imports.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), found["path"])))
        return f'$["{imports[-1]}"]'

    def imported(found: re.Match[str]) -> str:
        name, what = other(found), found["what"]
        if what is None:
            return ""
        later = imports[-1] in waiting
        if what.startswith("*"):
            if later:
                raise BundleError(f"{path}: imports all of {imports[-1]}, which imports it in turn; name the functions")
            return f"const {what.split()[-1]} = {name};"
        pairs = _names(path, what[1:-1])
        if not later:
            return f"const {{ {', '.join(a if a == b else f'{a}: {b}' for a, b in pairs)} }} = {name};"
        functions = set(_FUNCTION.findall(read(imports[-1])))
        if wrong := [a for a, _ in pairs if a not in functions]:
            raise BundleError(
                f"{path}: {wrong[0]} of {imports[-1]}, which imports it in turn, is not an exported function"
            )
        return " ".join(f"const {b} = (...given) => {name}.{a}(...given);" for a, b in pairs)

    def re_exported(found: re.Match[str]) -> str:
        name = other(found)
        if imports[-1] in waiting:
            raise BundleError(f"{path}: re-exports from {imports[-1]}, which imports it in turn; import it from there")
        exported.update((b, f"{name}.{a}") for a, b in _names(path, found["names"]))
        return ""

    def listed(found: re.Match[str]) -> str:
        exported.update((b, a) for a, b in _names(path, found["names"]))
        return ""

    def declared(found: re.Match[str]) -> str:
        exported[found["name"]] = found["name"]
        return ""

    for form, becomes in ((_FROM, re_exported), (_LIST, listed), (_DECLARED, declared), (_IMPORT, imported)):
        text = form.sub(becomes, text)
    if left := _LEFT.search(text):
        raise BundleError(f"{path}: {left.group().strip()[:80]!r} is not a supported form of import or export")
    given = ", ".join(name if name == value else f"{name}: {value}" for name, value in exported.items())
    return Module(f'$["{path}"] = (() => {{\n{text}\nreturn {{ {given} }};\n}})();', tuple(exported)), imports


def _names(path: str, listed: str) -> list[tuple[str, str]]:
    """ "a, b as c" as pairs of the names there and here."""
    pairs = []
    for part in filter(None, (one.strip() for one in listed.split(","))):
        found = _NAME.match(part)
        if found is None:
            raise BundleError(f"{path}: {part[:80]!r} is not a name to import or export")
        pairs.append((found["name"], found["other"] or found["name"]))
    return pairs
