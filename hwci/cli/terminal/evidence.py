# SPDX-License-Identifier: Apache-2.0
"""One failure in plain words: who is to blame, and everything that this rests on. The words are
decided here; the findings are the server's, the drawing is `render.py`'s.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.tables import CLASS_WORDS, REVIEWED, ago, broken_by, moment, run_number, when
from hwci.contract.page.words import NO_PASS_BETWEEN
from hwci.contract.vocabulary import (
    STEPS,
    VERDICTS,
    FailureClass,
    FileKind,
    Label,
    Outcome,
    Reason,
    ReviewAction,
    Step,
)
from hwci.said import counted, joined, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.text import Text

    from hwci.contract.failures.failures import (
        Check,
        ClassAndReason,
        EvidenceCommit,
        FailureEvidence,
        ResolvedFailure,
    )
    from hwci.contract.runs.commits import BrokenBy, ChangedCommit

FILES_SHOWN = 12

LABEL_WORDS = {
    Label.FLAKE: "a flake: the test also passed on this commit, on this box",
    Label.RESOLVED: "resolved: the test passed on a later commit, on this box",
    Label.PENDING: "pending: no pass decides it yet",
}
BLAME_WORDS = {
    FailureClass.REAL_FW_BUG: "The firmware is to blame: this was a real firmware bug.",
    FailureClass.BENCH_OR_HARNESS: "The bench or the harness is to blame, not the firmware.",
    FailureClass.AMBIGUOUS: "The reports do not show what caused it.",
    FailureClass.DISMISSED: "An admin dismissed it: it does not count as a firmware bug.",
}
UNRESOLVED_WORDS = {
    Label.FLAKE: "The test is flaky here: the same commit passed and failed on this box.",
    Label.PENDING: "Too early to blame anyone: the test has not passed again on this box.",
}
VERDICT_WORDS = {
    verdict: f"{verdict}: {text[0].lower()}{text[1:]}" for verdict, text in VERDICTS.items()
}


AUTOMATIC = "Automatic"
"""The status of a failure that nobody reviewed."""


def standing(failure: ResolvedFailure) -> str:
    """Return the line about a failure after a review."""
    test = f"{failure.test_id} on {failure.box_key}"
    if failure.label is not Label.RESOLVED:
        return f"{test} is now {LABEL_WORDS[failure.label]}."
    reason = f" ({failure.reason_text})" if failure.reason_text else ""
    known = CLASS_WORDS[failure.failure_class]
    by = "decided by the rules" if failure.status == AUTOMATIC else f"reviewed by {failure.status}"
    return f"{test} now counts as: {known}{reason}, {by}."


def next_steps(evidence: FailureEvidence) -> Iterator[str]:
    """Return the commands that act on a failure now, and what gives later ones a verdict."""
    failure, resolved = evidence.failure, evidence.resolved
    if resolved is None:
        product = tables.product(failure.repo_key, failure.suite)
        runs = ("hwci", "runs", "list", "--product", product, "--test", failure.test_id)
        yield f"Runs with this test: {shlex.join(runs)}"
        return
    known = resolved.failure_class
    ways = []
    if known is not FailureClass.REAL_FW_BUG:
        ways.append(f": hwci failures confirm {failure.id}")
    if known in {FailureClass.REAL_FW_BUG, FailureClass.AMBIGUOUS}:
        ways.append(f": hwci failures dismiss {failure.id}")
    if resolved.review is not None:
        ways.append(f": hwci failures reset {failure.id}")
    for number, way in enumerate(ways):  # a line each: all at once would undo one another
        yield f"{'or' if number else 'To review it, as an owner or admin'}{way}"
    if resolved.reason is Reason.VERDICT_MISSING:
        yield "For a verdict in the reports to come: add a [[verdict]] rule to hwci.toml"


UNDER_TEST_UNKNOWN = "not known: the report does not name the run before, as on a first report"


def sections(
    evidence: FailureEvidence,
    now: datetime,
    *,
    since: str | None = None,
    lost_board: str | None = None,
) -> Iterator[Text]:
    """Return the sections about a failure: a title and its lines in turn. `since`: when its test
    fails since, by all its runs; `lost_board`: that its runs lost the board, as a sentence.
    """
    failure = evidence.failure
    under_test = _commits(evidence.under_test, evidence.under_test_total, UNDER_TEST_UNKNOWN)
    for title, lines in (
        (
            f"{failure.test_id} on {failure.box_key} ({failure.id})",
            list(_facts(evidence, now, since, lost_board)),
        ),
        (
            "Timeline of this test on this box, in the branch's order",
            list(_timeline(evidence, now)),
        ),
        ("Checks, in order", list(check_lines(evidence))),
        ("Commits under test", list(under_test)),
        ("Commits before the fix", list(_before_fix(evidence))),
    ):
        if lines:
            yield render.paragraph(title, "bold")
            yield render.indented(lines)


def _facts(
    evidence: FailureEvidence, now: datetime, since: str | None, lost_board: str | None
) -> Iterator[str]:
    failure, resolved = evidence.failure, evidence.resolved
    yield from _how_it_stands(evidence)
    yield f"product      {tables.product(failure.repo_key, failure.suite)}, branch {failure.branch}"
    yield f"commit       {failure.sha}"
    items = counted(failure.items, "failing item")
    yield f"first failed {when(failure.first_started_at, now)} UTC, {items}"
    yield f"verdict      {VERDICT_WORDS[failure.verdict]}"
    yield from [] if lost_board is None else [f"board        {lost_board}"]
    yield from _message(evidence)
    if resolved is None:
        yield from (
            _suspects("suspects", evidence.broken_by) if failure.label is Label.PENDING else ()
        )
        if since is not None:
            yield f"history      {since}, by all runs of the test"
        return
    commits = counted(resolved.failing_commits, "failing commit")
    fix, review = resolved.fix, resolved.review
    passed = f"{fix.sha}, passed {when(fix.started_at, now)} UTC" if fix else "not known"
    class_text = _found(resolved)
    if review is not None:  # a person's word, beside what the checks alone would say
        word = _reviewed(review.action)
        class_text = f"{word} by {resolved.status}; the checks alone: {_found(resolved.automatic)}"
    yield f"group        {commits} {NO_PASS_BETWEEN}"
    yield from _suspects("broken by", resolved.broken_by)
    yield f"fixed by     {passed}"
    yield f"class        {class_text}"
    yield f"status       {_status(resolved)}"
    if review is not None and review.note is not None:
        yield f"note         {review.note}"
    if review is not None and review.issue is not None:
        yield f"issue        {review.issue}"


def _how_it_stands(evidence: FailureEvidence) -> Iterator[str]:
    known = evidence.failure.known
    yield blame(evidence)
    yield f"label        {_label(evidence)}{'' if known is None else f'; {known.says}'}"


def _status(resolved: ResolvedFailure) -> str:
    review = resolved.review
    return f"{tables.status(resolved)}{f', {moment(review.at)} UTC' if review else ''}"


def _suspects(title: str, suspects: BrokenBy | None) -> Iterator[str]:
    """Return what broke the test: a line for each commit of a range that is not too long."""
    yield f"{title:<13}{broken_by(suspects)}"
    if suspects is None or len(suspects.commits) == 1:
        return
    for commit in suspects.commits[:FILES_SHOWN]:
        yield f"{'':<13}{short(commit.sha)} {commit.subject}"
    for line in _rest(len(suspects.commits) - FILES_SHOWN, "commit"):
        yield f"{'':<13}{line}"


def _message(evidence: FailureEvidence) -> Iterator[str]:
    """Return the lines that the harness wrote in the first failing run of this commit, and where
    the log is, if any.
    """
    runs = [run for commit in evidence.timeline if commit.this for run in commit.runs]
    first = next((run.message for run in runs if run.message), "")
    for number, line in enumerate(first.splitlines()):
        yield f"{'' if number else 'message':<13}{line}"
    log = next((run.log_url for run in runs if run.log_url and run.outcome is Outcome.FAIL), None)
    yield from [] if log is None else [f"log          {log}"]


def _label(evidence: FailureEvidence) -> str:
    """Return why it has its label: a review needs no later pass (semantics, 8.2)."""
    resolved = evidence.resolved
    if resolved is None or resolved.review is None:
        return LABEL_WORDS[evidence.failure.label]
    if any(commit.this and commit.passed for commit in evidence.timeline):
        known = "the test also passed on this commit, on this box"
    elif resolved.fix is None:
        known = "no pass on a later commit is known"
    else:
        return LABEL_WORDS[evidence.failure.label]
    return f"resolved: reviewed by {resolved.status}; {known}"


def blame(evidence: FailureEvidence) -> str:
    """Return who is to blame."""
    if evidence.resolved is None:
        return UNRESOLVED_WORDS.get(evidence.failure.label, LABEL_WORDS[evidence.failure.label])
    return BLAME_WORDS[evidence.resolved.failure_class]


def _reviewed(action: ReviewAction) -> str:
    bug = "real firmware bug, " if action is ReviewAction.CONFIRM else ""
    return f"{bug}{REVIEWED[action]}"


def _found(answer: ClassAndReason) -> str:
    reason = answer.reason_text or "no check speaks against it"
    return f"{CLASS_WORDS[answer.failure_class]}, {reason}"


def _mark(commit: EvidenceCommit) -> str:
    passed, failed, both = _marks()
    if commit.passed and commit.failed:
        return both
    return passed if commit.passed else failed


def _timeline(evidence: FailureEvidence, now: datetime) -> Iterator[str]:
    if not evidence.timeline:
        return
    yield " ".join(_mark(commit) for commit in evidence.timeline)
    yield " ".join("^" if commit.this else " " for commit in evidence.timeline).rstrip()
    subjects = _subjects(evidence)
    for commit in evidence.timeline:
        here = "  <- this failure" if commit.this else ""
        first = min((run.started_at for run in commit.runs), default=None)
        time = "" if first is None else f"  {moment(first)} ({ago(first, now)})"
        runs = counted(commit.runs_total, "run")
        subject = f"  {subjects[commit.sha]}" if subjects.get(commit.sha) else ""
        boards = [*dict.fromkeys(run.board for run in commit.runs if run.board)]
        runs += f" on {joined(boards)}" if boards else ""
        yield f"{_mark(commit)} {short(commit.sha)}{time}  {runs}{here}{subject}"
    yield from _rest(evidence.timeline_total - len(evidence.timeline), "commit")


def _subjects(evidence: FailureEvidence) -> dict[str, str]:
    """Return the subjects of the commits that any run reported."""
    commits = (
        *evidence.timeline_changes,
        *(evidence.under_test or ()),
        *(evidence.before_fix or ()),
    )
    return {commit.sha: commit.subject for commit in commits}


def _rest(more: int, noun: str) -> Iterator[str]:
    if more > 0:
        yield f"… {counted(more, noun)} not shown"


def _before_fix(evidence: FailureEvidence) -> Iterator[str]:
    if evidence.resolved is not None:
        unknown = "the reports do not connect the failure to a fix"
        yield from _commits(evidence.before_fix, evidence.before_fix_total, unknown)


def _commits(
    commits: Sequence[ChangedCommit] | None, total: int | None, unknown: str
) -> Iterator[str]:
    if commits is None:
        yield unknown
        return
    if not commits:
        yield "none"
    for commit in commits:
        yield f"{short(commit.sha)} {commit.subject}"
        # What decides comes first: other files matter to no check.
        files = sorted(commit.files, key=lambda file: file.kind is FileKind.OTHER)
        shown = [f"{file.kind or '':<8}  {file.path}" for file in files[:FILES_SHOWN]]
        shown += _rest(commit.files_total - len(shown), "file")
        if commit.files_truncated:
            shown.append("(the list of files was cut short)")
        yield from (f"    {line}" for line in shown)
    yield from _rest((total or 0) - len(commits), "commit")


def check_lines(evidence: FailureEvidence) -> Iterator[str]:
    """Return the lines about the checks that were asked, step by step."""
    checks = {check.reason: check for check in evidence.checks}
    number = 0
    for step in STEPS:
        if checks.keys() & step.claims.keys():
            yield f"{step.title}{_about(step, evidence)}"
        for reason, claim in step.claims.items():
            if reason in checks:
                number += 1
                yield from _check(number, claim, checks[reason])


def _marks() -> tuple[str, str, str]:
    """Return the signs of what passed, of what failed, and of what did both."""
    return ("✓", "✗", "±") if render.unicode_fits() else ("P", "F", "B")


def _about(step: Step, evidence: FailureEvidence) -> str:
    """Return how many commits the claims of a step are about, if known."""
    totals = {"under test": evidence.under_test_total, "before the fix": evidence.before_fix_total}
    total = totals.get(step.about or "")
    return "" if total is None else f" ({counted(total, 'reported commit')} {step.about})"


def _check(number: int, claim: str, check: Check) -> Iterator[str]:
    passed, failed, _ = _marks()
    # Beside the sign of what failed, the claim would read as true.
    yield f"{number}. {f'{failed} {check.reason_text}' if check.decided else f'{passed} {claim}'}"
    yield f"   {check.found}"
    places = [
        f"run {run_number(check.run)} attempt {check.run.run_attempt} on {check.run.box_key}"
        if check.run
        else "",
        f"commit {short(check.commit)}" if check.commit else "",
        f"file {check.file}" if check.file else "",
        f"pattern {check.pattern}" if check.pattern else "",
    ]
    if any(places):
        yield f"   see {', '.join(filter(None, places))}"
