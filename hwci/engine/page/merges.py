# SPDX-License-Identifier: Apache-2.0
"""The runs that checked announced merges, as answers name them.

Which runs check a merge is decided in `rules/merges.py`.
"""

from hwci.contract.runs.merges import CheckingRun
from hwci.engine.history import History, SightedRun
from hwci.engine.page.runs import on_box


def checking_run(history: History, repo_key: str, run: SightedRun) -> CheckingRun:
    """Return a run of a repository that checked a merge, or tells why none did."""
    return CheckingRun(
        **vars(on_box(history, repo_key, run.box_key, run)),
        suite=run.sighting.suite,
        box_key=run.box_key,
        sha=run.sha,
    )
