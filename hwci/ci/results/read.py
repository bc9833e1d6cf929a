# SPDX-License-Identifier: Apache-2.0
"""Result files of any format: JUnit XML, `twister.json`, CTRF, and what hwci's plugin of pytest
writes.

This module decides which format a file has, by its content and never by its name. What a report is,
it does not know.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from hwci.ci.results import ctrf, twister
from hwci.ci.results.broken_json import whole_parts
from hwci.ci.results.content import (
    KEPT_BYTES_MAX,
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    inflated,
    one_line,
)
from hwci.ci.results.ctrf import ctrf_results, is_ctrf
from hwci.ci.results.model import FileResults
from hwci.ci.results.numbers import Numbers
from hwci.ci.results.pytest_results import is_pytest_results, pytest_results
from hwci.ci.results.times import times
from hwci.ci.results.twister import is_twister, twister_results
from hwci.ci.results.verdicts import AnyRule
from hwci.ci.results.xml.junit import junit_results
from hwci.client.files import is_file_or_folder

AROUND = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""What stands around the first letter of a file: marks of its encoding, zeros, and blanks."""
JSON_BEGINS = (b"{", b"[")
KNOWN_FIX = "Give JUnit XML, twister.json, CTRF, or what pytest writes with --hwci-results"


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
            began = times(read.stamps, written_at)
            faults = tuple(f"{path}{fault}" for fault in read.faults)
            notes = tuple(f"{path}{note}" for note in (*read.notes, *began.notes))
            return replace(
                read,
                path=str(path),
                started_at=began.started_at,
                written_at=written_at,
                faults=faults,
                notes=notes,
            )
    except ContentError as fault:
        raise ResultsFileError(str(path), fault.position, fault.what, fault.fix) from fault
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ResultsFileError(
            str(path), None, f"It cannot be read: {reason}", "Check the path and its permissions"
        ) from fault


def _read(file: IO[bytes], rules: Sequence[AnyRule]) -> FileResults:
    first = next(inflated(file), b"")
    file.seek(0)
    if first.translate(None, AROUND).startswith(JSON_BEGINS):
        if is_pytest_results(first):
            return pytest_results(inflated(file), rules)
        return _read_json(*_gathered(inflated(file)), rules, Path(file.name).parent)
    numbers = Numbers()
    read = junit_results(inflated(file), rules, numbers)
    if (grouping := numbers.decided()) == numbers.grouping:
        return read
    file.seek(0)  # numbers that left it open were read before others decided it
    return junit_results(inflated(file), rules, Numbers(grouping))


def _gathered(chunks: Iterable[bytes]) -> tuple[bytes, CutError | None]:
    """Return the content as far as it goes, and why it goes no further.

    Raises:
        ContentError: it is too much.
    """
    content = bytearray()
    try:
        for chunk in chunks:
            content += chunk
            if len(content) > KEPT_BYTES_MAX:
                what = f"It is JSON of more than {KEPT_BYTES_MAX // 1024**2} MiB"
                raise ContentError(what, "Split the results into files")
    except CutError as fault:
        return _json_in_utf8(content), fault
    return _json_in_utf8(content), None


def _json_in_utf8(content: bytearray) -> bytes:
    """Return JSON as UTF-8; PowerShell writes UTF-16 where it redirects."""
    encoding = json.detect_encoding(content[:4])
    if encoding == "utf-8":
        return bytes(content)
    return content.decode(encoding, "replace").encode()


def _read_json(
    content: bytes, cut: CutError | None, rules: Sequence[AnyRule], folder: Path
) -> FileResults:
    document, broken = _document(content, cut)
    if is_ctrf(document):
        return ctrf_results(document, rules, broken)
    if is_twister(document):
        return twister_results(document, rules, broken, folder)
    raise broken or ContentError("It is JSON without results of a known format", KNOWN_FIX)


def _document(content: bytes, cut: CutError | None) -> tuple[object, ContentError | None]:
    """Return a document as far as it can be read, and why it can be no further.

    Raises:
        ContentError: it cannot be read at all.
    """
    try:
        return json.loads(content), None
    except json.JSONDecodeError as fault:
        place = Position(fault.lineno, fault.colno)
        broken = ContentError(f"Its JSON is broken: {fault.msg}", WRITE_AGAIN, place)
        return whole_parts(fault.doc, (*ctrf.LISTS, *twister.LISTS)), cut or broken
    except (ValueError, RecursionError) as fault:
        raise ContentError(f"Its JSON cannot be read ({fault})", WRITE_AGAIN) from fault
