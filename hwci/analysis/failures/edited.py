# SPDX-License-Identifier: Apache-2.0
"""A history in which one fact is changed: with it the rules show what the change would do.

This module decides how one edited fact changes what the rules know of changes. It does not know
which edits are worth a try, nor what a class means. Configurations are edited in `Classifier`,
verdicts in the group itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import FileKind
from hwci.engine.facts import SuiteConfig
from hwci.engine.history import Episode, History, RunChanges
from hwci.engine.rules.changes import product_files

STEPS_AHEAD = 8
"""So many steps of walks are read together; of longer ones the rest is read step by step."""
Rewrite = Callable[[RunChanges], RunChanges]


class ChangesAsked:
    """The three questions about changes, each asked of the history once: an edit after the other
    walks over the same runs.
    """

    def __init__(self, history: RecordedRuns) -> None:
        self.history = history
        self._under_test: dict[tuple[str, str, str, str], RunChanges | None] = {}
        self._listing: _Runs = {}
        self._based_on: _Runs = {}

    def under_test(self, repo_key: str, workflow: str, branch: str, sha: str) -> RunChanges | None:
        """Return the first run on a commit."""
        target = repo_key, workflow, branch, sha
        if target not in self._under_test:
            self._under_test[target] = self.history.changes_under_test(*target)
        return self._under_test[target]

    def listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Return the runs that list a commit."""
        _ask(self._listing, self.history.runs_listing, repo_key, [sha])
        return self._listing[repo_key, sha]

    def based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Return the runs whose list has a commit as its base."""
        _ask(self._based_on, self.history.runs_based_on, repo_key, [sha])
        return self._based_on[repo_key, sha]

    def read_ahead(self, episodes: Sequence[Episode]) -> None:
        """Read what will be asked of these failures, all together: the first runs on their commits,
        and the walks from their fixes back to them, which are searched from both ends.
        """
        runs = self.history.runs_under_test(episodes)
        spans: dict[str, set[_Span]] = defaultdict(set)
        for episode, run in zip(episodes, runs, strict=True):
            lane, sha = episode.key
            self._under_test[lane.repo_key, episode.first.workflow, lane.branch, sha] = run
            if episode.fix is not None:
                spans[lane.repo_key].add(_Span(episode.last_sha, episode.fix))
        for repo_key, of_repository in spans.items():
            back = {*of_repository}
            onward = {_Span(goal=fix, sha=last) for last, fix in back}
            for _ in range(STEPS_AHEAD):
                self.history.check_time()
                _ask(self._listing, self.history.runs_listing, repo_key, _ends(back))
                back = _stepped(self._listing, repo_key, back, _bases)
                _ask(self._based_on, self.history.runs_based_on, repo_key, _ends(onward))
                onward = _stepped(self._based_on, repo_key, onward, _listed)


class _Span(NamedTuple):
    """A search for a commit, which has come to another one."""

    goal: str
    sha: str


def _ends(spans: Iterable[_Span]) -> Collection[str]:
    return {sha for _, sha in spans}


def _bases(changes: ChangeList) -> Collection[str]:
    return () if changes.base_sha is None else (changes.base_sha,)


def _listed(changes: ChangeList) -> Collection[str]:
    return [commit.sha for commit in changes.commits]


def _stepped(
    known: _Runs,
    repo_key: str,
    spans: Iterable[_Span],
    leads_to: Callable[[ChangeList], Collection[str]],
) -> set[_Span]:
    """Return where the searches are a step later that have not come to their goal."""
    stepped = set()
    for goal, sha in spans:
        lists = [run.changes for run in known[repo_key, sha]]
        passed = {other for changes in lists for other in (*_bases(changes), *_listed(changes))}
        if goal not in passed:
            stepped |= {_Span(goal, other) for changes in lists for other in leads_to(changes)}
    return stepped


_Runs = dict[tuple[str, str], Sequence[RunChanges]]
_Ask = Callable[[str, Collection[str]], Mapping[str, Sequence[RunChanges]]]


def _ask(known: _Runs, ask: _Ask, repo_key: str, shas: Collection[str]) -> None:
    """Ask for the runs of those of these commits for which nobody asked."""
    if unread := {sha for sha in shas if (repo_key, sha) not in known}:
        runs = ask(repo_key, unread)
        known.update(((repo_key, sha), runs.get(sha, ())) for sha in unread)


def as_sent(run: RunChanges) -> RunChanges:
    """Return the changes of a run as it sent them."""
    return run


class _Edited:
    """All answers are those of the history, but for three about changes."""

    def __init__(
        self,
        changes: ChangesAsked,
        rewrite: Rewrite,
        sent: Sequence[RunChanges],
        longer: Sequence[RunChanges],
    ) -> None:
        self._changes = changes
        self._rewrite = rewrite
        self._sent = sent
        self._longer = longer

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whichever question it is
        return getattr(self._changes.history, name)

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        for sent in self._sent:
            if (sent.workflow, sent.branch, sent.sha) == (workflow, branch, sha):
                return sent
        run = self._changes.under_test(repo_key, workflow, branch, sha)
        return None if run is None else self._rewrite(run)

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        runs = {run.order: run for run in (*self._longer, *self._changes.listing(repo_key, sha))}
        return self._as_edited(
            runs.values(), lambda run: any(commit.sha == sha for commit in run.changes.commits)
        )

    def changes_based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        runs = self._changes.based_on(repo_key, sha)
        return self._as_edited(runs, lambda run: run.changes.base_sha == sha)

    def _as_edited(
        self, runs: Iterable[RunChanges], fits: Callable[[RunChanges], bool]
    ) -> Sequence[RunChanges]:
        instead = {run.order for run in self._sent}
        rewritten = [self._rewrite(run) for run in runs if run.order not in instead]
        return sorted(filter(fits, [*rewritten, *self._sent]), key=lambda run: run.order)


def file_of(config: SuiteConfig, kind: FileKind, check_time: Callable[[], None]) -> str | None:
    """Return a name of this kind, made of a pattern of the product: matched by that list alone."""
    files = product_files(config, check_time)
    firmware = kind is FileKind.FIRMWARE
    patterns = config.firmware_paths if firmware else config.harness_paths
    names = (
        pattern.replace("**", "x").replace("*", "x") for pattern in patterns if pattern[0] != "!"
    )
    return next((name for name in names if files.kind(name) is kind), None)


def edited(
    changes: ChangesAsked,
    rewrite: Rewrite = as_sent,
    sent: Sequence[RunChanges] = (),
    longer: Sequence[RunChanges] = (),
) -> History:
    """Return the history of one repository with other changes. `rewrite`: what becomes of the
    changes of each run; it leaves their base and their commits, and may add commits to those of
    `longer`. `sent`: the changes of runs that sent none, or none with a base; each is the first
    run on its commit.
    """
    return cast("History", _Edited(changes, rewrite, sent, longer))
