# SPDX-License-Identifier: Apache-2.0
"""Result files of any format: JUnit XML, `twister.json`, and what hwci's pytest plugin writes.

This module decides which format a file has, by its content and never by its name. What a report is,
it does not know.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import IO

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
from hwci.ci.results.twister import SUITES, broken_twister_results, twister_results
from hwci.ci.results.verdicts import AnyRule
from hwci.client.files import is_file_or_folder

BLANK = b"\xef\xbb\xbf \t\r\n"
JSON_BEGINS = (b"{", b"[")
KNOWN_FIX = "Give JUnit XML, twister.json, or what pytest writes with --hwci-results"


class ResultsFileError(Exception):
    """A file in which no results can be read. The message is one line."""

    def __init__(self, path: str, position: Position | None, what: str, fix: str) -> None:
        super().__init__(path, position, what, fix)
        self.path = path
        self.position = position
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.path}{one_line(self.position, self.what, self.fix)}"


def read_results(path: Path, rules: Sequence[AnyRule]) -> FileResults:
    """Read the results of one file. `rules`: whom a failure's message blames.

    Raises:
        ResultsFileError: it cannot be read, or holds no results, or none before it breaks off.
    """
    try:
        if not is_file_or_folder(path):  # opening a pipe would wait for who writes into it
            what = "It is not a file but a pipe or a device"
            raise ContentError(what, "Give a file that the tests wrote")
        with path.open("rb") as file:
            read = _read(file, rules)
            written_at = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            faults = tuple(f"{path}{fault}" for fault in read.faults)
            notes = tuple(f"{path}{note}" for note in read.notes)
            return replace(read, path=str(path), written_at=written_at, faults=faults, notes=notes)
    except ContentError as fault:
        raise ResultsFileError(str(path), fault.position, fault.what, fault.fix) from fault
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ResultsFileError(
            str(path), None, f"It cannot be read: {reason}", "Check the path and its permissions"
        ) from fault


def _read(file: IO[bytes], rules: Sequence[AnyRule]) -> FileResults:
    chunks = inflated(file)
    first = next(chunks, b"")
    if first.lstrip(BLANK).startswith(JSON_BEGINS):
        return _read_json(*_gathered(chain((first,), chunks)), rules)
    return junit_results(chain((first,), chunks), rules)


def _gathered(chunks: Iterable[bytes]) -> tuple[bytes, CutError | None]:
    """Return the content as far as it goes, and why it goes no further."""
    content = bytearray()
    try:
        for chunk in chunks:
            content += chunk
    except CutError as fault:
        return bytes(content), fault
    return bytes(content), None


def _read_json(content: bytes, cut: CutError | None, rules: Sequence[AnyRule]) -> FileResults:
    if is_pytest_results(content):
        if cut is not None:  # it is not known how the tests ended that began last
            raise cut
        return pytest_results(content, rules)
    try:
        document = json.loads(content)
    except json.JSONDecodeError as fault:
        place = Position(fault.lineno, fault.colno)
        broken = ContentError(f"Its JSON is broken: {fault.msg}", WRITE_AGAIN, place)
        return broken_twister_results(fault.doc, cut or broken, rules)
    except (ValueError, RecursionError) as fault:
        raise ContentError(f"Its JSON cannot be read ({fault})", WRITE_AGAIN) from fault
    if not (isinstance(document, dict) and SUITES in document):
        raise ContentError("It is JSON without results of a known format", KNOWN_FIX)
    return twister_results(document, rules)
