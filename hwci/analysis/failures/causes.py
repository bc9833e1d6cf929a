# SPDX-License-Identifier: Apache-2.0
"""Causes: resolved failures, those that one commit broke and one fixed as one; and what a person
who reviews one reads of it.

They are failures of the specification's two tables, so that the sizes of all causes sum up to
what the tiles count. `one_cause.py` says what failures of one cause have in common; each is
looked at on its own box here, as its row of the table is.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from hwci.analysis.failures.one_cause import CauseKey, Ends, cause_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures.causes import Cause, Message
from hwci.contract.runs.commits import Commit, CommitInShort, FilesOfKind
from hwci.contract.vocabulary import FailureClass, FileKind, Label, Verdict
from hwci.engine.facts import Lane
from hwci.engine.history import History
from hwci.engine.page.failures import Suspected, resolved_rows, with_suspects
from hwci.engine.page.reading import Classified
from hwci.engine.page.tables import RESOLVED, matching
from hwci.engine.rules.changes import ProductFiles, last_place
from hwci.engine.rules.classify import Classifier

_TO_REVIEW = (FailureClass.AMBIGUOUS, FailureClass.REAL_FW_BUG, FailureClass.BENCH_OR_HARNESS)
"""The classes in the order in which people review them: the checks could not decide the first."""
_SUSPECTS_MAX = 20


@dataclass(frozen=True, slots=True)
class CommonCause:
    """Resolved failures with one cause, the first to fail first."""

    members: tuple[Suspected, ...]

    @property
    def lanes(self) -> Sequence[Lane]:
        """Where they failed."""
        return [member.episode.key.lane for member in self.members]

    @property
    def tests(self) -> int:
        """How many tests failed."""
        return len({lane.test_id for lane in self.lanes})

    @property
    def boxes(self) -> int:
        """On how many boxes something of it failed."""
        return len({lane.box_key for lane in self.lanes})


def causes(
    history: History, rows: Sequence[Classified], search: str | None = None
) -> list[CommonCause]:
    """Return the causes of these failures, the newest first. `search`: those with a failure that
    the tables would find by these words, each with all its failures.
    """
    sought = {row.episode.id for row in matching(rows, search, RESOLVED.texts)}
    groups = causes_of(with_suspects(history, rows)) if sought else []
    return [
        cause
        for cause in groups
        if not sought.isdisjoint(member.episode.id for member in cause.members)
    ]


def causes_of(members: Iterable[Suspected]) -> list[CommonCause]:
    """Return the causes of failures of which the suspects are known, in the order of `causes`."""
    together: dict[CauseKey, list[Suspected]] = defaultdict(list)
    for member in members:
        episode = member.episode
        ends = Ends(Label.RESOLVED, episode.fix, episode.verdict is Verdict.INFRA)
        together[cause_of(episode.key, ends, member.suspects)].append(member)
    return [CommonCause(tuple(reversed(members))) for members in together.values()]


def to_review(shown: Sequence[CommonCause]) -> list[CommonCause]:
    """Return causes in the order in which people review them: with an ambiguous failure first, and
    of these the one that settles most failures.
    """
    return sorted(
        shown,
        key=lambda cause: (
            min(_TO_REVIEW.index(member.failure_class) for member in cause.members),
            -len(cause.members),
        ),
    )


def reviewed(shown: Sequence[CommonCause]) -> list[CommonCause]:
    """Return causes in the order in which people look for what they decided: the last one first."""
    return sorted(
        shown,
        key=lambda cause: max(
            member.review.at for member in cause.members if member.review is not None
        ),
        reverse=True,
    )


def described(
    history: RecordedRuns, shown: Sequence[CommonCause], most: int, messages_most: int
) -> list[Cause]:
    """Describe causes, each with so many of its failures, and of what the harness wrote of them.
    `commits`: those that may have broken it (the first 20 of a range), the first that failed and
    the fix, each once, as far as a run listed them.
    """
    written = history.messages([member.episode.id for cause in shown for member in cause.members])
    listed, classifier = _listed(history, shown), Classifier(history)
    members = [member for cause in shown for member in cause.members[:most]]
    rows = iter(resolved_rows(history, members))
    causes = []
    for cause in shown:
        history.check_time()
        ids = [member.episode.id for member in cause.members]
        files = classifier.files_of(cause.lanes[0].product)
        messages = _messages(
            {known: written[known] for known in ids if known in written}, ids[:most]
        )
        causes.append(
            Cause(
                id=ids[0],
                tests_total=cause.tests,
                boxes_total=cause.boxes,
                failures=tuple(islice(rows, min(most, len(ids)))),
                failures_total=len(ids),
                messages=tuple(messages[:messages_most]),
                messages_total=len(messages),
                commits=tuple(_in_short(commit, files) for commit in _told(cause, listed)),
            )
        )
    return causes


_Listed = Mapping[tuple[str, str], Commit]
"""Commits as runs listed them, by repository and hash."""


def _listed(history: History, shown: Sequence[CommonCause]) -> _Listed:
    """Return the first failing commits and the fixes, those that a run listed."""
    shas: dict[str, set[str]] = defaultdict(set)
    for cause in shown:
        lane, sha = cause.members[0].episode.key
        shas[lane.repo_key].update(filter(None, (sha, cause.members[0].episode.fix)))
    listed = {}
    for repo_key, wanted in shas.items():
        for sha, changes in history.first_listing(repo_key, sorted(wanted)).items():
            listed[repo_key, sha] = changes.commits[last_place(changes.commits, sha)]
    return listed


def _told(cause: CommonCause, listed: _Listed) -> Iterator[Commit]:
    first = cause.members[0]
    lane, failed_on = first.episode.key
    known = {commit.sha: commit for commit in (first.suspects or ())[:_SUSPECTS_MAX]}
    for sha in (failed_on, first.episode.fix):
        if sha is not None and (lane.repo_key, sha) in listed:
            known.setdefault(sha, listed[lane.repo_key, sha])
    yield from known.values()


def _in_short(commit: Commit, files: ProductFiles | None) -> CommitInShort:
    by_kind: dict[FileKind | None, list[str]] = defaultdict(list)
    for path in commit.files:
        by_kind[None if files is None else files.kind(path)].append(path)
    return CommitInShort(
        sha=commit.sha,
        subject=commit.subject,
        files=tuple(
            FilesOfKind(kind=kind, total=len(by_kind[kind]), first=by_kind[kind][0])
            for kind in (*FileKind, None)
            if kind in by_kind
        ),
        files_truncated=commit.files_truncated,
    )


def _messages(written: Mapping[UUID, str], shown: Container[UUID]) -> list[Message]:
    """Return their first lines, the most frequent first; of several, that of the failure that came
    first. Of the failures those that are `shown` are named.
    """
    lines: dict[str, list[UUID]] = defaultdict(list)
    for failure_id, message in written.items():
        if message.strip():
            lines[message.strip().splitlines()[0].strip()].append(failure_id)
    return sorted(
        (
            Message(
                line=line,
                failures=len(ids),
                failure_ids=tuple(failure_id for failure_id in ids if failure_id in shown),
            )
            for line, ids in lines.items()
        ),
        key=lambda message: -message.failures,
    )
