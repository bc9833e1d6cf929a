# SPDX-License-Identifier: Apache-2.0
"""An incident as its row. What it is made of is decided in `incidents.py`."""

from hwci.analysis.failures.incidents import Described
from hwci.analysis.flaky.suspect_words import certainty, of_history
from hwci.contract.failures.incidents import Incident, IncidentFailure
from hwci.contract.runs.commits import CommitSubject
from hwci.contract.statements import Certainty
from hwci.contract.vocabulary import Verdict
from hwci.engine.history import Episode
from hwci.engine.page.failures import broken_range


def incident_row(described: Described, most: int) -> Incident:
    """Return an incident as answers have it, with so many rows of each list."""
    incident, failures = described.incident, described.failures
    commit = incident.first_commit
    return Incident(
        id=incident.first.id,
        repo_key=incident.product.repo_key,
        suite=incident.product.suite,
        branch=incident.lane.branch,
        on_merge_branch=incident.on_merge_branch,
        on_main_branch=incident.on_main_branch,
        label=incident.label,
        since=incident.since,
        last_failed_at=failures.last_failed_at,
        commits=len(failures.shas),
        times=incident.times,
        first_commit=CommitSubject(
            sha=incident.first.key.sha, subject="" if commit is None else commit.subject
        ),
        suspects=broken_range(incident.suspects),
        fix_sha=incident.fix,
        verdicts=tuple(verdict for verdict in Verdict if verdict in incident.verdicts),
        runs=failures.runs,
        reruns=failures.reruns,
        retries=described.retries,
        merged_into=described.merged,
        tests=tuple(incident.tests[:most]),
        tests_total=len(incident.tests),
        boxes=tuple(incident.boxes[:most]),
        boxes_total=len(incident.boxes),
        passes_on=tuple(described.passes_on[:most]),
        passes_on_total=len(described.passes_on),
        only_box=described.only_box,
        band=described.band,
        look_first=described.look_first,
        suspects_differ=described.suspects_differ,
        history=_certain(described),
        last_days=described.last_days,
        failures=tuple(_failure(failed.episode) for failed in incident.failed[:most]),
        failures_total=len(incident.failed),
    )


def _failure(episode: Episode) -> IncidentFailure:
    return IncidentFailure(
        id=episode.id,
        test_id=episode.key.lane.test_id,
        box_key=episode.key.lane.box_key,
        since=episode.started_at,
        commits=episode.commits,
    )


def _certain(described: Described) -> Certainty | None:
    if described.history is None:
        return None
    left = len(described.incident.suspects or ())
    says = of_history(described.history, described.incident.lane.test_id, left)
    return certainty(described.history, says)
