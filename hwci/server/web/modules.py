# SPDX-License-Identifier: Apache-2.0
"""Joins the dashboard's modules into few files, as each file is a request that a page waits for.

This module decides which modules are one file, and which files a page loads at once. It shortens
nothing and leaves nothing out. It knows the few forms in which our modules import and export, and
refuses any other.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

HOME = "js/pages/metrics.js"
"""The page that people open first: it loads nothing that only others share."""

SHARED_WITH_HOME = "js/shared_with_home.js"
SHARED = "js/shared.js"
"""What several pages use, with `HOME` among them or not, and no page needs to begin."""

_NAMED = re.compile(r"""^(?:im|ex)port\b[^"';]*\bfrom ?["'](\.[^"']+)["']""", re.MULTILINE)
_IMPORT = re.compile(r'^import {([^}]+)} from "(\.[^"]+)";\n', re.MULTILINE)
_IMPORT_LATER = re.compile(r'\bimport\("(\.[^"]+)"\)')
_EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) ([\w$]+))", re.MULTILINE)
_EXPORT_AGAIN = re.compile(r"^export {([^}]+)};$", re.MULTILINE)
_OTHER_FORM = re.compile(
    r"""(?:^|;)[ \t]*import\s*(?:["'{*]|[\w$]+\s*(?:from\b|,\s*[{*])).*"""
    r"|(?:^|;)[ \t]*export\s*(?:[{*]|(?:default|let|var|const|class|function|async)\b).*"
    r"|^.*\bimport\s*(?:\(|\.\s*meta\b).*"
    r"|^(?![\s/*])(?!.*\basync\b).*\bawait\b.*",
    re.MULTILINE,
)
"""Other imports and exports than ours, and what waits before the module is there. What a line of a
text may begin with, as `export KEY=…` or Python's `import os`, is none of them.
"""

Sources = Mapping[str, str]


def joined(sources: Sources, begin: Sequence[str], apart: Collection[str]) -> dict[str, str]:
    """Return the files that are sent, by name; a module that nothing loads is in none.

    `begin`: the modules that each page begins with. Each is the name of a file: of itself and what
    it imports, but for what is in a file before. So is each module that is imported later, by
    `import(…)`; what several of those import is in one of the shared files. `apart`: modules that
    are sent as they are; they import no others. Raises ValueError for a circle of modules, a module
    or a name that is imported and not there, two modules of one name here, and a module of another
    form than ours.
    """
    _require_distinct(sources)
    _require_apart(apart, sources)
    owners = _owners(sources, begin, apart)
    members: dict[str, list[str]] = {}
    for name in _in_order(owners, sources):
        members.setdefault(owners.get(name, name), []).append(name)
    return {
        file: sources[file] if file in apart else _file(file, names, sources, owners)
        for file, names in members.items()
    }


def loaded_with(first: Iterable[str], sources: Sources) -> Sequence[str]:
    """Return the files that are loaded at once with the first ones, each once, in their order."""
    names: dict[str, None] = {}
    for name in first:
        names.update(dict.fromkeys(sorted(_in_order([name], sources))))
    return list(names)


def _owners(sources: Sources, begin: Sequence[str], apart: Collection[str]) -> Mapping[str, str]:
    later = {module for name in sources for module in _imported(name, _IMPORT_LATER, sources)}
    if whole := later.intersection(apart):
        raise ValueError(f"{', '.join(whole)} is sent as it is, and cannot be imported later")
    needed_by: dict[str, list[str]] = {}
    for entry in (*begin, *sorted(later)):
        for name in _in_order([entry], sources):
            needed_by.setdefault(name, []).append(entry)
    return {
        name: entries[0] if entries[0] in begin or len(entries) == 1 else _shared_file(entries)
        for name, entries in needed_by.items()
        if name not in apart
    }


def _shared_file(entries: Sequence[str]) -> str:
    return SHARED_WITH_HOME if HOME in entries else SHARED


def _require_distinct(sources: Sources) -> None:
    known: dict[str, str] = {}
    for name in sources:
        other = known.setdefault(_variable(name), name)
        if other != name:
            raise ValueError(f"{other} and {name} would both be {_variable(name)}: rename one")


def _require_apart(apart: Collection[str], sources: Sources) -> None:
    """Raise ValueError if a module sent as it is imports one without a file of its own."""
    for name in apart:
        named = (_imported(name, form, sources) for form in (_NAMED, _IMPORT_LATER))
        if others := set().union(*named).difference(apart):
            raise ValueError(
                f"{name} is sent as it is, and {', '.join(others)} is not: it cannot be imported"
            )


def _imported(name: str, form: re.Pattern[str], sources: Sources) -> list[str]:
    paths = [_beside(name, path) for path in form.findall(sources[name])]
    if missing := set(paths).difference(sources):
        raise ValueError(f"{name} imports {', '.join(missing)}: there is no such module")
    return paths


def _in_order(first: Iterable[str], sources: Sources) -> list[str]:
    """Return modules and all that they import, each after its imports, as a browser runs them."""
    done: dict[str, None] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other in a circle: {' > '.join((*above, name))}")
        if name not in done:
            for module in _imported(name, _NAMED, sources):
                add(module, (*above, name))
            done[name] = None

    for name in first:
        add(name, ())
    return list(done)


def _file(file: str, names: Sequence[str], sources: Sources, owners: Mapping[str, str]) -> str:
    """Write each module as a function of what it imports, so that it sees no other names."""
    imported = dict.fromkeys(
        _beside(name, path) for name in names for _, path in _IMPORT.findall(sources[name])
    )
    parts = (
        *(_import(name, file, owners) for name in imported if owners.get(name) != file),
        *(_function(name, file, sources, owners) for name in names),
        f"export {{ {', '.join(map(_variable, names))} }};\n",
    )
    return "".join(parts)


def _import(name: str, file: str, owners: Mapping[str, str]) -> str:
    what = f"{{ {_variable(name)} }}" if name in owners else f"* as {_variable(name)}"
    return f'import {what} from "{_path(owners.get(name, name), file)}";\n'


def _function(name: str, file: str, sources: Sources, owners: Mapping[str, str]) -> str:
    imports = [
        (_words(taken), _beside(name, path)) for taken, path in _IMPORT.findall(sources[name])
    ]
    for taken, target in imports:
        if missing := set(taken).difference(_exported(sources[target])):
            raise ValueError(f"{name} imports {', '.join(missing)}: {target} does not export that")
    parameters = ", ".join(f"{{ {', '.join(taken)} }}" for taken, _ in imports)
    arguments = ", ".join(_variable(target) for _, target in imports)
    return (
        f"const {_variable(name)} = (({parameters}) => {{\n"
        f"{_body(name, file, sources[name], owners)}\n"  # it may end with a comment
        f"return {{ {', '.join(_exported(sources[name]))} }};\n}})({arguments});\n"
    )


def _body(name: str, file: str, source: str, owners: Mapping[str, str]) -> str:
    def later(match: re.Match[str]) -> str:
        target = _beside(name, match[1])
        path = _path(owners[target], file)
        return f'import("{path}").then((file) => file.{_variable(target)})'

    body = _EXPORT.sub("", _IMPORT.sub("", source))
    if other := _OTHER_FORM.search(_IMPORT_LATER.sub("", body)):
        raise ValueError(
            f"{name}: a module of this form is not joined to others: {other[0].strip('; ')} "
            "(docs/adr/0014 lists them)"
        )
    return _IMPORT_LATER.sub(later, body)


def _exported(source: str) -> list[str]:
    again = (name for names in _EXPORT_AGAIN.findall(source) for name in _words(names))
    return [*_EXPORT.findall(source), *again]


def _words(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))


def _beside(name: str, path: str) -> str:
    """Return the module that another one names by this path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _path(name: str, file: str) -> str:
    path = posixpath.relpath(name, posixpath.dirname(file))
    return path if path.startswith(".") else f"./{path}"
