# SPDX-License-Identifier: Apache-2.0
"""The engine is pure: it imports value modules alone, as the contract does, reads no clock and
touches nothing.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HWCI = Path(__file__).parents[2] / "hwci"
CONTRACT, ENGINE = (sorted((HWCI / room).rglob("*.py")) for room in ("contract", "engine"))
MODULES = [*CONTRACT, *ENGINE]
VALUE_MODULES = {
    "__future__",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "itertools",
    "operator",
    "re",
    "struct",
    "typing",
    "uuid",
}
IMPURE_NAMES = {
    *("now", "utcnow", "today", "fromtimestamp", "astimezone"),  # the clock, the machine's zone
    *("uuid1", "uuid4", "getnode", "random"),  # chance
    *("open", "print", "input", "exec", "eval", "__import__", "breakpoint"),  # the world
}
IMPURE_NODES = (
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
)


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def impurities(tree: ast.Module) -> Iterator[str]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    to_a_zone = {call.func for call in calls if getattr(call.func, "attr", "") == "astimezone"}
    for node in ast.walk(tree):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if node in to_a_zone:
            continue  # not to the machine's
        if isinstance(node, IMPURE_NODES) or name in IMPURE_NAMES:
            yield f"line {node.lineno}: {name or type(node).__name__}"  # type: ignore[attr-defined]  # it has one


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_value_modules_and_rooms_below_alone(path: Path) -> None:
    own = ("hwci.contract.",) if path in CONTRACT else ("hwci.contract.", "hwci.engine.")
    foreign = {
        name
        for name in imports(ast.parse(path.read_text()))
        if name not in VALUE_MODULES and not f"{name}.".startswith(own)
    }

    assert foreign == set()


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.stem)
def test_a_module_reads_no_clock_and_awaits_prints_and_opens_nothing(path: Path) -> None:
    assert list(impurities(ast.parse(path.read_text()))) == []


def test_the_search_finds_what_it_looks_for() -> None:
    impure = ast.parse("import os, json\nfrom time import time\nnow = datetime.now(UTC)\nopen('x')")

    assert set(imports(impure)) == {"os", "json", "time"}
    assert len(list(impurities(impure))) == 3
    zoned = ast.parse("at.astimezone(); at.astimezone(zone)")
    assert list(impurities(zoned)) == ["line 1: astimezone"]
