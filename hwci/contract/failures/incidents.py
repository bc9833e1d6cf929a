# SPDX-License-Identifier: Apache-2.0
"""Incidents: failures that one cause explains, as one row (contract, "Answers beside the
rules").
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.runs.commits import BrokenBy, CommitSubject
from hwci.contract.shape import Open, shape
from hwci.contract.statements import Certainty
from hwci.contract.vocabulary import Band, Label, Verdict


@shape
class IncidentFailure:
    """A failure of an incident: one test on one box, over `commits` failing commits. `id`: as in
    the list of failures, and for a review.
    """

    id: UUID
    test_id: str
    box_key: str
    since: datetime
    commits: int


@shape
class Merged:
    """The branch that an incident's first failing commit was merged to. Of the incident's tests on
    their boxes so many passed or failed in the last run there since then, or did not run.
    """

    branch: str
    passing: int
    failing: int
    not_run: int


@shape
class Incident:
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
    box, and no other ran one of its tests in the period. `band`: whether it is likely `broken` or
    `flaky`, or blamed on the `bench`; null if it is resolved. `look_first`: where to look first,
    the commit or the bench, or which run would tell; null if it is resolved. `history`: since which
    commit the test that failed first fails, by all its runs, beside `suspects`, which the rules
    have; null if they do not tell, or tell of another time. `last_days`: what its tests did on its
    boxes and branch, a letter for each day of UTC up to the one on which the period ends, the
    oldest first: `p` passed, `f` failed, `b` both, `-` not run; 14 at most, fewer where the period
    is shorter. `merged_into`: null for an incident that is resolved or on a branch that merges went
    to, and where nothing tells that it was merged. Each list holds 100 at most, the numbers beside
    them count all.
    """

    id: UUID
    repo_key: str
    suite: str
    branch: str
    on_merge_branch: bool
    on_main_branch: bool
    label: Open[Label]
    since: datetime
    last_failed_at: datetime
    commits: int
    times: int
    first_commit: CommitSubject
    suspects: BrokenBy | None
    fix_sha: str | None
    verdicts: tuple[Open[Verdict], ...]
    runs: int
    reruns: int
    retries: int
    merged_into: Merged | None
    tests: tuple[str, ...]
    tests_total: int
    boxes: tuple[str, ...]
    boxes_total: int
    passes_on: tuple[str, ...]
    passes_on_total: int
    only_box: bool
    band: Open[Band] | None
    look_first: str | None
    suspects_differ: str | None
    history: Certainty | None = None
    last_days: str = ""
    failures: tuple[IncidentFailure, ...]
    failures_total: int
