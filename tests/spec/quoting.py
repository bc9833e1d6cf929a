# SPDX-License-Identifier: Apache-2.0
"""How a test names the rows of the specification that it shows.

`@shows("| ... |")` stands above a test and quotes rows word for word. `quoted` finds all quotes of
this folder; `test_rows.py` holds them against `rows.py`, which lists every row there is.
"""

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TypeVar

import tests.spec

Test = TypeVar("Test", bound=Callable[..., object])


def shows(*rows: str) -> Callable[[Test], Test]:
    """Mark a test as the one that shows these rows of the specification."""

    def mark(test: Test) -> Test:
        vars(test)["shown_rows"] = rows
        return test

    return mark


def quoted() -> Mapping[str, set[str]]:
    """Return each row that a test quotes, and the names of the tests that do."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in _modules():
        for name, value in vars(module).items():
            for row in getattr(value, "shown_rows", ()) if name.startswith("test_") else ():
                found[row].add(f"{module.__name__.rpartition('.')[2]}.{name}")
    return found


def _modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(tests.spec.__path__)]
    return [
        importlib.import_module(f"tests.spec.{name}") for name in names if name.startswith("test_")
    ]
