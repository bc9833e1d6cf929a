# SPDX-License-Identifier: Apache-2.0
"""Causes: resolved failures, those that one commit broke and one fixed as one; and what a person
who reviews one reads of it.

They are failures of the specification's two tables, so that the sizes of all causes sum up to
what the tiles count. `one_cause.py` says what failures of one cause have in common; each is
looked at on its own box here, as its row of the table is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.failures.one_cause import CauseKey, Ends, cause_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.vocabulary import FailureClass, FileKind, Verdict
from hwci.engine.facts import Commit
from hwci.engine.history import History
from hwci.engine.page.failures import ResolvedFailure, describe_rows
from hwci.engine.page.reading import Classified
from hwci.engine.page.tables import RESOLVED, matching
from hwci.engine.rules.changes import ProductFiles, last_place
from hwci.engine.rules.classify import Classifier

_TO_REVIEW = (FailureClass.AMBIGUOUS, FailureClass.REAL_FW_BUG, FailureClass.BENCH_OR_HARNESS)
"""The classes in the order in which people review them: the checks could not decide the first."""
_SUSPECTS_MAX = 20


@dataclass(frozen=True, slots=True)
class Cause:
    """Resolved failures with one cause, the first to fail first."""

    failures: tuple[ResolvedFailure, ...]

    @property
    def tests(self) -> int:
        """How many tests failed."""
        return len({failure.key.lane.test_id for failure in self.failures})

    @property
    def boxes(self) -> int:
        """On how many boxes something of it failed."""
        return len({failure.key.lane.box_key for failure in self.failures})


def causes(history: History, rows: Sequence[Classified], search: str | None = None) -> list[Cause]:
    """Return the causes of these failures, the newest first. `search`: those with a failure that
    the tables would find by these words, each with all its failures.
    """
    found = {one.episode.key for one in matching(rows, search, RESOLVED.texts)}
    together: dict[CauseKey, list[ResolvedFailure]] = defaultdict(list)
    for row in describe_rows(history, rows) if found else ():
        ends = Ends(row.label, row.fix and row.fix.sha, row.verdict is Verdict.INFRA)
        together[cause_of(row.key, ends, row.broken_by)].append(row)
    members = [one for one in together.values() if not found.isdisjoint(row.key for row in one)]
    return [Cause(tuple(reversed(member))) for member in members]


def to_review(found: Sequence[Cause]) -> list[Cause]:
    """Return causes in the order in which people review them: with an ambiguous failure first, and
    of these the one that settles most failures.
    """
    return sorted(
        found,
        key=lambda one: (
            min(_TO_REVIEW.index(row.shown.failure_class) for row in one.failures),
            -len(one.failures),
        ),
    )


def reviewed(found: Sequence[Cause]) -> list[Cause]:
    """Return causes in the order in which people look for what they decided: the last one first."""
    return sorted(
        found,
        key=lambda one: max(row.review.at for row in one.failures if row.review is not None),
        reverse=True,
    )


class Said(NamedTuple):
    """The first line of what the harness wrote, and of which failures it wrote that."""

    line: str
    failure_ids: Sequence[UUID]


class FilesOfKind(NamedTuple):
    """How many files of a kind a commit changed, and the first of them; `kind` None without a
    configuration.
    """

    kind: FileKind | None
    total: int
    first: str


class InShort(NamedTuple):
    """A commit that a run listed, with its files by kind."""

    commit: Commit
    files: Sequence[FilesOfKind]


class Described(NamedTuple):
    """A cause with what is asked for each that is shown. `said`: what the harness wrote of its
    failures, each different first line once, the most frequent first. `commits`: those that may
    have broken it (the first 20 of a range), the first that failed and the fix, each once, as far
    as a run listed them.
    """

    cause: Cause
    said: Sequence[Said]
    commits: Sequence[InShort]


def described(history: RecordedRuns, found: Sequence[Cause]) -> list[Described]:
    """Describe causes."""
    messages = history.messages([row.id for one in found for row in one.failures])
    listed, classifier = _listed(history, found), Classifier(history)
    rows = []
    for one in found:
        history.check_time()
        files = classifier.files_of(one.failures[0].key.lane.product)
        commits = [InShort(at, _by_kind(at, files)) for at in _told(one, listed)]
        written = {row.id: messages[row.id] for row in one.failures if row.id in messages}
        rows.append(Described(one, _said(written), commits))
    return rows


_Listed = Mapping[tuple[str, str], Commit]
"""Commits as runs listed them, by repository and hash."""


def _listed(history: History, found: Sequence[Cause]) -> _Listed:
    """Return the first failing commits and the fixes, those that a run listed."""
    shas: dict[str, set[str]] = defaultdict(set)
    for one in found:
        first = one.failures[0]
        shas[first.key.lane.repo_key].update(
            sha for sha in (first.key.sha, first.fix and first.fix.sha) if sha is not None
        )
    listed = {}
    for repo_key, wanted in shas.items():
        for sha, changes in history.first_listing(repo_key, sorted(wanted)).items():
            listed[repo_key, sha] = changes.commits[last_place(changes.commits, sha)]
    return listed


def _told(cause: Cause, listed: _Listed) -> Iterator[Commit]:
    first = cause.failures[0]
    repo_key = first.key.lane.repo_key
    known = {one.sha: one for one in (first.broken_by or ())[:_SUSPECTS_MAX]}
    for sha in (first.key.sha, first.fix and first.fix.sha):
        if sha is not None and (repo_key, sha) in listed:
            known.setdefault(sha, listed[repo_key, sha])
    yield from known.values()


def _by_kind(commit: Commit, files: ProductFiles | None) -> list[FilesOfKind]:
    found: dict[FileKind | None, list[str]] = defaultdict(list)
    for path in commit.files:
        found[None if files is None else files.kind(path)].append(path)
    return [
        FilesOfKind(kind, len(found[kind]), found[kind][0])
        for kind in (*FileKind, None)
        if kind in found
    ]


def _said(messages: Mapping[UUID, str]) -> list[Said]:
    """Return their first lines, the most frequent first; of several, that of the failure that came
    first.
    """
    said: dict[str, list[UUID]] = defaultdict(list)
    for failure_id, message in messages.items():
        if message.strip():
            said[message.strip().splitlines()[0].strip()].append(failure_id)
    return sorted((Said(*one) for one in said.items()), key=lambda one: -len(one.failure_ids))
