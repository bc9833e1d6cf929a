# SPDX-License-Identifier: Apache-2.0
"""What each row of the reason table asks, and what it found (semantics, 5 and 6.3-6.5).

This module decides whether the condition of one row holds, and names the run, commit, file and
pattern that decided. It does not know the order of the rows: a question may take for granted that
the rows before it did not decide. Nothing is concluded from a list that was cut short.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from hwci.engine.answers import CheckedRun, Finding
from hwci.engine.facts import Changes, Commit
from hwci.engine.history import RunChanges
from hwci.engine.rules.files import ProductFiles, Touch
from hwci.engine.rules.labels import Group
from hwci.engine.rules.walk import Step
from hwci.engine.vocabulary import Verdict

_BLAMED = {
    Verdict.DEVICE: "The harness blamed the device under test",
    Verdict.INFRA: "The harness blamed the bench",
    Verdict.UNKNOWN: "The harness blamed nobody",
}


class Answer(NamedTuple):
    """Whether the row's condition holds, and why."""

    decided: bool
    finding: Finding


class UnderTest(NamedTuple):
    """The changes of the first run on the failing commit, and the product's lists."""

    files: ProductFiles | None
    run: RunChanges | None

    @property
    def changes(self) -> Changes | None:
        """The changes under test; None when they are unknown: none, or `base_sha` null."""
        if self.run is None or self.run.changes.base_sha is None:
            return None
        return self.run.changes


class BeforeFix(NamedTuple):
    """The walk from the last failing commit to the fix, oldest step first, and the lists."""

    files: ProductFiles
    last_failing: str
    fix: str | None
    walk: tuple[Step, ...] | None

    def commits(self) -> Iterator[tuple[CheckedRun, Commit]]:
        """Give each commit of the range in each of its places, with the run that told of it."""
        for step in self.walk or ():
            for commit in step.commits:
                yield _checked(step.run), commit


def _checked(run: RunChanges) -> CheckedRun:
    order = run.order
    return CheckedRun(order.started_at, run.ci_run_id, order.run_attempt, order.box_key)


def _blame(group: Group, verdict: Verdict) -> Answer:
    first = group.first.first
    box = group.first.key.lane.box_key
    run = CheckedRun(first.started_at, first.ci_run_id, first.run_attempt, box)
    return Answer(first.verdict is verdict, Finding(_BLAMED[first.verdict], run))


def blamed_bench(group: Group) -> Answer:
    """Whether the verdict of the first failing run is `infra`."""
    return _blame(group, Verdict.INFRA)


def blamed_nobody(group: Group) -> Answer:
    """Whether the first failing run has no verdict."""
    return _blame(group, Verdict.UNKNOWN)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def not_configured(subject: UnderTest) -> Answer:
    """Whether the product has no suite configuration; empty lists are a configuration."""
    if subject.files is None:
        return Answer(True, Finding("The product has no suite configuration"))
    return Answer(False, Finding("The product has a suite configuration"))


def changes_unknown(subject: UnderTest) -> Answer:
    """Whether the first run on the failing commit has no `changes`, or a null `base_sha`."""
    if subject.run is None:
        return Answer(True, Finding("The first run on the failing commit reported no changes"))
    if subject.run.changes.base_sha is None:
        note = "The changes of the first run on the failing commit have no base commit"
        return Answer(True, Finding(note, _checked(subject.run)))
    tested = _counted(len(subject.run.changes.commits), "commit")
    note = f"The first run on the failing commit tested {tested}"
    return Answer(False, Finding(note, _checked(subject.run)))


def _firmware_under_test(subject: UnderTest) -> Finding | None:
    assert subject.files is not None
    assert subject.run is not None
    run = _checked(subject.run)
    pairs = ((run, commit) for commit in subject.run.changes.commits)
    return _first_touch(pairs, subject.files.firmware_touch, "A commit under test changed firmware")


def changes_cut_short(subject: UnderTest) -> Answer:
    """Whether no firmware file was sent although some commits or files were not."""
    firmware = _firmware_under_test(subject)
    if firmware is not None:
        return Answer(False, firmware)
    assert subject.run is not None
    run, changes = _checked(subject.run), subject.run.changes
    if changes.truncated:
        return Answer(True, Finding("Some commits under test were not sent", run))
    for commit in changes.commits:
        if commit.files_truncated:
            note = "Some files of a commit under test were not sent"
            return Answer(True, Finding(note, run, commit.sha))
    return Answer(False, Finding("Every commit and file under test was sent", run))


def changes_left_firmware(subject: UnderTest) -> Answer:
    """Whether no commit under test changed a firmware file."""
    firmware = _firmware_under_test(subject)
    if firmware is not None:
        return Answer(False, firmware)
    assert subject.run is not None
    return Answer(True, Finding("No commit under test changed firmware", _checked(subject.run)))


def fix_unconnected(subject: BeforeFix) -> Answer:
    """Whether run reports do not connect the failing commit to the fix without a gap."""
    if subject.fix is None:
        return Answer(True, Finding("No later commit of the branch passed"))
    if subject.walk is None:
        note = f"No run reports lead from {subject.fix} back to the last failing commit"
        return Answer(True, Finding(note, commit=subject.last_failing))
    steps = len(subject.walk)
    over = _counted(sum(len(step.commits) for step in subject.walk), "commit")
    verb = "connects" if steps == 1 else "connect"
    note = f"{_counted(steps, 'run report')} {verb} the failure to its fix over {over}"
    return Answer(False, Finding(note, _checked(subject.walk[-1].run), subject.fix))


def fix_touched_harness(subject: BeforeFix) -> Answer:
    """Whether a commit with its whole file list changed harness files and no firmware file."""
    for run, commit in subject.commits():
        harness = subject.files.harness_touch(commit)
        if harness and not commit.files_truncated and not subject.files.firmware_touch(commit):
            note = "A commit before the fix changed harness files and no firmware file"
            return Answer(True, Finding(note, run, commit.sha, *harness))
    return Answer(False, Finding("No commit before the fix is known to be one of harness alone"))


def fix_left_firmware(subject: BeforeFix) -> Answer:
    """Whether no commit of the range changed a firmware file, every file list being whole."""
    note = "A commit before the fix changed firmware"
    firmware = _first_touch(subject.commits(), subject.files.firmware_touch, note)
    if firmware is not None:
        return Answer(False, firmware)
    cut = _cut_short(subject)
    if cut is not None:
        return Answer(False, cut)
    return Answer(True, Finding("No commit before the fix changed firmware"))


def fix_mixed(subject: BeforeFix) -> Answer:
    """Whether one commit of the range changed both kinds of files."""
    for run, commit in subject.commits():
        firmware = subject.files.firmware_touch(commit)
        harness = subject.files.harness_touch(commit)
        if firmware and harness:
            note = f"A commit before the fix changed firmware, and the harness file {harness.file}"
            return Answer(True, Finding(note, run, commit.sha, *firmware))
    return Answer(False, Finding("No commit before the fix changed firmware and harness together"))


def fix_cut_short(subject: BeforeFix) -> Answer:
    """Whether some commits of the range have files that were not sent."""
    cut = _cut_short(subject)
    if cut is not None:
        return Answer(True, cut)
    return Answer(False, Finding("Every file changed before the fix was sent"))


def _cut_short(subject: BeforeFix) -> Finding | None:
    for run, commit in subject.commits():
        if commit.files_truncated:
            note = "Some files of a commit before the fix were not sent"
            return Finding(note, run, commit.sha)
    return None


def _first_touch(
    commits: Iterable[tuple[CheckedRun, Commit]],
    touch: Callable[[Commit], Touch | None],
    note: str,
) -> Finding | None:
    for run, commit in commits:
        found = touch(commit)
        if found is not None:
            return Finding(note, run, commit.sha, *found)
    return None
