# SPDX-License-Identifier: Apache-2.0
"""Whose fault a resolved failure was (spec, "Classification"; semantics, 6.3-6.4).

This module decides the class of a group: it asks the rows of the reason table in their order and
keeps the trace of every row asked. It does not know who may review, nor which failures are shown.

A row may rely on the rows before it not having decided. No row concludes from a list that was cut
short that a file was not changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from hwci.contract.failures.failures import ClassAndReason, Review
from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import REASONS, FailureClass, Reason, ReviewAction, Verdict
from hwci.engine.facts import Product, SuiteConfig
from hwci.engine.history import Decision, History, RunChanges
from hwci.engine.rules.changes import ProductFiles, UnderTest, product_files
from hwci.engine.rules.labels import Group
from hwci.engine.rules.walk import Step, Walk, Walks

VERSION = 2
"""To be raised when the checks may give another class or reason for the same facts and the same
configuration: stores then ask again where they kept what was decided.
"""

Subject = TypeVar("Subject")


class CheckedRun(NamedTuple):
    """The run that a row looked at, on one box. `run_id` is the run as CI knows it."""

    started_at: datetime
    run_id: int
    run_attempt: int
    box_key: str
    ci_run: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a row found: a sentence, and the evidence that decided."""

    note: str
    run: CheckedRun | None = None
    commit: str | None = None
    file: str | None = None
    pattern: str | None = None


class Answer(NamedTuple):
    """Whether the row's condition holds, and why."""

    decided: bool
    finding: Finding


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the reason table, asked. `decided`: this row gave the class."""

    reason: Reason
    decided: bool
    finding: Finding


class Classification(NamedTuple):
    """A class, its reason (None: a real firmware bug), and every check up to the deciding one."""

    failure_class: FailureClass
    reason: Reason | None
    trace: tuple[Check, ...] = ()

    @property
    def told(self) -> ClassAndReason:
        """The class as answers have it, with the sentence that people read."""
        return _told(self.failure_class, self.reason)


@cache
def _told(failure_class: FailureClass, reason: Reason | None) -> ClassAndReason:
    text = None if reason is None else REASONS[reason].text
    return ClassAndReason(failure_class=failure_class, reason=reason, reason_text=text)


class BeforeFix(NamedTuple):
    """The walk from the last failing commit to the fix, oldest step first, and the path lists."""

    files: ProductFiles
    last_failing: str
    fix: str | None
    walk: tuple[Step, ...] | None

    def commits(self) -> Iterator[tuple[CheckedRun, Commit]]:
        """Yield each commit in each of its places, with the run that listed it."""
        for step in self.walk or ():
            for commit in step.commits:
                yield checked_run(step.run), commit

    def cut_short(self) -> Finding | None:
        """Return the first commit whose file list was cut short."""
        for run, commit in self.commits():
            if commit.files_truncated:
                note = f"{self.called(commit)} has files that were not sent"
                return Finding(note, run, commit.sha)
        return None

    def called(self, commit: Commit) -> str:
        """Return what a commit is called: the fix counts, too (6.1)."""
        return "The fix" if commit.sha == self.fix else "A commit before the fix"


def checked_run(run: RunChanges) -> CheckedRun:
    """Return the run that sent these changes."""
    order = run.order
    return CheckedRun(order.started_at, run.ci_run_id, order.run_attempt, order.box_key, run.ci_run)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


_BLAMED = {
    Verdict.DEVICE: "The harness blamed the device under test",
    Verdict.INFRA: "The harness blamed the bench",
    Verdict.UNKNOWN: "The harness blamed neither the device nor the bench",
}


def _bench_blamed(group: Group) -> Answer:
    return Answer(group.first.first.verdict is Verdict.INFRA, _blamed(group))


def _nobody_blamed(group: Group) -> Answer:
    return Answer(group.first.first.verdict is Verdict.UNKNOWN, _blamed(group))


def _blamed(group: Group) -> Finding:
    first, box = group.first.first, group.first.key.lane.box_key
    run = CheckedRun(first.started_at, first.ci_run_id, first.run_attempt, box, first.ci_run)
    return Finding(_BLAMED[first.verdict], run)


def _not_configured(subject: UnderTest) -> Answer:
    if subject.files is None:
        return Answer(True, Finding("The product has no suite configuration"))
    return Answer(False, Finding("The product has a suite configuration"))


def _changes_unknown(subject: UnderTest) -> Answer:
    if subject.run is None:
        return Answer(True, Finding("The first run on the failing commit reported no changes"))
    if subject.run.changes.base_sha is None:
        note = "The changes of the first run on the failing commit have no base commit"
        return Answer(True, Finding(note, checked_run(subject.run)))
    tested = _counted(len(subject.run.changes.commits), "commit")
    note = f"The first run on the failing commit tested {tested}"
    return Answer(False, Finding(note, checked_run(subject.run)))


def _firmware_under_test(subject: UnderTest) -> Finding | None:
    assert subject.files is not None
    assert subject.run is not None
    for commit in subject.run.changes.commits:
        touch = subject.files.firmware_touch(commit)
        if touch is not None:
            note = "A commit under test changed firmware"
            return Finding(note, checked_run(subject.run), commit.sha, *touch)
    return None


def _changes_cut_short(subject: UnderTest) -> Answer:
    firmware = _firmware_under_test(subject)
    if firmware is not None:
        return Answer(False, firmware)
    assert subject.run is not None
    run, changes = checked_run(subject.run), subject.run.changes
    if changes.truncated:
        return Answer(True, Finding("Some commits under test were not sent", run))
    for commit in changes.commits:
        if commit.files_truncated:
            note = "Some files of a commit under test were not sent"
            return Answer(True, Finding(note, run, commit.sha))
    return Answer(False, Finding("Every commit and file under test was sent", run))


def _changes_without_firmware(subject: UnderTest) -> Answer:
    firmware = _firmware_under_test(subject)
    if firmware is not None:
        return Answer(False, firmware)
    assert subject.run is not None
    return Answer(True, Finding("No commit under test changed firmware", checked_run(subject.run)))


def _fix_unconnected(subject: BeforeFix) -> Answer:
    if subject.fix is None:
        return Answer(True, Finding("No later commit of the branch passed"))
    if subject.walk is None:
        note = f"No run reports lead from {subject.fix} back to the last failing commit"
        return Answer(True, Finding(note, commit=subject.last_failing))
    steps = len(subject.walk)
    over = _counted(sum(len(step.commits) for step in subject.walk), "commit")
    verb = "connects" if steps == 1 else "connect"
    note = f"{_counted(steps, 'run report')} {verb} the failure to its fix over {over}"
    return Answer(False, Finding(note, checked_run(subject.walk[-1].run), subject.fix))


def _fix_touched_harness(subject: BeforeFix) -> Answer:
    for run, commit in subject.commits():
        harness = subject.files.harness_touch(commit)
        if harness and not commit.files_truncated and not subject.files.firmware_touch(commit):
            note = f"{subject.called(commit)} changed harness files and no firmware file"
            return Answer(True, Finding(note, run, commit.sha, *harness))
    return Answer(False, Finding("No commit up to the fix is known to be one of harness alone"))


def _fix_without_firmware(subject: BeforeFix) -> Answer:
    for run, commit in subject.commits():
        firmware = subject.files.firmware_touch(commit)
        if firmware:
            note = f"{subject.called(commit)} changed firmware"
            return Answer(False, Finding(note, run, commit.sha, *firmware))
    cut = subject.cut_short()
    if cut is not None:
        return Answer(False, cut)
    return Answer(True, Finding("No commit up to the fix changed firmware"))


def _fix_mixed(subject: BeforeFix) -> Answer:
    for run, commit in subject.commits():
        firmware = subject.files.firmware_touch(commit)
        harness = subject.files.harness_touch(commit)
        if firmware and harness:
            both = f"changed firmware, and the harness file {harness.file}"
            note = f"{subject.called(commit)} {both}"
            return Answer(True, Finding(note, run, commit.sha, *firmware))
    return Answer(False, Finding("No commit up to the fix changed firmware and harness together"))


def _fix_cut_short(subject: BeforeFix) -> Answer:
    cut = subject.cut_short()
    if cut is not None:
        return Answer(True, cut)
    return Answer(False, Finding("Every file changed up to the fix was sent"))


class Row(NamedTuple, Generic[Subject]):
    """A row of the reason table: its reason, the spec's condition, and the question for it."""

    reason: Reason
    condition: str
    ask: Callable[[Subject], Answer]


# The checks "in this order (the first failing check gives the reason)", in three parts by what
# they look at.
VERDICT_ROWS: tuple[Row[Group], ...] = (
    Row(Reason.VERDICT_INFRA, "Verdict blamed the bench", _bench_blamed),
    Row(Reason.VERDICT_MISSING, "Failed test has no `verdict`", _nobody_blamed),
)
CHANGES_ROWS: tuple[Row[UnderTest], ...] = (
    Row(Reason.PATHS_NOT_CONFIGURED, "No suite configuration for the product", _not_configured),
    Row(
        Reason.CHANGES_UNKNOWN,
        "First run on the failing commit has no `changes`, or its `base_sha` is `null`",
        _changes_unknown,
    ),
    Row(
        Reason.CHANGES_INCOMPLETE,
        "No firmware file in the changes under test and some commits or files were not sent",
        _changes_cut_short,
    ),
    Row(
        Reason.CHANGES_NOT_FIRMWARE,
        "No commit under test changed a firmware file",
        _changes_without_firmware,
    ),
)
FIX_ROWS: tuple[Row[BeforeFix], ...] = (
    Row(
        Reason.FIX_UNCONNECTED,
        "Run reports do not connect the failing commit to the fix without a gap",
        _fix_unconnected,
    ),
    Row(
        Reason.FIX_TOUCHED_HARNESS,
        "A commit between failure and fix changed harness files and no firmware files",
        _fix_touched_harness,
    ),
    Row(
        Reason.FIX_NOT_FIRMWARE,
        "No commit between failure and fix changed a firmware file",
        _fix_without_firmware,
    ),
    Row(Reason.FIX_MIXED, "One commit changed both kinds of files", _fix_mixed),
    Row(
        Reason.FIX_INCOMPLETE,
        "Some commits before the fix have files that were not sent",
        _fix_cut_short,
    ),
)

_FIX_REASONS = {row.reason for row in FIX_ROWS}
REVIEWED = {
    ReviewAction.CONFIRM: Classification(FailureClass.REAL_FW_BUG, None),
    ReviewAction.DISMISS: Classification(FailureClass.DISMISSED, Reason.DISMISSED),
}

_Checks = tuple[Check, ...]


class Classifier:
    """Classifies groups of one history, and remembers: one commit often breaks many tests.

    `instead`: configurations used in place of those of the history.
    """

    def __init__(
        self, history: History, instead: Mapping[Product, SuiteConfig] | None = None
    ) -> None:
        self._history = history
        self._instead = instead or {}
        self._walks = Walks(history)
        self._files: dict[Product, ProductFiles | None] = {}
        self._under_test: dict[tuple[str, str, str, str], RunChanges | None] = {}
        self._changes_checks: dict[tuple[str, ...], _Checks] = {}
        self._fix_checks: dict[tuple[Product, str, str | None], _Checks] = {}

    def automatic(self, group: Group) -> Classification:
        """Return the class that the checks give now, with their trace."""
        self._history.check_time()
        checks = _checks_of(VERDICT_ROWS, group)
        if not checks[-1].decided:
            checks += self._check_changes(group)
        if not checks[-1].decided:
            checks += self._check_fix(group)
        if not checks[-1].decided:
            return Classification(FailureClass.REAL_FW_BUG, None, checks)
        reason = checks[-1].reason
        return Classification(REASONS[reason].failure_class, reason, checks)

    def shown(self, group: Group) -> Classification:
        """Return the class that people see."""
        return shown_class(group.review, self.automatic(group))

    def under_test(self, group: Group) -> UnderTest:
        """Return the changes of the first run on the group's first commit (semantics, 5)."""
        key, first = group.first.key, group.first.first
        target = (key.lane.repo_key, first.workflow, key.lane.branch, key.sha)
        if target not in self._under_test:
            self._under_test[target] = self._history.changes_under_test(*target)
        run = self._under_test[target]
        return UnderTest(self.files_of(key.lane.product), None if run is None else run.changes, run)

    def walk(self, group: Group) -> tuple[Step, ...] | None:
        """Return the steps from the group's last commit up to its fix, if they are connected."""
        return None if group.fix is None else self._walk(group, group.fix).steps

    def decide(self, group: Group) -> Decision:
        """Return what the checks give now, in the form that a store keeps."""
        failure_class, reason, trace = self.automatic(group)
        if group.fix is None or trace[-1].reason not in _FIX_REASONS:
            return Decision(failure_class, reason)
        return Decision(failure_class, reason, self._walk(group, group.fix).rests_on)

    def reached(self, group: Group) -> frozenset[str]:
        """Return the commits whose lists of changes, sent otherwise, could make another walk to the
        fix; none if the checks do not look for one. Where there is no walk, these are more than
        that rests on: one end may be enough to know it.
        """
        rests_on = self.decide(group).rests_on
        if group.fix is None or not rests_on or self.walk(group) is not None:
            return rests_on
        return rests_on | self._walks.back_from(group.first.key.lane.repo_key, group.fix)

    def _walk(self, group: Group, fix: str) -> Walk:
        return self._walks.between(group.first.key.lane.repo_key, group.last.key.sha, fix)

    def files_of(self, product: Product) -> ProductFiles | None:
        """Return the path lists of a product, if it is configured."""
        if product not in self._files:
            config = self._instead.get(product) or self._history.config(product)
            self._files[product] = (
                None if config is None else product_files(config, self._history.check_time)
            )
        return self._files[product]

    def _check_changes(self, group: Group) -> _Checks:
        key, first = group.first.key, group.first.first
        target = (*key.lane.product, first.workflow, key.lane.branch, key.sha)
        if target not in self._changes_checks:
            self._changes_checks[target] = _checks_of(CHANGES_ROWS, self.under_test(group))
        return self._changes_checks[target]

    def _check_fix(self, group: Group) -> _Checks:
        product = group.first.key.lane.product
        span = (product, group.last.key.sha, group.fix)
        if span not in self._fix_checks:
            files = self.files_of(product)
            assert files is not None  # the rows before asked for a configuration
            subject = BeforeFix(files, group.last.key.sha, group.fix, self.walk(group))
            self._fix_checks[span] = _checks_of(FIX_ROWS, subject)
        return self._fix_checks[span]


def shown_class(review: Review | None, automatic: Classification) -> Classification:
    """Return the class that people see: "A review replaces the automatic label"."""
    return automatic if review is None else REVIEWED[review.action]


def _checks_of(rows: tuple[Row[Subject], ...], subject: Subject) -> _Checks:
    """Ask row after row up to the first that decides."""
    checks = []
    for row in rows:
        answer = row.ask(subject)
        checks.append(Check(row.reason, *answer))
        if answer.decided:
            break
    return tuple(checks)
