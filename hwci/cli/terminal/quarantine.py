# SPDX-License-Identifier: Apache-2.0
"""Tests in quarantine as the tool that runs them reads it: which lines leave out one test, and when
none does that leaves out no other. Which tests these are is the server's to say.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hwci.contract.known_failures import KnownTest

Others = Callable[[str], Collection[str]]
"""Return the tests of the product, by a start of their ids, that are not in quarantine."""


class Form(StrEnum):
    """The tools whose form is written."""

    PYTEST = "pytest"
    TWISTER = "twister"
    CTEST = "ctest"


class Written(NamedTuple):
    """The lines of a file, and the tests that are not in it, each with why."""

    lines: Sequence[str]
    left_out: Sequence[tuple[str, str]]


class _UnfitError(Exception):
    """The tool has no way to leave out this test alone; the message says why."""


def written(form: Form, tests: Sequence["KnownTest"], others: Others) -> Written:
    """Return the file of these tests, without those that must be run."""
    lines: list[str] = []
    left_out: list[tuple[str, str]] = []
    for test in tests:
        until = f"{test.known.ticket} until {test.known.until:%Y-%m-%d}"
        try:
            if test.left_out is not None:
                raise _UnfitError(test.left_out)
            if not (test.test_id + until).isprintable():
                raise _UnfitError("its name or its ticket has letters that a file cannot hold")
            lines += _FORMS[form](test.test_id, until, others)
        except _UnfitError as fault:
            left_out.append((test.test_id, str(fault)))
    return Written(lines, left_out)


def _pytest(test_id: str, until: str, others: Others) -> Iterator[str]:
    """Yield arguments, which `pytest @FILE` reads. The first deselects nothing: such a file has no
    comments. What begins as a node id is deselected with it.
    """
    if clash := sorted(others(test_id)):
        raise _UnfitError(f"pytest would leave out {clash[0]}, too")
    yield f"--deselect=# {until}"
    yield f"--deselect={_node_id(test_id)}"


def _node_id(test_id: str) -> str:
    """Return the node of a test that is named as in JUnit XML: classes begin in upper case."""
    path, bracket, parameters = test_id.partition("[")
    *parts, name = path.split(".")
    classes: list[str] = []
    while parts and parts[-1][:1].isupper():
        classes.insert(0, parts.pop())
    if not parts:
        raise _UnfitError("its name does not tell in which file it is")
    return "::".join([f"{'/'.join(parts)}.py", *classes, f"{name}{bracket}{parameters}"])


def _ctest(test_id: str, until: str, _: Others) -> Iterator[str]:
    """Yield lines of `CTestCustom.cmake`, which CTest reads in the build folder."""
    if ";" in test_id or "]=" in test_id:
        raise _UnfitError("CMake cannot write its name in a list")
    yield f"# {until}"
    yield f"list(APPEND CTEST_CUSTOM_TESTS_IGNORE [=[{test_id}]=])"


def _twister(test_id: str, until: str, others: Others) -> Iterator[str]:
    """Yield an entry of a `--quarantine-list`, which has scenarios: the name of a test without its
    case, or also without the suite of Ztest. Neither may have a test that is to be run.
    """
    parts = test_id.split(".")
    scenarios = [".".join(parts[:-cut]) for cut in (1, 2) if len(parts) - cut > 1]
    own = [scenario for scenario in scenarios if not others(f"{scenario}.")]
    if not own:
        raise _UnfitError("Twister leaves out whole scenarios, and its scenario has other tests")
    yield "- scenarios:"
    yield from (f"    - {_quoted(re.escape(scenario))}" for scenario in own)
    yield f"  comment: {_quoted(until)}"


def _quoted(text: str) -> str:
    """Write a text as JSON does, which YAML reads."""
    return json.dumps(text, ensure_ascii=False)


_FORMS: dict[Form, Callable[[str, str, Others], Iterator[str]]] = {
    Form.PYTEST: _pytest,
    Form.TWISTER: _twister,
    Form.CTEST: _ctest,
}
