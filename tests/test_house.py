# SPDX-License-Identifier: Apache-2.0
"""The house keeps its measures: functions that are read at once, one licence line, plain names, and
tests that stand alone.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "hwci").rglob("*.py"))
FUNCTION_LINES_MAX = 60
COLUMNS_MAX = 140  # of the dashboard's files; those of Python are the formatter's to measure
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
IMPORTERS = ("tests", "benchmarks", "docs", "examples")  # of what tests share
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def function_lengths(path: Path) -> dict[str, int]:
    """Return each function's length in lines, whole: decorators, signature and docstring count."""
    lengths = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min(line.lineno for line in (node, *node.decorator_list))
            lengths[f"{node.lineno} {node.name}"] = (node.end_lineno or 0) - first + 1
    return lengths


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_keeps_its_measures(path: Path) -> None:
    text = path.read_text()
    long = {
        name: size for name, size in function_lengths(path).items() if size > FUNCTION_LINES_MAX
    }

    assert text.startswith(LICENCE)
    assert ast.get_docstring(ast.parse(text)) is not None
    assert long == {}
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


def imported_modules(path: Path) -> set[str]:
    """Return what a file may import as a module: `from a import b` may mean `a` or `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}", *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def test_each_file_of_the_tests_says_what_it_holds() -> None:
    texts = {
        str(path.relative_to(ROOT)): path.read_text()
        for path in (ROOT / "tests").rglob("*.py")
        if path.name != "__init__.py"
    }

    assert [
        name for name, text in texts.items() if ast.get_docstring(ast.parse(text)) is None
    ] == []
    assert [name for name, text in texts.items() if not text.startswith(LICENCE)] == []


def names_given_twice(path: Path) -> list[str]:
    """Return the names that a file assigns more than once: the last value alone counts."""
    names = [
        target.id
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return sorted({name for name in names if names.count(name) > 1})


def test_a_test_module_gives_each_name_once() -> None:
    given = {path: names_given_twice(path) for path in (ROOT / "tests").rglob("*.py")}

    assert {str(path.relative_to(ROOT)): twice for path, twice in given.items() if twice} == {}


def test_nothing_imports_a_test_module() -> None:
    tests = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "tests").rglob("test_*.py")
    }
    files = (path for room in IMPORTERS for path in (ROOT / room).rglob("*.py"))
    found = {
        str(path.relative_to(ROOT)): imported
        for path in files
        if (imported := imported_modules(path) & tests)
    }

    assert len(tests) > 300
    assert found == {}, "what tests share has a module of its own"
