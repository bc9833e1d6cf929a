# SPDX-License-Identifier: Apache-2.0
"""Announced merges, and the runs that checked them, as answers name them.

Which runs check a merge is decided in `rules/merges.py`.
"""

from hwci.contract.merges import CheckingRun, Merge
from hwci.engine.facts import Announcement
from hwci.engine.history import History, SightedRun
from hwci.engine.page.runs import on_box


def merge_row(merge: Announcement) -> Merge:
    """Return an announced merge: `vars` of it are fields of other shapes, too."""
    return Merge(
        repo_key=merge.repo_key,
        suite=merge.suite,
        sha=merge.sha,
        branch=merge.branch,
        merged_at=merge.merged_at,
        ci_url=merge.ci_url,
    )


def checking_run(history: History, repo_key: str, run: SightedRun) -> CheckingRun:
    """Return a run of a repository that checked a merge, or tells why none did."""
    return CheckingRun(
        **vars(on_box(history, repo_key, run.box_key, run)),
        suite=run.sighting.suite,
        box_key=run.box_key,
        sha=run.sha,
    )
