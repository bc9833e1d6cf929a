# SPDX-License-Identifier: Apache-2.0
"""An edit and a gap in words: what would have to be different, and what to do about it.

This module decides the sentences that the terminal and the pages show. It does not know which class
an edit gives.
"""

from typing import NamedTuple
from uuid import UUID

from hwci.analysis.failures.what_if import Edit
from hwci.contract.vocabulary import EditKind, FileKind, Gap, ReviewAction
from hwci.engine.history import RunChanges
from hwci.said import counted, short

WHOLE_HISTORY = "the whole history (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: 0)"
COMMITS_MAX, FILES_MAX = 250, 2_000
"""What a report holds of changes, as `hwci/wire/limits.py` has it, which this room cannot ask."""


class Advice(NamedTuple):
    """`condition` goes on from "Would be a real firmware bug if"; `to_do` is a sentence."""

    condition: str
    to_do: str


class GapWords(NamedTuple):
    """What CI leaves out, and what to change in it."""

    text: str
    to_do: str


GAPS = {
    Gap.NO_VERDICT: GapWords(
        "The harness blamed neither the device nor the bench",
        "Say in a [[verdict]] rule whom the message of the failure blames.",
    ),
    Gap.NO_CONFIGURATION: GapWords(
        "The product has no suite configuration",
        "Send it in a job of the main branch (hwci init writes hwci.toml).",
    ),
    Gap.NO_CHANGES: GapWords(
        "The first run on the failing commit did not send what changed",
        "Clone the whole history in the job that tests, and let it find the run before, or set"
        " HWCI_BASE_SHA to the commit tested before.",
    ),
    Gap.CUT_LISTS: GapWords(
        "Lists of commits or files were cut short",
        "Clone the whole history in the job that tests, without filter: tree:0, and start it on"
        f" each push: a report holds the newest {COMMITS_MAX} commits, and {FILES_MAX:,} files of"
        " each.",
    ),
    Gap.UNCONNECTED_FIX: GapWords(
        "Some run between the failure and its fix did not send what changed",
        "Report every run of the branch, also a failed one, from a clone of the whole history.",
    ),
}


def advice(failure_id: UUID, edit: Edit) -> Advice:
    """Put an edit into words."""
    match edit.kind:
        case EditKind.VERDICT:
            return _verdict(edit)
        case EditKind.PATTERN_ADDED | EditKind.PATTERN_REMOVED:
            return _pattern(edit)
        case EditKind.REVIEW:
            return _review(failure_id, edit)
        case EditKind.FILES_WHOLE:
            assert edit.commit is not None
            sha = short(edit.commit)
            return Advice(
                f"commit {sha} had changed no other files than those that were sent",
                f"See the whole commit with git show --stat {sha}, then review this failure.",
            )
    assert edit.run is not None
    return _run(edit, edit.run)


def _verdict(edit: Edit) -> Advice:
    blamed = "device" if edit.verdict == "device" else "bench"
    return Advice(
        f"the harness had blamed the {blamed} in the first failing run",
        f'For later runs, add a [[verdict]] rule with verdict = "{edit.verdict}" to hwci.toml.',
    )


def _pattern(edit: Edit) -> Advice:
    paths = "firmware_paths" if edit.paths is FileKind.FIRMWARE else "harness_paths"
    name = f'"{edit.pattern}"'
    if edit.kind is EditKind.PATTERN_ADDED:
        condition, change = f"{paths} had the pattern {name}", f"add {name} to {paths}"
    else:
        condition, change = f"{paths} did not have the pattern {name}", f"remove it from {paths}"
    then = "of hwci.toml, then run hwci suite-config plan and hwci suite-config apply."
    return Advice(condition, f"If that is right, {change} {then}")


def _review(failure_id: UUID, edit: Edit) -> Advice:
    confirms = edit.action is ReviewAction.CONFIRM
    return Advice(
        f"an owner or admin {'confirmed' if confirms else 'dismissed'} it",
        f"hwci failures {edit.action} {failure_id}",
    )


def _run(edit: Edit, run: RunChanges) -> Advice:
    number = run.ci_run_id if run.ci_run is None else run.ci_run
    where = f"run {number} on {run.order.box_key}"
    if edit.kind is EditKind.COMMITS_WHOLE:
        return Advice(
            f"{where} had tested no other commits than those that it sent",
            f"A report holds the newest {COMMITS_MAX} commits: test more often, or review this"
            " failure.",
        )
    assert run.changes.base_sha is not None
    base, sha = short(run.changes.base_sha), short(run.sha)
    sent = f"{where} had sent the changes from {base} to {sha}"
    if edit.of_git:
        sent = f"{sent}, as git has them ({counted(len(run.changes.commits), 'commit')})"
    elif edit.assumed is not None:
        sent = f"{sent}, and these were changes of {edit.assumed} alone"
    return Advice(
        sent,
        f"In that job, clone {WHOLE_HISTORY}, or name the commit tested before:"
        f" hwci report-run --base-sha {run.changes.base_sha}",
    )
