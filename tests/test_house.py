# SPDX-License-Identifier: Apache-2.0
"""The house keeps its measures: functions that are read at once, one licence line, plain names, and
tests that stand alone.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "hwci").rglob("*.py"))
FUNCTION_LINES_MAX = 60
COLUMNS_MAX = 140  # of the dashboard's files; those of Python are the formatter's to measure
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
IMPORTERS = ("tests", "benchmarks", "docs", "examples")  # of what tests share
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def function_lengths(tree: ast.Module) -> dict[str, int]:
    """Return each function's length in lines, whole: decorators, signature and docstring count."""
    lengths = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(line.lineno for line in (node, *node.decorator_list))
            lengths[f"{node.lineno} {node.name}"] = (node.end_lineno or 0) - first + 1
    return lengths


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_keeps_its_measures(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    lengths = function_lengths(tree)

    assert text.startswith(LICENCE)
    assert ast.get_docstring(tree) is not None
    assert {name: size for name, size in lengths.items() if size > FUNCTION_LINES_MAX} == {}
    assert path.stem not in FORBIDDEN_NAMES


def test_a_row_is_read_by_the_names_of_its_columns() -> None:
    by_place = re.compile(r"\brow\[-?\d")
    found = {
        str(path.relative_to(ROOT)): lines
        for path in MODULES
        if (lines := [line for line in path.read_text().splitlines() if by_place.search(line)])
    }

    assert found == {}


SHOWN = sorted(
    path
    for path in (ROOT / "hwci/server/web/static").rglob("*")
    if path.suffix in {".js", ".css"} and path.parent.name != "vendor"
)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_of_the_dashboard_keeps_its_measures(path: Path) -> None:
    lines = path.read_text().splitlines()
    first, second = lines[:2]
    opening = "//" if path.suffix == ".js" else "/*"

    assert first == f"{opening} SPDX-License-Identifier: Apache-2.0"
    assert second.startswith(("// ", " * "))
    assert [line for line in lines if len(line) > COLUMNS_MAX] == []
    assert path.stem not in FORBIDDEN_NAMES


class FileOfTests(NamedTuple):
    """What a file of tests, or one that imports what they share, says. `given_twice`: names that it
    assigns more than once, of which the last value alone counts.
    """

    path: str
    opening: str
    says_what_it_holds: bool
    given_twice: list[str]
    imported: set[str]


@cache
def files_of(room: str) -> list[FileOfTests]:
    """Return the files of a room, each read once for all that is asked of it."""
    return [file_at(path) for path in (ROOT / room).rglob("*.py")]


def file_at(path: Path) -> FileOfTests:
    text = path.read_text()
    tree = ast.parse(text)
    names = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return FileOfTests(
        str(path.relative_to(ROOT)),
        text.partition("\n")[0] + "\n",
        ast.get_docstring(tree) is not None,
        sorted({name for name in names if names.count(name) > 1}),
        imported_modules(tree),
    )


def imported_modules(tree: ast.Module) -> set[str]:
    """Return what a file may import as a module: `from a import b` may mean `a` or `a.b`."""
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {f"{node.module}", *(f"{node.module}.{name.name}" for name in node.names)}
    return imported


def test_each_file_of_the_tests_says_what_it_holds() -> None:
    files = [file for file in files_of("tests") if not file.path.endswith("__init__.py")]

    assert [file.path for file in files if not file.says_what_it_holds] == []
    assert [file.path for file in files if file.opening != LICENCE] == []


def test_a_test_module_gives_each_name_once() -> None:
    files = files_of("tests")

    assert {file.path: file.given_twice for file in files if file.given_twice} == {}


def test_nothing_imports_a_test_module() -> None:
    tests = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "tests").rglob("test_*.py")
    }
    files = [file for room in IMPORTERS for file in files_of(room)]
    importers = {file.path: file.imported & tests for file in files if file.imported & tests}

    assert len(tests) > 300
    assert importers == {}, "what tests share has a module of its own"
