# SPDX-License-Identifier: Apache-2.0
"""A history in which one fact is changed: with it the rules show what the change would do.

This module decides how one edited fact changes what the rules know of changes. It does not know
which edits are worth a try, nor what a class means. Configurations are edited in `Classifier`,
verdicts in the group itself.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, cast

from hwci.contract.vocabulary import FileKind
from hwci.engine.facts import SuiteConfig
from hwci.engine.history import History, RunChanges
from hwci.engine.rules.changes import product_files

Rewrite = Callable[[RunChanges], RunChanges]


class ChangesAsked:
    """The three questions about changes, each asked of the history once: an edit after the other
    walks over the same runs.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.under_test = cache(history.changes_under_test)
        self.listing = cache(history.changes_listing)
        self.based_on = cache(history.changes_based_on)


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
