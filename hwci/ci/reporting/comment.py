# SPDX-License-Identifier: Apache-2.0
"""The verdict in a pull request: the comment of a job's commit, its status, and the summary on the
page of the job. This module decides where they go; `hwci.ci.forges` knows how, and
`hwci.ci.reporting.commit_text` what they say.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from hwci.ci.forges import FORGES, forge_of
from hwci.ci.forges.comments import Requests, put_comment, set_status
from hwci.ci.forges.forge import Comment, Forge, Status
from hwci.ci.job import Job
from hwci.ci.reporting.bodies import missing_error
from hwci.ci.reporting.commit_text import Subject, status_of, text_of
from hwci.ci.reporting.context import CommandContext, JobFlags, job_context
from hwci.ci.reporting.run import Done
from hwci.ci.systems import system_of
from hwci.ci.systems.api import ApiError
from hwci.client.explained import ErrorMessage, ExitCode
from hwci.contract.runs.one_commit import OneCommit
from hwci.said import joined

OF_COMMIT = ("repo_key", "sha")
"""The fields without which no commit is known."""
_NOT_ALLOWED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is written of a commit."""

    comment: Comment
    status: Status

    @classmethod
    def of(cls, answer: OneCommit | None, subject: Subject, unknown: str = "") -> "Verdict":
        """Return what an answer says. None: the server knows no run of the commit; `unknown` has
        its words.
        """
        text = text_of(answer, subject, unknown)
        return cls(Comment(subject.marker, text), status_of(answer, subject))


def job_of_commit(flags: JobFlags, command: CommandContext) -> Job:
    """Return the job whose commit is commented on.

    Raises:
        ExplainedError: wrong usage: a field is missing or breaks its rule.
    """
    job = job_context(flags, command).job
    if missing := [name for name in OF_COMMIT if name not in job.fields]:
        raise missing_error("comment", missing)
    command.warn(*map(str, job.doubts))
    return job


def comment(
    verdict: Verdict, job: Job, pull: int | None, command: CommandContext, *, summary: bool
) -> Done:
    """Write a verdict where people of a job's commit see it. `pull`: the number of the pull
    request, None: that of the job, if it has any.
    """
    if summary:
        _show(verdict, job, command)
    forge = forge_of(job)
    if forge is None or job.is_elsewhere:
        return Done(messages=(_no_forge(job),))
    if (message := _not_ready(forge, job)) is not None:
        return Done(messages=(message,))
    pull = job.pull if pull is None else pull
    return Done(messages=tuple(_written(verdict, job, forge, pull, command)))


def _show(verdict: Verdict, job: Job, command: CommandContext) -> None:
    system = system_of(job)
    if system is not None and system.show_summary is not None:
        # A page that cannot be written is no reason to fail a build.
        with suppress(OSError, subprocess.SubprocessError):
            system.show_summary(job.environ, verdict.comment.text, (), command.ci_command)


def _no_forge(job: Job) -> ErrorMessage:
    if job.is_elsewhere:
        cause = "the commit is of another repository than this job"
    else:
        names = joined([forge.title for forge in FORGES])
        cause = f"hwci comments in jobs of {names}, and this is none of these"
    return ErrorMessage("Nothing was written to a forge", cause, "See the summary of the job")


def _not_ready(forge: Forge, job: Job) -> ErrorMessage | None:
    """Return what a job lacks for requests to its forge; None if it lacks nothing."""
    what = f"Nothing was written to {forge.title}"
    if forge.token(job.environ) is None:
        cause = f"{' or '.join(forge.tokens)} is not set, or empty"
        return ErrorMessage(what, cause, f"Set {forge.tokens[-1]}: {forge.rights}")
    if lacking := [name for name in forge.needs if not job.environ.get(name)]:
        cause = f"{joined(lacking)} is not set, as {forge.title} does in each job"
        return ErrorMessage(what, cause, "Run hwci comment in a job of it, with its variables")
    return None


def _written(
    verdict: Verdict, job: Job, forge: Forge, pull: int | None, command: CommandContext
) -> Iterator[ErrorMessage]:
    """Write to a forge, and yield what failed."""
    token = forge.token(job.environ)
    assert token is not None, "it was looked at"
    request = Requests(forge.header(token))
    steps: dict[str, Callable[[], bool | None]] = {}
    if pull is not None:
        steps[f"the comment in pull request {pull}"] = partial(
            put_comment, forge, job, pull, verdict.comment, request
        )
    steps[f"the status {verdict.status.name}"] = partial(
        set_status, forge, job, verdict.status, request
    )
    for what, write in steps.items():
        try:
            is_written = write() is not False
        except ApiError as fault:
            yield _failed(what, forge, fault)
        else:
            stays = f"Left {what} at {forge.title}: the pull request is at another commit."
            command.notify(f"Wrote {what} at {forge.title}." if is_written else stays)


def _failed(what: str, forge: Forge, fault: ApiError) -> ErrorMessage:
    fix = "Run this step again"
    if fault.status in _NOT_ALLOWED:
        fix = f"Check {' or '.join(forge.tokens)}: it needs {forge.rights}"
    code = ExitCode.UNREACHABLE if fault.status is None else ExitCode.FAILED
    return ErrorMessage(f"{what[:1].upper()}{what[1:]} was not written", str(fault), fix, code)
