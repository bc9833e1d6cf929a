# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that records what really ran, try after try, and whom a test blames (spec, "Test
item").

`--hwci-results FILE` writes a line for each try as it ends, under pytest-rerunfailures, flaky and
pytest-xdist alike; `hwci report-run` reads the file. A test blames the bench or the device with
the marker `hwci_verdict` or the fixture of that name; the verdict is written to pytest's JUnit XML
as well. Nothing is sent from here, and a file that cannot be written fails no test.
"""

from __future__ import annotations  # older versions of pytest lack some of the names

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import TextIO

import pytest

from hwci.contract.vocabulary import Verdict

VERDICT = "hwci.verdict"
REASON = "hwci.reason"
BLAME = {VERDICT, REASON}
MESSAGE_MAX = 8_192
PROPERTY_MAX = 2_000
"""Characters of a property that is written: one may say on which board a test ran, or where its log
is.
"""
SUBTESTS = {"SubtestReport", "SubTestReport"}
"""Reports of pytest and of pytest-subtests about a part of a test."""
RERUNNERS = (
    {"flaky", "flaky.flaky_pytest_plugin"},
    {"rerunfailures", "pytest_rerunfailures"},
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.getgroup("hwci", "hwci, metrics of hardware CI").addoption(
        "--hwci-results",
        metavar="FILE",
        default=None,
        help="write what ran, try after try, for hwci report-run",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the recorder in the process that all reports come to."""
    config.addinivalue_line(
        "markers",
        'hwci_verdict(verdict, reason=""): whom a failure of this test blames: '
        '"infra", "device" or "unknown"',
    )
    path = config.getoption("hwci_results")
    only_listed = config.getoption("collectonly") or config.getoption("setuponly", False)
    if path is None or only_listed or hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(Recorder(config, Path(path).absolute()), "hwci-recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Drop the verdict of an earlier try of the test, and take that of its marker."""
    _forget(item)
    marker = item.get_closest_marker("hwci_verdict")
    if marker is None:
        return
    try:
        blame = signature(_blame).bind(item, *marker.args, **marker.kwargs)
    except TypeError as fault:
        usual = '@pytest.mark.hwci_verdict("infra", reason="old relay")'
        raise pytest.UsageError(f"the marker hwci_verdict: {fault}; write {usual}") from None
    _blame(*blame.args, **blame.kwargs)


@pytest.fixture
def hwci_verdict(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Set the verdict while the test runs, for the case that it fails.

    `hwci_verdict("infra", "relay did not click")`; the last call counts.
    """

    def blame(verdict: str, reason: str = "") -> None:
        _blame(request.node, verdict, reason)

    return blame


def _forget(item: pytest.Item) -> None:
    item.user_properties[:] = [
        item_property for item_property in item.user_properties if item_property[0] not in BLAME
    ]


def _blame(item: pytest.Item, verdict: str, reason: str = "") -> None:
    if verdict not in tuple(Verdict):
        raise pytest.UsageError(f"hwci_verdict is {verdict!r}: write one of {', '.join(Verdict)}")
    _forget(item)
    item.user_properties.append((VERDICT, str(verdict)))
    if reason:
        item.user_properties.append((REASON, reason))


@dataclass(slots=True)
class Try:
    """One try of one test while its reports arrive."""

    set_up: bool = False
    called: bool = False
    failed: bool = False
    explained: bool = False
    """It failed before its teardown."""
    again: bool = False
    """A plugin said of it that the test is tried again."""
    skipped: bool = False
    duration_s: float = 0.0
    message: str = ""
    verdict: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    def take(self, report: pytest.TestReport) -> None:
        """Take the report of a phase, or of a part of the test."""
        if type(report).__name__ in SUBTESTS:
            if report.failed:
                self._fail(report)
            return
        self.duration_s += report.duration
        self.set_up = True
        self.called = self.called or report.when == "call"
        self.verdict = next(
            (str(value) for name, value in reversed(report.user_properties) if name == VERDICT),
            self.verdict,
        )
        self.properties = {
            str(name): str(value)
            for name, value in report.user_properties
            if name not in BLAME and len(str(value)) <= PROPERTY_MAX
        }
        if report.skipped:
            self.skipped = True
        elif not report.passed:
            # Plugins that try again call a failure `rerun` or `retried`.
            self.again = self.again or not report.failed
            self.explained = self.explained or report.when != "teardown"
            self._fail(report)

    def _fail(self, report: pytest.TestReport) -> None:
        self.failed = True
        self.message = self.message or _message(report)

    def outcome(self, *, finished: bool) -> str | None:
        """Return how it ended, None if it was stopped before that. The plugin flaky reports no
        failure of a try: such a try was set up and torn down, and never called.
        """
        if self.failed:
            return "fail"
        if self.skipped:
            return "skip"
        if self.called:
            return "pass"
        return "fail" if finished else None


def _message(report: pytest.TestReport) -> str:
    """Return the message of a failure as pytest's JUnit XML has it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or "")
    if report.when in {"setup", "teardown"}:
        text = f'failed on {report.when} with "{text}"'
    return text[:MESSAGE_MAX]


class Recorder:
    """Writes the file, in the process that all reports come to."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO | None = path.open(
                "w", encoding="utf-8", errors="replace", buffering=1
            )
        except OSError as fault:
            raise pytest.UsageError(f"--hwci-results cannot be written: {fault}") from fault
        config.add_cleanup(self._close)
        self._path = path
        self._trouble = ""
        self._announced: Counter[str] = Counter()
        self._tries: dict[tuple[str, object], Try] = {}
        self._write(kind="hwci-results", version=1, started_at=_now())

    def pytest_report_header(self, config: pytest.Config) -> str | None:
        """Warn of plugins that undo each other: with both, failed tests are not tried again."""
        if all(any(map(config.pluginmanager.hasplugin, names)) for names in RERUNNERS):
            return "hwci: flaky and pytest-rerunfailures undo each other; uninstall one of them"
        return None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write what begins: a device may kill the whole run."""
        self._announced[nodeid] += 1
        self._write(begun=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report; a new setup begins a new try.

        pytest-rerunfailures holds reports back, but not those of parts: they come before a setup.
        """
        # With `--dist each`, several workers run one test at the same time.
        key = (report.nodeid, getattr(report, "node", None))
        known = self._tries.get(key)
        if known is not None and known.set_up and report.when == "setup":
            self._end(key)
        if key not in self._tries:
            self._begin(key)
        self._tries[key].take(report)
        # xdist reports a worker that died with `when` as `???`.
        if report.when not in {"setup", "call"}:
            self._end(key)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write a file that could not be collected as a test that failed, as the XML does."""
        if report.failed:
            text = str(report.longrepr or "")[:MESSAGE_MAX]
            self._write(tried=report.nodeid, outcome="fail", message=f"collection failure: {text}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write that the run ended."""
        for key in list(self._tries):
            self._end(key, finished=False)
        self._write(ended_at=_now())
        self._close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what went wrong beside the results."""
        if self._trouble:
            terminalreporter.write_line(f"hwci: {self._path} is not whole: {self._trouble}")

    def _begin(self, key: tuple[str, object]) -> None:
        nodeid, _ = key
        self._tries[key] = Try()
        if self._announced[nodeid] > 0:
            self._announced[nodeid] -= 1
        else:
            self._write(begun=nodeid)

    def _end(self, key: tuple[str, object], *, finished: bool = True) -> None:
        tried = self._tries.pop(key, None)
        outcome = None if tried is None else tried.outcome(finished=finished)
        if tried is None or outcome is None:
            return
        line: dict[str, object] = {"outcome": outcome, "duration_s": round(tried.duration_s, 6)}
        if tried.properties:
            line["properties"] = tried.properties
        if outcome == "fail":
            # The plugin flaky reports neither that it called the test, nor why it tries again.
            again = tried.again or not (tried.called or tried.explained)
            line |= {"message": tried.message, "verdict": tried.verdict, "again": again}
        self._write(tried=key[0], **line)

    def _write(self, **line: object) -> None:
        if self._file is None:
            return
        try:
            # Not as ASCII: `errors="replace"` mends broken bytes that a device printed.
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as fault:
            self._trouble = str(fault)
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat()
