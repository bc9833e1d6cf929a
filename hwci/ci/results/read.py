# SPDX-License-Identifier: Apache-2.0
"""Result files of any kind: JUnit XML, `twister.json`, and what hwci's pytest plugin writes.

This module decides which kind a file is, by what it holds and never by its name. What a report
is, it does not know.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import IO

from hwci.ci.bounded import is_file_or_folder
from hwci.ci.results.broken_json import whole_parts
from hwci.ci.results.content import (
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    inflated,
    one_line,
)
from hwci.ci.results.junit import junit_results
from hwci.ci.results.model import FileResults
from hwci.ci.results.pytest_results import is_pytest_results, pytest_results
from hwci.ci.results.twister import twister_results
from hwci.ci.results.verdicts import Rule

BLANK = b"\xef\xbb\xbf \t\r\n"
JSON_BEGINS = (b"{", b"[")
SUITES = "testsuites"
"""By which `twister.json` is known."""
GIVE_KNOWN = "Give JUnit XML, twister.json, or what pytest writes with --hwci-results"


class ResultsFileError(Exception):
    """A file that holds no results that could be read. The message is one line."""

    def __init__(self, path: str, position: Position | None, what: str, fix: str) -> None:
        super().__init__(path, position, what, fix)
        self.path = path
        self.position = position
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.path}{one_line(self.position, self.what, self.fix)}"


def read_results(path: Path, rules: Sequence[Rule]) -> FileResults:
    """Read the results of one file; `rules` say whom a failure's message blames.

    Raises:
        ResultsFileError: it cannot be read, or holds no results, or none before it breaks off.
    """
    try:
        _refuse_pipe(path)
        with path.open("rb") as file:
            read = _read(file, rules)
            written_at = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            faults = tuple(f"{path}{fault}" for fault in read.faults)
            notes = tuple(f"{path}{one}" for one in read.notes)
            return replace(read, written_at=written_at, faults=faults, notes=notes)
    except ContentError as fault:
        raise ResultsFileError(str(path), fault.position, fault.what, fault.fix) from fault
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ResultsFileError(
            str(path), None, f"It cannot be read: {reason}", "Check the path and its permissions"
        ) from fault


def _refuse_pipe(path: Path) -> None:
    """See it before it is opened: a pipe that nobody writes into would be waited for."""
    if not is_file_or_folder(path):
        raise ContentError(
            "It is no file but a pipe or a device", "Give a file that the tests wrote"
        )


def _read(file: IO[bytes], rules: Sequence[Rule]) -> FileResults:
    chunks = inflated(file)
    first = next(chunks, b"")
    if first.lstrip(BLANK).startswith(JSON_BEGINS):
        return _read_json(*_gathered(chain((first,), chunks)), rules)
    return junit_results(chain((first,), chunks), rules)


def _gathered(chunks: Iterable[bytes]) -> tuple[bytes, CutError | None]:
    """Give the content as far as it goes, and why it goes no further."""
    content = bytearray()
    try:
        for chunk in chunks:
            content += chunk
    except CutError as fault:
        return bytes(content), fault
    return bytes(content), None


def _read_json(content: bytes, cut: CutError | None, rules: Sequence[Rule]) -> FileResults:
    if is_pytest_results(content):
        if cut is not None:  # how the tests ended that began last is not known
            raise cut
        return pytest_results(content, rules)
    try:
        document = json.loads(content)
    except json.JSONDecodeError as fault:
        place = Position(fault.lineno, fault.colno)
        broken = ContentError(f"Its JSON is broken: {fault.msg}", WRITE_AGAIN, place)
        return _read_broken(fault.doc, cut or broken, rules)
    except (ValueError, RecursionError) as fault:
        raise ContentError(f"Its JSON cannot be read ({fault})", WRITE_AGAIN) from fault
    if not (isinstance(document, dict) and SUITES in document):
        raise ContentError("It is JSON of no kind that holds results", GIVE_KNOWN)
    return twister_results(document, rules)


def _read_broken(text: str, fault: ContentError, rules: Sequence[Rule]) -> FileResults:
    """Read the suites of a `twister.json` that stand whole before it breaks off.

    Raises:
        ContentError: none does.
    """
    parts = whole_parts(text, SUITES)
    suites = parts.get(SUITES)
    if not isinstance(suites, list) or not suites:
        raise fault
    kept = "1 suite" if len(suites) == 1 else f"{len(suites)} suites"
    what = f"{fault.what}: {kept} before that counted, what stands behind it is not known"
    read = twister_results(parts, rules)
    return replace(read, faults=(one_line(fault.position, what, fault.fix), *read.faults))
