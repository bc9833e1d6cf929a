# SPDX-License-Identifier: Apache-2.0
"""CTRF, the JSON that reporters of Jest, Playwright, pytest and others write (spec, "Test item").

This module decides what each status means to a report, what a test is called, and which tries are
told. Where reporters differ from CTRF's own schema, as with a suite in one text, both are read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from hwci.ci.results.content import ContentError, lost_behind, one_line
from hwci.ci.results.json_fields import Name, Text, unlike
from hwci.ci.results.model import Entry, FileResults, file_results
from hwci.ci.results.names import stable_id
from hwci.ci.results.numbers import Milliseconds, of_milliseconds
from hwci.ci.results.places import (
    BOARDS,
    NOWHERE,
    TRIES_MAX,
    UNITS,
    VARIANTS,
    Place,
    first_named,
    log_of,
)
from hwci.ci.results.pytest_results import id_of
from hwci.ci.results.times import Stamp, stamps_of
from hwci.ci.results.verdicts import AnyRule, judge, never_built
from hwci.ci.results.xml.evidence import State, local, state_of
from hwci.ci.results.xml.junit import LOG_FIX, VERDICT_PROPERTY
from hwci.contract.vocabulary import Verdict
from hwci.said import counted
from hwci.wire.base import made_storable

FORMAT = "CTRF"
LISTS = (("results", "tests"),)
"""The lists of which the elements count that are whole, where a file breaks off."""
SUITES_MAX = 100
"""Suites around a test, beyond which a file is not read."""
_LATER = re.compile(r"(?:[2-9]|[1-9][0-9]+)\.")
_BETWEEN = (" ", " > ", ".", "::")
"""What stands between the suites and the name of a test that names them itself."""
_SHOWN = 100

Status = Literal["passed", "failed", "skipped", "pending", "other"]
Words = Annotated[
    str | None,
    BeforeValidator(lambda text: made_storable(text) if isinstance(text, str) else None),
]
"""What explains a result, and does not change it: anything but a text counts as none."""


def _suites(value: object) -> object:
    """Jest, Vitest and Playwright write the suites of a test as one text."""
    return value.split(" > ") if isinstance(value, str) else value or ()


class _Fields(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _Try(_Fields):
    attempt: int = 0
    status: Status
    duration: Milliseconds = 0.0
    start: Any = None
    message: Words = None
    trace: Words = None

    @property
    def words(self) -> str:
        """What the harness wrote of its failure."""
        return self.message or self.trace or ""


class _Test(_Try):
    name: Name
    raw_status: Words = None
    suite: Annotated[Sequence[Text], BeforeValidator(_suites), Field(max_length=SUITES_MAX)] = ()
    file_path: Words = None
    device: Words = None
    retries: Annotated[int, Field(ge=0, le=TRIES_MAX)] | None = None
    retry_attempts: Annotated[Sequence[_Try], Field(max_length=TRIES_MAX)] | None = None
    flaky: bool | None = None
    labels: Any = None
    extra: Any = None

    @property
    def state(self) -> State:
        """How it ended. What CTRF has no word for is known by the tool's own; without one, it did
        not pass.
        """
        if self.status in {"skipped", "pending"}:
            return State.SKIPPED
        if self.status != "other":
            return State(self.status)
        state = state_of("status", self.raw_status or "")
        return state if state in {State.FAILED, State.SKIPPED} else State.NOT_RUN

    @property
    def properties(self) -> Mapping[str, str]:
        """What it says of itself beside CTRF's own fields, as properties in JUnit XML do."""
        more = (fields for fields in (self.labels, self.extra) if isinstance(fields, dict))
        texts = {
            name: value
            for fields in more
            for name, value in fields.items()
            if isinstance(value, str)
        }
        return texts | ({"device": self.device} if self.device else {})

    @property
    def earlier_tries(self) -> Sequence[_Try]:
        """The tries before the last one. Some tools list the last one, too."""
        tries = sorted(self.retry_attempts or (), key=lambda attempt: attempt.attempt)
        if self.retries is not None:
            with_last = len(tries) == self.retries + 1
        else:
            with_last = bool(tries) and self.start is not None and tries[-1].start == self.start
        return tries[:-1] if with_last else tries

    @property
    def unnamed_tries(self) -> int:
        """The number of tries before the last one of which nothing else is told. Only a test that
        failed is tried again, so one that passed and is not flaky had none.
        """
        if self.retry_attempts or (self.status == "passed" and self.flaky is False):
            return 0
        return self.retries or int(self.status == "passed" and self.flaky is True)


class _Tool(_Fields):
    name: str = ""


class _Summary(_Fields):
    failed: int = 0
    start: Any = None
    stop: Any = None


class _Results(_Fields):
    tool: _Tool = _Tool()
    summary: _Summary = _Summary()
    tests: list[_Test]


class _Report(_Fields):
    spec_version: Any = None
    results: _Results


def is_ctrf(document: object) -> bool:
    """Return whether a document is CTRF, also of the time before it said so itself."""
    if not isinstance(document, dict) or document.get("reportFormat", FORMAT) != FORMAT:
        return False
    results = document.get("results")
    return isinstance(results, dict) and "tests" in results


def ctrf_results(
    document: object, rules: Sequence[AnyRule], broken: ContentError | None = None
) -> FileResults:
    """Read a document. `broken`: why it breaks off; then these are the tests before that.

    Raises:
        ContentError: it is not as CTRF has it, of a later version, or breaks off before its first
            test has ended.
    """
    try:
        report = _Report.model_validate(document)
    except ValidationError as fault:
        raise unlike("CTRF has it", fault, "Give what its reporter writes") from fault
    if _LATER.match(version := str(report.spec_version)[:_SHOWN]):
        what = f"It is CTRF of the later version {version}"
        raise ContentError(what, "Update hwci, or let the tests write version 1")
    results = report.results
    if broken is not None and not results.tests:
        raise broken
    reader = _Reader(results, rules)
    entries = [entry for test in results.tests for entry in reader.entries(test)]
    lost_end = () if broken is None else (lost_behind(broken, len(results.tests), "test"),)
    contradiction = _contradiction(results) if broken is None else ()
    return file_results(
        entries,
        kind=FORMAT,
        stamps=_stamps(results),
        duration_s=_lasted(results.summary) or sum(entry.duration_s for entry in entries),
        faults=(*lost_end, *contradiction, *reader.faults),
    )


@dataclass
class _Reader:
    """Reads the tests of one document. `faults`: what could not be read of them."""

    results: _Results
    rules: Sequence[AnyRule]
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        paths = [_parts(test.file_path or "") for test in self.results.tests]
        rooted = [path[:-1] for path in paths if len(path) > 1 and _is_root(path[0])]
        self._shared = _beginning(rooted)

    def entries(self, test: _Test) -> Iterator[Entry]:
        """Yield what is told of a test: the tries that failed, each by itself, and the last one."""
        properties = test.properties
        verdict = self._verdict(test, properties)
        test_id, place = self._id(test), self._place(test, properties)
        for attempt in test.earlier_tries:
            if attempt.status == "failed":
                yield Entry(
                    test_id=test_id,
                    place=place,
                    duration_s=attempt.duration,
                    run=True,
                    failed=True,
                    verdict=verdict or judge(attempt.words, self.rules),
                    message=attempt.words,
                    tried_again=True,
                )
        state = test.state
        words = test.words if state is State.FAILED else ""
        yield Entry(
            test_id=test_id,
            place=place,
            duration_s=test.duration,
            run=state in {State.FAILED, State.PASSED},
            failed=state is State.FAILED,
            unbuilt=never_built(words),
            verdict=verdict or (judge(words, self.rules) if words else Verdict.UNKNOWN),
            message=words,
            earlier=(Verdict.UNKNOWN,) * test.unnamed_tries,
            missing=test.words or _other(test) if state is State.NOT_RUN else "",
        )

    def _id(self, test: _Test) -> str:
        """Return the name of a test, with its suites if it does not hold them. Names of pytest are
        those of its JUnit XML.
        """
        if self._of_pytest:
            return id_of(test.name)
        suites = test.suite
        beginnings = (
            at
            for at in range(len(suites) + 1)
            if any(
                f"{test.name}{sign}".startswith(sign.join([*suites[at:], ""])) for sign in _BETWEEN
            )
        )
        return stable_id(".".join(suites[: next(beginnings)]), test.name)

    @property
    def _of_pytest(self) -> bool:
        return self.results.tool.name == "pytest"

    def _place(self, test: _Test, properties: Mapping[str, str]) -> Place:
        """Return where a test stands: in its file, without the folder of the checkout. Names of
        pytest hold their file.
        """
        named = {local(name): value for name, value in properties.items()}
        board, variant = first_named(named, BOARDS), first_named(named, VARIANTS)
        path = _parts(test.file_path or "") if not self._of_pytest else ()
        if path and _is_root(path[0]):
            path = path[len(self._shared) :]
        unit = first_named(named, UNITS)
        place = Place(path, board, variant, unit=unit, log=log_of(named))
        return NOWHERE if place == NOWHERE else place

    def _verdict(self, test: _Test, properties: Mapping[str, str]) -> Verdict | None:
        """Return the verdict that a test sets itself."""
        if (text := properties.get(VERDICT_PROPERTY)) is None:
            return None
        try:
            return Verdict(text)
        except ValueError:
            what = f"{VERDICT_PROPERTY} of {test.name[:_SHOWN]!r} is {text[:40]!r}, which is none"
            self.faults.append(one_line(None, what, f"Write one of {', '.join(Verdict)}"))
            return None


def _other(test: _Test) -> str:
    return f"its status is other ({test.raw_status})" if test.raw_status else "its status is other"


def _parts(path: str) -> tuple[str, ...]:
    return tuple(re.split(r"[\\/]+", path)) if path else ()


def _is_root(part: str) -> bool:
    return not part or part.endswith(":")


def _beginning(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the parts with which all paths begin."""
    ends = zip(min(paths, default=()), max(paths, default=()), strict=False)
    return tuple(part for part, _ in takewhile(lambda pair: pair[0] == pair[1], ends))


def _contradiction(results: _Results) -> tuple[str, ...]:
    """Return the fault of a document that counts more failures than its tests show."""
    failures = sum(test.state is State.FAILED for test in results.tests)
    if results.summary.failed <= failures:
        return ()
    many = counted(results.summary.failed, "failure")
    return (one_line(None, f"Its summary counts {many}, its tests show {failures:,}", LOG_FIX),)


def _stamps(results: _Results) -> Sequence[Stamp]:
    """Return the time of the begin, else those of the tests."""
    begin = _stamps_of(results.summary.start)
    return begin or [stamp for test in results.tests for stamp in _stamps_of(test.start)]


def _stamps_of(at: object) -> Sequence[Stamp]:
    text = f"{at:.0f}" if isinstance(at, float) else at
    return stamps_of(str(text)) if isinstance(text, int | str) else ()


def _lasted(summary: _Summary) -> float:
    """Return the seconds from begin to end, 0 if they are not known."""
    begin, end = summary.start, summary.stop
    if not (isinstance(begin, int) and isinstance(end, int)):
        return 0.0
    return of_milliseconds(end - begin)
