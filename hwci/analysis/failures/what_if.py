# SPDX-License-Identifier: Apache-2.0
"""What would give a resolved failure another class: single edits of what CI or a person sent.

This module decides which edits are tried, a closed table (`EDITS`), and keeps those with which the
rules give another class. It concludes nothing from a reason: each edit is classified in a history
that has it. It does not know git: where a run sent no changes, an edit states what they would be,
unless who asks gives what git has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from hwci.analysis.failures.edited import ChangesAsked, edited, file_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import EditKind, FileKind, Reason, ReviewAction, Verdict
from hwci.engine.facts import SuiteConfig
from hwci.engine.history import (
    History,
    LaneCommit,
    OutOfTimeError,
    Place,
    ReportOrder,
    RunChanges,
    Scope,
    SightedRun,
)
from hwci.engine.patterns import check_patterns
from hwci.engine.periods import Period
from hwci.engine.rules.classify import REVIEWED, Classification, Classifier
from hwci.engine.rules.labels import Group
from hwci.engine.rules.reviews import TAKES

FILES_TRIED = 40
"""Changed files of which patterns are made: so many, or fewer where there are thousands."""
_MATCHES_MAX = 20_000
ALL_FILES = "**"
PATTERNS_MAX = 200
"""Patterns that a list may have."""
COMMITS_TRIED = 100
"""Commits of the test's row on its box whose runs may lack changes."""

OfGit = Mapping[tuple[str, str], ChangeList]
"""What changed from one commit to another, by both."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit. What does not belong to its kind is None.

    `paths`: which list gets or loses `pattern`. `commit`: whose files are sent whole. `run`: whose
    report sends these changes instead. `assumed`: what its commit is assumed to have
    changed, as nothing says it. `of_git`: the caller read it from git.
    """

    kind: EditKind
    verdict: Verdict | None = None
    paths: FileKind | None = None
    pattern: str | None = None
    commit: str | None = None
    run: RunChanges | None = None
    assumed: FileKind | None = None
    of_git: bool = False
    action: ReviewAction | None = None


class WhatIf(NamedTuple):
    """An edit, and what the failure would be with it."""

    edit: Edit
    then: Classification


class WhatIfs(NamedTuple):
    """The edits that would change the class, in the order of the table. `complete`: every edit of
    the table was tried; else the time was over, or a list was longer than is tried.
    """

    found: Sequence[WhatIf]
    complete: bool


def what_if(history: RecordedRuns, group: Group, of_git: OfGit | None = None) -> WhatIfs:
    """Return the single edits that would change the class of a resolved group, as people see it.
    `of_git`: changes that runs may not have sent.

    Raises `OutOfTimeError`: there was no time to try one.
    """
    trying = Trying(history, group, of_git)
    edits: list[WhatIf] = []
    tried = False
    try:
        for edit in trying.edits():
            then = trying.outcome(edit)
            tried = True
            if then.failure_class is not trying.now.failure_class:
                edits.append(WhatIf(edit, then))
    except OutOfTimeError:
        if not tried:
            raise
        return WhatIfs(edits, complete=False)
    return WhatIfs(edits, complete=not trying.cut)


class Trying:
    """The edits of one group, and what each makes of it."""

    def __init__(self, history: RecordedRuns, group: Group, of_git: OfGit | None = None) -> None:
        self._of_git = of_git or {}
        self._recorded = history
        self._changes = ChangesAsked(history)
        self._history = edited(self._changes)
        self._group = group
        self._lane = group.first.key.lane
        self._classifier = Classifier(self._history)
        self._config = history.config(self._lane.product)
        self.now = self._classifier.shown(group)

    def edits(self) -> Iterator[Edit]:
        """Yield every edit of the table. A review outweighs all that CI sent: what it hides is not
        tried.
        """
        if self._group.review is None:
            for row in EDITS:
                yield from row(self)
        yield from self.reviews()

    @property
    def cut(self) -> bool:
        """Whether a list was too long to try all of it."""
        if self._group.review is not None:
            return False
        return len(self._files) > len(self._tried_files) or len(self._lane_commits) > COMMITS_TRIED

    def outcome(self, edit: Edit) -> Classification:
        """Return the class that the rules give with an edit."""
        group = self._group
        if edit.action is not None:
            return REVIEWED[edit.action]
        if edit.verdict is not None:
            run = group.first.first._replace(verdict=edit.verdict)
            failures = (replace(group.first, first=run), *group.failures[1:])
            return self._classifier.automatic(replace(group, failures=failures))
        if edit.pattern is not None:
            product = self._lane.product
            instead = {product: self._with_pattern(edit)}
            return Classifier(self._history, instead).automatic(group)
        return Classifier(self._with_changes(edit)).automatic(group)

    def _with_pattern(self, edit: Edit) -> SuiteConfig:
        assert edit.pattern is not None
        config, firmware = self._base_config, edit.paths is FileKind.FIRMWARE
        patterns = config.firmware_paths if firmware else config.harness_paths
        if edit.kind is EditKind.PATTERN_ADDED:
            patterns = with_pattern(patterns, edit.pattern)
        else:
            patterns = tuple(pattern for pattern in patterns if pattern != edit.pattern)
        if firmware:
            return replace(config, firmware_paths=patterns)
        return replace(config, harness_paths=patterns)

    def _with_changes(self, edit: Edit) -> History:
        if edit.kind is EditKind.FILES_WHOLE:
            return edited(self._changes, lambda run: _with_whole_files(run, edit.commit))
        run = edit.run
        assert run is not None
        if edit.kind is EditKind.CHANGES_SENT:
            return edited(self._changes, sent=[run])
        return edited(self._changes, lambda other: run if other.order == run.order else other)

    def reviews(self) -> Iterator[Edit]:
        """The reviews that are allowed now."""
        for action, classes in TAKES.items():
            if self.now.failure_class in classes:
                yield Edit(EditKind.REVIEW, action=action)

    def verdicts(self) -> Iterator[Edit]:
        """The first failing run blamed the device, or the bench."""
        for verdict in (Verdict.DEVICE, Verdict.INFRA):
            if verdict is not self._group.first.first.verdict:
                yield Edit(EditKind.VERDICT, verdict=verdict)

    def patterns_added(self) -> Iterator[Edit]:
        """One pattern more in a list: a changed file or its folder, matched, or excluded from what
        the list matches. Where nothing is configured, all files, too: that there are paths may be
        enough.
        """
        for name in self._names:
            for paths, patterns in self._lists:
                for pattern in (name, f"!{name}") if patterns else (name,):
                    if _may_be_added(patterns, pattern):
                        yield Edit(EditKind.PATTERN_ADDED, paths=paths, pattern=pattern)

    @property
    def _names(self) -> Iterator[str]:
        if self._config is None:
            yield ALL_FILES
        for file in self._tried_files:
            folder = file.rpartition("/")[0]
            yield from (f"{folder}/**", file) if folder else (file,)

    def patterns_removed(self) -> Iterator[Edit]:
        """One pattern less in a list."""
        for paths, patterns in self._lists:
            for pattern in dict.fromkeys(patterns):
                yield Edit(EditKind.PATTERN_REMOVED, paths=paths, pattern=pattern)

    def files_whole(self) -> Iterator[Edit]:
        """The files of one commit are those that were sent: none was left out."""
        cut = dict.fromkeys(commit.sha for commit in self._commits if commit.files_truncated)
        for sha in cut:
            yield Edit(EditKind.FILES_WHOLE, commit=sha)

    def commits_whole(self) -> Iterator[Edit]:
        """The commits of one run are those that were sent: none was left out."""
        for run in self._cut_runs:
            changes = replace(run.changes, truncated=False)
            yield Edit(EditKind.COMMITS_WHOLE, run=replace(run, changes=changes))

    def changes_sent(self) -> Iterator[Edit]:
        """A run that sent no changes, or none with a base, sent those since the commit that ran on
        the box before: those that git has, if they are given; else the commits that it listed; else
        its own one, of which is assumed that it changed firmware alone, or harness alone.
        """
        for before, run in (*self._silent_of_lane(), *self._silent_beside()):
            known = self._of_git.get((before, run.sha))
            if known is not None:
                sent = replace(run, changes=known)
                yield Edit(EditKind.CHANGES_SENT, run=sent, of_git=True)
                continue
            for assumed, listed in self._listed(run):
                sent = replace(run, changes=ChangeList(before, listed))
                yield Edit(EditKind.CHANGES_SENT, run=sent, assumed=assumed)

    def _silent_of_lane(self) -> Iterator[tuple[str, RunChanges]]:
        """Yield the runs of the test that sent no changes, each with the commit before."""
        for before, commit in pairwise(self._lane_commits[:COMMITS_TRIED]):
            ran = next((run for run in commit.runs if run.branch == self._lane.branch), None)
            if ran is None:
                continue
            at = ReportOrder(ran.started_at, ran.run_id, ran.run_attempt, self._lane.box_key)
            run = self._without_changes(commit.sha, ran.workflow, at)
            # Equal times: naming the base would move it in the branch's order.
            if run is not None and before.place.started_at < run.order.started_at:
                yield before.sha, run

    def _silent_beside(self) -> Iterator[tuple[str, RunChanges]]:
        """Yield runs of the box between the failure and its fix that sent no changes and did not
        run the test, as one that lost its bench, each with the commit that ran there before.
        """
        fix = self._fix_place
        if self.now.reason is not Reason.FIX_UNCONNECTED or fix is None:
            return
        lane, before = self._lane, self._group.last.key.sha
        between = Period(self._group.last.place.started_at, fix.started_at)
        tried = {lane_commit.sha for lane_commit in self._lane_commits}
        for product in self._recorded.outcomes(Scope(*lane.product), between):
            for ran in product.runs:
                if (ran.box_key, ran.branch) != (lane.box_key, lane.branch):
                    continue
                if ran.sha not in tried and len(tried) < COMMITS_TRIED:
                    tried.add(ran.sha)
                    at = ReportOrder(ran.started_at, ran.ci_run_id, ran.run_attempt, ran.box_key)
                    run = self._without_changes(ran.sha, ran.workflow, at)
                    base = self._place_of(before)
                    if run is not None and base is not None and base.started_at < ran.started_at:
                        yield before, run
                if ran.hello_ok:
                    before = ran.sha

    def _listed(self, run: RunChanges) -> Iterator[tuple[FileKind | None, tuple[Commit, ...]]]:
        if run.changes.commits:
            yield None, run.changes.commits
            return
        for kind, _ in self._lists:
            file = file_of(self._base_config, kind, self._history.check_time)
            if file is not None:
                yield kind, (Commit(run.sha, files=(file,)),)

    def _without_changes(self, sha: str, workflow: str, at: ReportOrder) -> RunChanges | None:
        """Return the first run of the box on a commit, which is `at`, if it sent no changes or none
        with a base. None too where an earlier report of the commit may be of another run.
        """
        lane = self._lane
        sighted = self._history.sighted_runs(lane.repo_key, [sha]).get(sha, ())
        on_commit = sorted(run for run in sighted if run.sha == sha)
        own = next((run for run in on_commit if run[:4] == at), None)
        if own is None or any(run.run_id != own.run_id for run in on_commit if run < own):
            return None
        target = (workflow, lane.branch, sha)
        known = self._history.changes_under_test(lane.repo_key, *target)
        if known is None:
            return _silent(own, *target)
        return known if known.changes.base_sha is None else None

    @cached_property
    def _base_config(self) -> SuiteConfig:
        return self._config or SuiteConfig(*self._lane.product, (), ())

    @property
    def _lists(self) -> tuple[tuple[FileKind, tuple[str, ...]], ...]:
        config = self._base_config
        firmware = (FileKind.FIRMWARE, config.firmware_paths)
        return firmware, (FileKind.HARNESS, config.harness_paths)

    @cached_property
    def _commits(self) -> Sequence[Commit]:
        """The commits under test, and those before the fix."""
        run = self._classifier.under_test(self._group).run
        steps = self._classifier.walk(self._group) or ()
        tested = run.changes.commits if run is not None else ()
        return [*tested, *(commit for step in steps for commit in step.commits)]

    @cached_property
    def _files(self) -> Sequence[str]:
        files = dict.fromkeys(file for commit in self._commits for file in commit.files)
        return [file for file in files if not file.startswith("!")]

    @property
    def _tried_files(self) -> Sequence[str]:
        """Each pattern is matched with all files."""
        most = max(1, _MATCHES_MAX // max(1, len(self._files)))
        return self._files[: min(FILES_TRIED, most)]

    @cached_property
    def _cut_runs(self) -> Sequence[RunChanges]:
        """The runs with a cut list that could be under test, or a step to the fix."""
        under_test = self._classifier.under_test(self._group).run
        reached = {self._group.last.key.sha, *self._classifier.reached(self._group)}
        listing = (self._history.changes_listing(self._lane.repo_key, sha) for sha in reached)
        runs = {run.order: run for listed in listing for run in listed}
        if under_test is not None:
            runs[under_test.order] = under_test
        return [runs[order] for order in sorted(runs) if runs[order].changes.truncated]

    @cached_property
    def _lane_commits(self) -> Sequence[LaneCommit]:
        """The commits that ran the test on the box, from the one before the failure to the fix."""
        group = self._group
        last = self._fix_place or group.last.place
        return self._history.lane_commits(self._lane, group.first.place, last, 1)

    @cached_property
    def _fix_place(self) -> Place | None:
        return None if self._group.fix is None else self._place_of(self._group.fix)

    def _place_of(self, sha: str) -> Place | None:
        return self._history.place(self._lane.repo_key, self._lane.branch, sha)


EDITS: tuple[Callable[[Trying], Iterator[Edit]], ...] = (
    Trying.verdicts,
    Trying.changes_sent,
    Trying.files_whole,
    Trying.commits_whole,
    Trying.patterns_added,
    Trying.patterns_removed,
)
"""What CI could have sent otherwise. A review comes last."""


def with_pattern(patterns: Sequence[str], pattern: str) -> tuple[str, ...]:
    """Add a pattern to a list: one with `!` at its end, another before those with `!`."""
    if pattern.startswith("!"):
        return (*patterns, pattern)
    return (pattern, *patterns)


def _may_be_added(patterns: Sequence[str], pattern: str) -> bool:
    added = with_pattern(patterns, pattern)
    return pattern not in patterns and len(added) <= PATTERNS_MAX and not check_patterns([pattern])


def _with_whole_files(run: RunChanges, sha: str | None) -> RunChanges:
    commits = tuple(
        replace(commit, files_truncated=False) if commit.sha == sha else commit
        for commit in run.changes.commits
    )
    return replace(run, changes=replace(run.changes, commits=commits))


def _silent(own: SightedRun, workflow: str, branch: str, sha: str) -> RunChanges:
    """Return a run as one that sent a list without a base and without commits."""
    order = ReportOrder(*own[:4])
    return RunChanges(order, own.ci_run_id, workflow, branch, sha, ChangeList(None), own.ci_run)
