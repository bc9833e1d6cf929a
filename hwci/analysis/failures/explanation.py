# SPDX-License-Identifier: Apache-2.0
"""Why a failure has its class: each edit that would give it another one, in words (ADR 0009).

Which edits these are is decided in `what_if.py`, and what is said of them in `advice.py`.
"""

from uuid import UUID

from hwci.analysis.failures.advice import advice
from hwci.analysis.failures.lost_boards import lost_board_of
from hwci.analysis.failures.what_if import Edit, OfGit, what_if
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures import explanations as shapes
from hwci.contract.failures.explanations import Explanation
from hwci.contract.vocabulary import Label
from hwci.engine.history import Failure, History
from hwci.engine.page.evidence import check_run
from hwci.engine.rules.classify import Classification, checked_run
from hwci.engine.rules.labels import group_of


def explanation(history: RecordedRuns, failure: Failure, of_git: OfGit) -> Explanation:
    """Return what would give a failure another class. `of_git`: changes that runs may not have
    sent.
    """
    group, lost_board = group_of(history, failure), lost_board_of(history, failure)
    if group.label is not Label.RESOLVED:
        return Explanation(edits=(), complete=True, lost_board=lost_board)
    outcomes, complete = what_if(history, group, of_git)
    repo_key, failure_id = failure.key.lane.repo_key, group.first.id
    edits = (_edit(history, repo_key, failure_id, edit, then) for edit, then in outcomes)
    return Explanation(edits=tuple(edits), complete=complete, lost_board=lost_board)


def _edit(
    history: History, repo_key: str, failure_id: UUID, edit: Edit, then: Classification
) -> shapes.WhatIf:
    run = edit.run
    return shapes.WhatIf(
        **vars(then.told),
        kind=edit.kind,
        verdict=edit.verdict,
        paths=edit.paths,
        pattern=edit.pattern,
        commit=edit.commit,
        run=None if run is None else check_run(history, repo_key, checked_run(run)),
        base=None if run is None else run.changes.base_sha,
        sha=None if run is None else run.sha,
        commits=() if run is None else tuple(commit.sha for commit in run.changes.commits),
        assumed=edit.assumed,
        action=edit.action,
        **advice(failure_id, edit)._asdict(),
    )
