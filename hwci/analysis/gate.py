# SPDX-License-Identifier: Apache-2.0
"""Whether a release may go out: what is required of its commits, and what speaks against it.

This module decides that from facts that others asked for. Each requirement is a row of one
table: what it asks, what its number counts, and what speaks against it. What is not known never
passes. Labels, classes and which merge is checked are the server's.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from hwci.analysis.run_command import TO_FILL_IN, run_command
from hwci.contract.failures.failures import Failure, ResolvedFailure
from hwci.contract.gate import BranchEnd, Finding, GateAnswer, KnownException, Required, Requirement
from hwci.contract.runs.merges import AnnouncedMerge
from hwci.contract.runs.runs import Run
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.vocabulary import CLASSES, RunEnding, Verdict
from hwci.engine.facts import Product
from hwci.said import counted, joined, short, tenths

_ANNOUNCE = "Announce each merge as CI does (hwci merge-announce), or look further back"
_WAY = "Let CI announce it or run it (hwci exec --help)"


class PlannedRun(NamedTuple):
    """The run of a product that would check a commit."""

    product: Product
    sha: str
    command: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a release.

    `commits`: which ones, in words. `ends`: the last one on each branch that received a merge of
    it. `unannounced`: those that nobody announced and no run tested, though they stood on the
    branch itself. `planned`: the runs that would check merges, `unplanned`: why there is none, by
    repository and suite. `pending`, `bugs`: the pending failures of these branches, and the
    resolved ones that are or may be firmware bugs, of all times. `held`: whether the end holds a
    commit on which one failed or was fixed, None if that is not known; without a range there is
    none, and the end is now. `at_end`: the runs of these last commits; `runs`: all that may have
    reached the hardware. `benches`: the boxes that lately ran each product, the latest first.
    """

    commits: str
    product: ProductKey | None
    period: PeriodOfDays
    merges: Sequence[AnnouncedMerge]
    ends: Sequence[BranchEnd] = ()
    unannounced: Sequence[str] = ()
    planned: Sequence[PlannedRun] = ()
    unplanned: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    pending: Sequence[Failure] = ()
    bugs: Sequence[ResolvedFailure] = ()
    held: Mapping[str, bool | None] | None = None
    at_end: Sequence[Run] = ()
    runs: Sequence[Run] = ()
    benches: Mapping[Product, Sequence[str]] = field(default_factory=dict)

    def holds(self, sha: str) -> bool | None:
        """Return whether the end holds a commit."""
        return True if self.held is None else self.held.get(sha)

    def end_of(self, repo_key: str, branch: str) -> str | None:
        """Return the last commit on a branch."""
        ends = {(end.repo_key, end.branch): end.sha for end in self.ends}
        return ends.get((repo_key, branch))


def decide(
    facts: Facts,
    required: Mapping[Requirement, float | None],
    known: Sequence[KnownException] = (),
    today: date = date.min,
) -> GateAnswer:
    """Decide whether a release may go out. `known`: the exceptions of a baseline."""
    against, excepted, used = [*_unknown(facts, required)], list[Finding](), set[KnownException]()
    is_known = not against
    requirements = []
    for requirement, least in required.items():
        row, met = REQUIREMENTS[requirement], is_known
        for finding in row.against(facts, least or 0):
            fitting = [exception for exception in known if _excepts(exception, finding)]
            used.update(fitting)
            latest = max(fitting, key=lambda exception: exception.until, default=None)
            with_exception = replace(finding, exception=latest)
            holds = latest is not None and today <= latest.until
            (excepted if holds else against).append(with_exception)
            met = met and holds
        requirements.append(Required(requirement=requirement, least=least, asks=row.asks, met=met))
    return GateAnswer(
        passed=not against,
        commits=facts.commits,
        product=facts.product,
        period=facts.period,
        ends=tuple(facts.ends),
        merges=len(facts.merges),
        requirements=tuple(requirements),
        against=tuple(against),
        excepted=tuple(excepted),
        unused=tuple(exception for exception in known if exception not in used),
        to_fill_in=TO_FILL_IN,
    )


def product_name(finding: Finding) -> str:
    """Return the product of a finding as a baseline names it."""
    return f"{finding.repo_key}:{finding.suite}"


def can_be_excepted(finding: Finding) -> bool:
    """Return whether a baseline can hold a finding: a merge or a failure. What is not known, or
    falls short of a number, has no name.
    """
    return finding.requirement is Requirement.CHECKED or bool(finding.failure_ids)


def _excepts(exception: KnownException, finding: Finding) -> bool:
    if not can_be_excepted(finding) or exception.product not in {None, product_name(finding)}:
        return False
    if exception.commit is not None:
        return not finding.failure_ids and exception.commit == finding.sha
    if exception.failure is not None:
        return exception.failure in finding.failure_ids
    return exception.test == finding.test_id


def _unknown(facts: Facts, required: Mapping[Requirement, float | None]) -> Iterator[Finding]:
    """Yield what is missing whatever is required: without a run of any merge, and of the last
    commit, no failure says nothing.
    """
    if not facts.merges:
        says = f"Nobody announced a merge of {facts.commits}"
        yield Finding(requirement=None, says=says, to_do=_ANNOUNCE)
    elif not any(merge.checked for merge in facts.merges):
        merges = counted(len(facts.merges), "announced merge")
        says = f"No run on real hardware checked a merge of {facts.commits}: {merges}"
        yield Finding(requirement=None, says=says, to_do="Run them: hwci merges plan")
    elif not required.keys() & {Requirement.CHECKED, Requirement.BOXES}:
        # These two say the same themselves.
        yield from _untested_ends(facts)


def _untested_ends(facts: Facts) -> Iterator[Finding]:
    """Yield the last commits that should have run on hardware, and did not."""
    tested = {(run.repo_key, run.sha) for run in facts.at_end if run.hello_ok}
    missing = {(merge.repo_key, merge.sha) for merge in facts.merges if not merge.checked}
    for end in facts.ends:
        commit = end.repo_key, end.sha
        if commit not in tested and (commit in missing or end.sha in facts.unannounced):
            yield _untested(facts, end, None)


def _untested(facts: Facts, end: BranchEnd, requirement: Requirement | None) -> Finding:
    runs = tuple(_runs(facts, end, end.sha))[:1]
    return Finding(
        requirement=requirement,
        says="No run on real hardware tested the last commit",
        runs=runs,
        to_do=None if runs else _WAY,
        repo_key=end.repo_key,
        sha=end.sha,
        branch=end.branch,
    )


def _unchecked(facts: Facts, _: float) -> Iterator[Finding]:
    for merge in facts.merges:
        if merge.checked:
            continue
        runs = tuple(run.command for run in facts.planned if _would_check(run, merge))[:1]
        missing = facts.unplanned.get((merge.repo_key, merge.suite))
        yield Finding(
            requirement=Requirement.CHECKED,
            says=f"Not checked on hardware: {merge.cause_text}",
            runs=runs,
            to_do=None if runs else missing or _WAY,
            repo_key=merge.repo_key,
            suite=merge.suite,
            sha=merge.sha,
            branch=merge.branch,
        )
    for sha in facts.unannounced:
        end = next(iter(facts.ends), None)
        runs = tuple(_runs(facts, end, sha))[:1]
        yield Finding(
            requirement=Requirement.CHECKED,
            says="Nobody announced this commit, and no run tested it",
            runs=runs,
            to_do=None if runs else _WAY,
            repo_key=end.repo_key if end else None,
            sha=sha,
            branch=end.branch if end else None,
        )


def _would_check(run: PlannedRun, merge: AnnouncedMerge) -> bool:
    """Return whether a planned run checks a merge; any product does for one that names none."""
    same = (run.product.repo_key, run.sha) == (merge.repo_key, merge.sha)
    return same and merge.suite in {None, run.product.suite}


def _runs(facts: Facts, end: BranchEnd | None, sha: str) -> Iterator[str]:
    """Yield a command for each product of a branch, on the box that ran it last."""
    for product, boxes in facts.benches.items():
        if end is not None and product.repo_key == end.repo_key:
            yield from (run_command(product, box, end.branch, sha) for box in boxes[:1])


def _open_bugs(facts: Facts, _: float) -> Iterator[Finding]:
    """Yield the bugs that the end may still have. A pending failure may be one unless the harness
    blamed the bench: its fix decides the class, and it has none yet.
    """
    may_be = [
        failure
        for failure in facts.pending
        if failure.verdict is not Verdict.INFRA and facts.holds(failure.sha) is not False
    ]
    yield from _pending_of(facts, may_be, Requirement.NO_OPEN_BUG)
    for bug in facts.bugs:
        began = facts.holds(bug.first_failure.sha) is not False
        fixed = bug.fix is not None and facts.holds(bug.fix.sha) is True
        if began and not fixed:
            yield _open_bug(facts, bug)


def _open_bug(facts: Facts, bug: ResolvedFailure) -> Finding:
    says = f"{bug.test_id} fails on {bug.box_key} since {short(bug.first_failure.sha)}"
    end = facts.end_of(bug.repo_key, bug.branch)
    runs: tuple[str, ...] = ()
    if bug.fix is None:
        to_do, why = None, "nothing passed since"
        runs = (_on_its_box(bug, end or bug.last_failing_sha),)
    elif facts.holds(bug.fix.sha) is None:
        to_do = "Give the clone its whole history, and ask again"
        why = f"this clone does not tell whether the end holds its fix {short(bug.fix.sha)}"
    else:
        to_do = "Let the release end at the fix or later, or bring the fix to it"
        why = f"its fix {short(bug.fix.sha)} comes after the end"
    return Finding(
        requirement=Requirement.NO_OPEN_BUG,
        says=f"{says}, {CLASSES[bug.failure_class].text}: {why}",
        runs=runs,
        to_do=to_do,
        repo_key=bug.repo_key,
        suite=bug.suite,
        sha=bug.last_failing_sha,
        branch=bug.branch,
        box_key=bug.box_key,
        test_id=bug.test_id,
        failure_ids=(bug.id,),
    )


def _pending(facts: Facts, _: float) -> Iterator[Finding]:
    yield from _pending_of(facts, facts.pending, Requirement.NO_PENDING)


def _pending_of(
    facts: Facts, failures: Sequence[Failure], requirement: Requirement
) -> Iterator[Finding]:
    """Yield pending failures, those of one group as one."""
    groups: dict[object, list[Failure]] = defaultdict(list)
    for failure in sorted(failures, key=lambda row: (row.first_started_at, row.id)):
        groups[failure.group_id or failure.id].append(failure)
    for group in groups.values():
        first, last = group[0], group[-1]
        end = facts.end_of(first.repo_key, first.branch)
        since = f"{first.test_id} fails on {first.box_key} since {short(first.sha)}"
        yield Finding(
            requirement=requirement,
            says=f"{since}: pending, {_BLAMED.get(first.verdict, 'nobody was blamed')}",
            runs=(_on_its_box(first, end or last.sha),),
            repo_key=first.repo_key,
            suite=first.suite,
            sha=last.sha,
            branch=first.branch,
            box_key=first.box_key,
            test_id=first.test_id,
            failure_ids=tuple(failure.id for failure in group),
        )


_BLAMED = {
    Verdict.DEVICE: "the harness blamed the device",
    Verdict.INFRA: "the harness blamed the bench",
}


def _on_its_box(failure: Failure | ResolvedFailure, sha: str) -> str:
    product = Product(failure.repo_key, failure.suite)
    return run_command(product, failure.box_key, failure.branch, sha)


def _too_few_boxes(facts: Facts, least: float) -> Iterator[Finding]:
    for end in facts.ends:
        merged = {
            merge.suite
            for merge in facts.merges
            if (merge.repo_key, merge.sha) == (end.repo_key, end.sha) and merge.suite is not None
        }
        runs = [run for run in facts.at_end if (run.repo_key, run.sha) == (end.repo_key, end.sha)]
        suites = sorted(merged | {run.suite for run in runs})
        if not suites:
            yield _untested(facts, end, Requirement.BOXES)
        for suite in suites:
            passed = {run.box_key for run in runs if run.suite == suite and _has_passed(run)}
            if len(passed) < least:
                yield _passed_on_few(facts, end, suite, sorted(passed), int(least))
    if not facts.ends:
        yield Finding(
            requirement=Requirement.BOXES, says="The last commit is not known", to_do=_ANNOUNCE
        )


def _has_passed(run: Run) -> bool:
    return run.ending is RunEnding.PASSED and run.tests.total > 0


def _passed_on_few(
    facts: Facts, end: BranchEnd, suite: str, passed: Sequence[str], least: int
) -> Finding:
    product = Product(end.repo_key, suite)
    others = [box for box in facts.benches.get(product, ()) if box not in passed]
    runs = [run_command(product, box, end.branch, end.sha) for box in others]
    missing = least - len(passed)
    on = f"on {joined(passed)}" if passed else "on no box"
    more = missing - len(runs)
    return Finding(
        requirement=Requirement.BOXES,
        says=f"The last commit passed {on}: fewer than {least}",
        runs=tuple(runs[:missing]),
        to_do=f"Run it on {more} more, which did not run this product lately" if more > 0 else None,
        repo_key=end.repo_key,
        suite=suite,
        sha=end.sha,
        branch=end.branch,
    )


def _reached_too_rarely(facts: Facts, least: float) -> Iterator[Finding]:
    reached = sum(bool(run.hello_ok) for run in facts.runs)
    total = len(facts.runs)
    if total and 100 * reached >= least * total:
        return
    share = f": {tenths(100 * reached / total)} %" if total else ""
    yield Finding(
        requirement=Requirement.REACHED,
        says=f"{reached:,} of {counted(total, 'run')} reached the hardware{share}",
        to_do="Mend the bench, then run them again (hwci runs list)",
    )


class Row(NamedTuple):
    """A requirement: what it asks, what its number counts (None: it has none), and what speaks
    against it.
    """

    asks: str
    number: str | None
    against: Callable[[Facts, float], Iterator[Finding]]


REQUIREMENTS: Mapping[Requirement, Row] = {
    Requirement.CHECKED: Row(
        "Each merge ran on real hardware, by itself or in the push of a run", None, _unchecked
    ),
    Requirement.NO_OPEN_BUG: Row(
        "No failure that may be a firmware bug is left at the end", None, _open_bugs
    ),
    Requirement.NO_PENDING: Row("No failure of the branch is pending", None, _pending),
    Requirement.BOXES: Row("The last commit passed on so many boxes", "N", _too_few_boxes),
    Requirement.REACHED: Row(
        "So many percent of the runs reached the hardware", "PERCENT", _reached_too_rarely
    ),
}
"""All requirements, in the order in which help names them."""


class RequirementError(ValueError):
    """What is required is not understood."""


def required(text: str) -> dict[Requirement, float | None]:
    """Read what is required, such as `checked,boxes=2`. Raises `RequirementError`."""
    read: dict[Requirement, float | None] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        name, equals, number = word.partition("=")
        if name not in {*Requirement}:
            raise RequirementError(f"{name!r} is none of {', '.join(map(_usage, Requirement))}")
        requirement = Requirement(name)
        if bool(equals) != (REQUIREMENTS[requirement].number is not None):
            raise RequirementError(f"{word!r} should be {_usage(requirement)}")
        if requirement in read:
            raise RequirementError(f"{name} is given twice")
        read[requirement] = _number(requirement, number) if equals else None
    if not read:
        raise RequirementError("nothing is required")
    return read


def _usage(requirement: Requirement) -> str:
    number = REQUIREMENTS[requirement].number
    return f"{requirement}={number}" if number else requirement.value


_PERCENT = 100
_WRITTEN = {
    Requirement.BOXES: re.compile(r"([1-9][0-9]{0,3})"),
    Requirement.REACHED: re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)%?"),
}


def _number(requirement: Requirement, text: str) -> float:
    """Read a number. No share is 0: it would be reached by runs that never reached anything."""
    match = _WRITTEN[requirement].fullmatch(text)
    number = float(match[1]) if match else 0
    if number <= 0 or (requirement is Requirement.REACHED and number > _PERCENT):
        most = f", which is at most {_PERCENT}" if requirement is Requirement.REACHED else ""
        raise RequirementError(f"{requirement}={text} should be {_usage(requirement)}{most}")
    return number
