# SPDX-License-Identifier: Apache-2.0
"""How the house is furnished, in figures: `python -m tests.figures` prints them, and
`test_figures.py` holds them to their limits.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hwci"
VAGUE = {"one", "found", "asked", "kept", "said", "given", "told", "of", "it"}
"""Names that say nothing of what they are bound to."""
FIELDS_LEAST = 3
"""Fewer fields are shared by chance."""
WORDS_LEAST = 4
_SCRIPTS = PACKAGE / "server/web/static/js"
GENERATED = _SCRIPTS / "words.js"
_OTHERS = ("engine", "analysis", "server")


class Fields(NamedTuple):
    """The fields that a class declares, each with its name and kind."""

    place: str
    fields: frozenset[tuple[str, str]]


def modules() -> Mapping[Path, ast.Module]:
    """Return the modules of the package."""
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def classes(trees: Mapping[Path, ast.Module], *rooms: str) -> list[Fields]:
    """Return the classes of some rooms that have fields."""
    return [
        Fields(f"{path.relative_to(PACKAGE)}: {node.name}", fields)
        for path, tree in trees.items()
        if path.relative_to(PACKAGE).parts[0] in rooms
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and len(fields := frozenset(_declared(node))) >= FIELDS_LEAST
    ]


def _declared(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, _kind(ast.unparse(statement.annotation))


def _kind(annotation: str) -> str:
    """Return a type as it is apart from its room: an open enum is an enum there, a tuple a
    sequence.
    """
    plain = re.sub(r"Open\[(\w+)\]|['\"]|shapes\.|facts\.", r"\1", annotation)
    return re.sub(r"tuple\[(.+), \.\.\.\]", r"Sequence[\1]", plain)


def twins(trees: Mapping[Path, ast.Module]) -> list[str]:
    """Return the shapes of answers of which another class has at least half of the fields, by name
    and kind.
    """
    others, pairs = classes(trees, *_OTHERS), []
    for shape in classes(trees, "contract"):
        twin = max(others, key=lambda other: len(other.fields & shape.fields))
        shared = len(twin.fields & shape.fields)
        if shared >= FIELDS_LEAST and 2 * shared >= len(shape.fields):
            pairs.append(f"{shape.place} as {twin.place}")
    return pairs


def bound(tree: ast.AST) -> Iterator[str]:
    """Yield each name that a module binds: variables, parameters, what a loop goes over."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def vague(trees: Mapping[Path, ast.Module]) -> tuple[int, int]:
    """Return how many bound names are vague, and of how many."""
    names = [name for tree in trees.values() for name in bound(tree)]
    return sum(name in VAGUE for name in names), len(names)


def import_lines(trees: Mapping[Path, ast.Module]) -> tuple[int, int]:
    """Return how many lines import something, and of how many."""
    lines = sum(
        (node.end_lineno or 0) - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return lines, sum(len(path.read_text().splitlines()) for path in trees)


def _sentences(texts: Iterator[str]) -> set[str]:
    """Return what of these texts has so many words, without case and marks at its ends."""
    plain = (" ".join(re.findall(r"[\w'%-]+", text.lower())) for text in texts)
    return {text for text in plain if len(text.split()) >= WORDS_LEAST}


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of a text; a path or a command is none."""
    return (
        part
        for part in re.split(r"[.:;]\s|\n", text)
        if not part.strip().startswith(("/", "hwci "))
    )


def _of_python(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    for tree in trees.values():
        nodes = [*ast.walk(tree)]
        documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and id(node) not in documentation:
                yield from _parts(node.value if isinstance(node.value, str) else "")


_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\w<])//[^\n]*", re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', re.DOTALL)


def _of_scripts() -> Iterator[str]:
    for path in sorted({*_SCRIPTS.rglob("*.js")} - {GENERATED}):
        for match in _LITERAL.finditer(_COMMENT.sub("", path.read_text())):
            text = (
                match[1]
                if match[1] is not None
                else re.sub(r"\$\{[^{}]*\}|<[^<>]*>", "\n", match[2])
            )
            yield from _parts(text)


def in_both_languages(trees: Mapping[Path, ast.Module]) -> set[str]:
    """Return the sentences that stand in Python and again in a script of the dashboard."""
    return _sentences(_of_python(trees)) & _sentences(_of_scripts())


def main() -> None:
    """Print the figures."""
    trees = modules()
    vague_names, names = vague(trees)
    imports, lines = import_lines(trees)
    doubles, both = twins(trees), in_both_languages(trees)
    lines_shown = (
        *doubles,
        *sorted(both),
        f"shapes with a twin: {len(doubles)}; sentences in both languages: {len(both)}",
        f"vague names: {vague_names} of {names}, {vague_names / names:.1%}",
        f"import lines: {imports} of {lines}, {imports / lines:.1%}",
    )
    sys.stdout.write("\n".join([*lines_shown, ""]))


if __name__ == "__main__":
    main()
