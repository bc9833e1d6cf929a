# SPDX-License-Identifier: Apache-2.0
"""What `pytest --hwci-results` writes: a line of JSON for each event.

This module decides what the lines mean to a report. They are written as the tests run, so the file
of a run that was killed holds what ran until then: a test that began and did not end has failed,
unless pytest itself wrote that it stopped.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ValidationError

from hwci.ci.results.content import (
    CHUNK_BYTES,
    KEPT_BYTES_MAX,
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    Room,
    lost_behind,
)
from hwci.ci.results.model import Entry, FileResults, file_results
from hwci.ci.results.names import stable_id
from hwci.ci.results.numbers import Seconds
from hwci.ci.results.places import NOWHERE, UNITS, Place, first_named, log_of
from hwci.ci.results.times import stamp, stamps_of
from hwci.ci.results.verdicts import AnyRule, judge
from hwci.ci.results.xml.evidence import local
from hwci.contract.vocabulary import Verdict

KIND = "hwci-results"
VERSION = 1
LINE_BYTES = 500
"""Bytes that a line takes beside its text."""


class _Line(BaseModel):
    """One line. Its fields show what happened."""

    version: int | None = None
    started_at: str = ""
    begun: str | None = None
    tried: str | None = None
    outcome: Literal["pass", "fail", "skip"] = "fail"
    duration_s: Seconds = 0.0
    message: str = ""
    verdict: Verdict | None = None
    properties: Mapping[str, str] = {}
    """What a test recorded of itself."""
    again: bool = False
    """It failed, and a plugin said that it is tried again."""
    ended_at: str | None = None


def is_pytest_results(begin: bytes) -> bool:
    """Return whether the first line is that of the plugin. `begin`: how the file begins."""
    try:
        first = json.loads(begin.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("kind") == KIND


def pytest_results(chunks: Iterable[bytes], rules: Sequence[AnyRule]) -> FileResults:
    """Read the content of one file, up to a line that is broken: what comes before it is valid.

    Raises:
        ContentError: it is broken before its first result, or of a later hwci; CutError: its end
            is lost, and so is how the tests ended that began last.
    """
    lines, fault = _lines(chunks)
    if fault is not None and not any(line.tried for line in lines):
        raise fault
    if lines[0].version != VERSION:
        raise ContentError(
            f"It was written by another hwci, as version {lines[0].version}",
            "Use one version of hwci to write and to read it",
        )
    tried = [_entry(line, rules) for line in lines if line.tried]
    # What follows a broken line may say how a test ended that began before it.
    entries = [*tried, *(() if fault else _died(lines))]
    return file_results(
        entries,
        kind=KIND,
        stamps=stamps_of(lines[0].started_at),
        duration_s=_duration_s(lines),
        faults=() if fault is None else (lost_behind(fault, len(tried), "result"),),
    )


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines. The last one may have been cut short when the run was killed, and is left
    out.

    Raises:
        ContentError: a line is longer than what may be kept of a file.
    """
    begun: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if not others and len(begun) * CHUNK_BYTES > KEPT_BYTES_MAX:
            raise ContentError("It has a line without an end", WRITE_AGAIN)
        for line in others:
            yield b"".join(begun)
            begun = [line]


def _lines(chunks: Iterable[bytes]) -> tuple[list[_Line], ContentError | None]:
    """Read the lines up to a broken one. Return also its fault."""
    lines: list[_Line] = []
    room = Room()
    for number, line in enumerate(_whole_lines(chunks), start=1):
        try:
            room.take(LINE_BYTES + len(line))
            lines.append(_Line.model_validate_json(line))
        except ValidationError as fault:
            what = f"It is broken: {fault.errors()[0]['msg']}"
            return lines, ContentError(what, WRITE_AGAIN, Position(number, 1))
        except CutError as fault:
            return lines, fault
    cut = ContentError("It was cut short in its first line", WRITE_AGAIN, Position(1, 1))
    return lines, None if lines else cut


def _entry(line: _Line, rules: Sequence[AnyRule]) -> Entry:
    named = {local(name): value for name, value in line.properties.items()}
    place = Place(unit=first_named(named, UNITS), log=log_of(named))
    return Entry(
        test_id=id_of(line.tried or ""),
        place=NOWHERE if place == NOWHERE else place,
        duration_s=line.duration_s,
        run=line.outcome != "skip",
        failed=line.outcome == "fail",
        verdict=line.verdict or judge(line.message, rules),
        message=line.message,
        tried_again=line.again,
    )


def _died(lines: Iterable[_Line]) -> Iterator[Entry]:
    open_tests: Counter[str] = Counter()
    for line in lines:
        open_tests.update([line.begun] if line.begun else [])
        open_tests.subtract([line.tried] if line.tried else [])
        if line.ended_at is not None:
            return
    for nodeid in open_tests.elements():
        test_id = id_of(nodeid)
        yield Entry(test_id=test_id, duration_s=0.0, run=True, failed=True, ended=False)


def _duration_s(lines: Sequence[_Line]) -> float:
    """Return the time from begin to end, or that of the tests alone if the end is unknown."""
    begin = stamp(lines[0].started_at)
    end = next((stamp(line.ended_at) for line in lines if line.ended_at), None)
    if begin is None or end is None:
        return sum(line.duration_s for line in lines)
    return max((end.at - begin.at).total_seconds(), 0.0)


def id_of(nodeid: str) -> str:
    """Return the id of a test as in pytest's JUnit XML: a switch of formats keeps its history."""
    path, bracket, parameters = nodeid.partition("[")
    file, *names = path.split("::")
    module = file.replace("/", ".").removesuffix(".py")
    *classes, name = [module, *names]
    return stable_id(".".join(classes), f"{name}{bracket}{parameters}") or nodeid
