# SPDX-License-Identifier: Apache-2.0
"""Incidents: failures that one cause explains, as one row (contract, "Answers beside the rules").
No figure is computed here.
"""

from collections.abc import Sequence
from typing import Literal, Self
from uuid import UUID

from hwci.analysis.failures.incidents import Described
from hwci.analysis.flaky.suspect_words import certainty, of_history
from hwci.contract.commits import BrokenBy, CommitSubject
from hwci.contract.statements import Certainty
from hwci.contract.vocabulary import Label, Verdict
from hwci.engine.page.failures import broken_range
from hwci.engine.rules.labels import Group
from hwci.wire import limits
from hwci.wire.base import Answer, Time
from hwci.wire.queries import TableQuery, WhereQuery


class IncidentsQuery(TableQuery, WhereQuery):
    """Query of the incidents. `label`: those that still fail, or those that are resolved. `sha`:
    those of which something failed on this commit.
    """

    label: Literal[Label.PENDING, Label.RESOLVED] | None = None


class IncidentFailure(Answer):
    """A failure of an incident: one test on one box, over `commits` failing commits. `id`: as in
    the list of failures, and for a review.
    """

    id: UUID
    test_id: str
    box_key: str
    since: Time
    commits: int

    @classmethod
    def of(cls, group: Group) -> Self:
        """Make one failure."""
        return cls(
            id=group.first.id,
            test_id=group.first.key.lane.test_id,
            box_key=group.first.key.lane.box_key,
            since=group.first.first.started_at,
            commits=len(group.failures),
        )


class MergedAnswer(Answer):
    """The branch that an incident's first failing commit was merged to. Of the incident's tests on
    their boxes so many passed or failed in the last run there since then, or did not run.
    """

    branch: str
    passing: int
    failing: int
    not_run: int


class IncidentAnswer(Answer):
    """Failures with one cause. `id`: of the first of them. `on_merge_branch`: whether merges of the
    period were announced for its branch, `on_main_branch`: whether most of its repository's were,
    which the default branch has. `times`: on how many commits it began. `first_commit`: the
    first that failed; its `subject` is empty if no report has it. `suspects`: the firmware commit,
    or the range of those, that may have broken them; null if unknown. `suspects_differ`: why they
    are others than "Broken by" of one of its failures; null if they are not. `fix_sha`: null if it
    still fails, or passed again on several commits; pending with one is what some boxes have not
    run since. `runs`: results that failed; `reruns`: those of a
    test that had failed before on that commit and box, and failed again; `retries`: attempts after
    the first one within a run, which failed too. `passes_on`: other boxes of the product on which a
    test of it passed on one of its failing commits, and none failed; `only_box`: it fails on one
    box, and no other ran one of its tests in the period. `look_first`: where to look first, the
    commit or the bench, or which run would tell; null if it is resolved. `history`: since which
    commit the test that failed first fails, by all its runs, beside `suspects`, which the rules
    have; null if they do not tell, or tell of another time. `merged_into`: null for an
    incident that is resolved or on a branch that merges went to, and where nothing tells that it
    was merged. Each list holds 100 at most, the numbers beside them count all.
    """

    id: UUID
    repo_key: str
    suite: str
    branch: str
    on_merge_branch: bool
    on_main_branch: bool
    label: Label
    since: Time
    last_failed_at: Time
    commits: int
    times: int
    first_commit: CommitSubject
    suspects: BrokenBy | None
    fix_sha: str | None
    verdicts: Sequence[Verdict]
    runs: int
    reruns: int
    retries: int
    merged_into: MergedAnswer | None
    tests: Sequence[str]
    tests_total: int
    boxes: Sequence[str]
    boxes_total: int
    passes_on: Sequence[str]
    passes_on_total: int
    only_box: bool
    look_first: str | None
    suspects_differ: str | None
    history: Certainty | None = None
    failures: Sequence[IncidentFailure]
    failures_total: int

    @classmethod
    def of(cls, one: Described) -> Self:
        """Make one incident."""
        found, merged = one.incident, one.merged
        most, commit = limits.INCIDENT_MAX, found.first_commit
        return cls(
            id=found.first.first.id,
            repo_key=found.product.repo_key,
            suite=found.product.suite,
            branch=found.lane.branch,
            on_merge_branch=found.on_merge_branch,
            on_main_branch=found.on_main_branch,
            label=found.label,
            since=found.since,
            last_failed_at=found.last_failed_at,
            commits=found.commits,
            times=found.times,
            first_commit=CommitSubject(
                sha=found.first.first.key.sha, subject="" if commit is None else commit.subject
            ),
            suspects=broken_range(found.suspects),
            fix_sha=found.fix,
            verdicts=[one for one in Verdict if one in found.verdicts],
            runs=found.runs,
            reruns=found.reruns,
            retries=one.retries,
            merged_into=None if merged is None else MergedAnswer.model_validate(merged),
            tests=found.tests[:most],
            tests_total=len(found.tests),
            boxes=found.boxes[:most],
            boxes_total=len(found.boxes),
            passes_on=one.passes_on[:most],
            passes_on_total=len(one.passes_on),
            only_box=one.only_box,
            look_first=one.look_first,
            suspects_differ=one.suspects_differ,
            history=_certain(one),
            failures=[IncidentFailure.of(group) for group in found.groups[:most]],
            failures_total=len(found.groups),
        )


def _certain(one: Described) -> Certainty | None:
    if one.history is None:
        return None
    left = len(one.incident.suspects or ())
    said = of_history(one.history, one.incident.lane.test_id, left)
    return certainty(one.history, said)
