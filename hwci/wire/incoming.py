# SPDX-License-Identifier: Apache-2.0
"""Bodies that CI sent, as the engine's facts: defaults filled in, nothing else decided."""

from hwci.engine import facts
from hwci.wire import reports


def announcement_fact(body: reports.MergeAnnouncement) -> facts.Announcement:
    """Turn an announcement into a fact."""
    return facts.Announcement(
        repo_key=body.repo_key,
        suite=body.suite,
        sha=body.sha,
        branch=body.branch,
        merged_at=body.merged_at,
    )


def report_fact(body: reports.RunReport) -> facts.Report:
    """Turn a run report into a fact; `suite` defaults to `workflow`."""
    return facts.Report(
        repo_key=body.repo_key,
        workflow=body.workflow,
        suite=body.suite if body.suite is not None else body.workflow,
        run_id=body.run_id,
        run_attempt=body.run_attempt,
        trigger=body.trigger,
        branch=body.branch,
        sha=body.sha,
        started_at=body.started_at,
        ended_at=body.ended_at,
        conclusion=body.conclusion,
        hello_ok=body.hello_ok,
        box_key=body.box_key,
        tests=tuple(
            facts.TestItem(item.id, item.outcome, item.attempts, item.duration_s, item.verdict)
            for item in body.tests
        ),
        covers_shas=tuple(body.covers_shas or ()),
        changes=None if body.changes is None else changes_fact(body.changes),
        part_of=None
        if body.part_of is None
        else facts.Part(body.part_of.run_id, body.part_of.part, body.part_of.parts),
    )


def changes_fact(body: reports.Changes) -> facts.Changes:
    """Turn the changes of a run into a fact."""
    return facts.Changes(
        base_sha=body.base_sha,
        commits=tuple(
            facts.Commit(
                sha=item.sha,
                subject=item.subject,
                committed_at=item.committed_at,
                files=tuple(item.files),
                files_truncated=item.files_truncated,
            )
            for item in body.commits
        ),
        truncated=bool(body.truncated),
    )


def config_fact(body: reports.SuiteConfiguration) -> facts.SuiteConfig:
    """Turn a suite configuration into a fact."""
    return facts.SuiteConfig(
        repo_key=body.repo_key,
        suite=body.suite,
        firmware_paths=tuple(body.firmware_paths),
        harness_paths=tuple(body.harness_paths),
        merge_trigger=body.merge_trigger,
        trigger_paths=None if body.trigger_paths is None else tuple(body.trigger_paths),
    )
