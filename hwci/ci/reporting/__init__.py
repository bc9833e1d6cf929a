# SPDX-License-Identifier: Apache-2.0
"""Making and sending the reports of a job: the one part of `hwci.ci` that commands import.

A command builds a `CommandContext` and a request, makes one call, and shows the `Done` that comes
back. Notices are lines that it hands over while the work goes on; errors are `ExplainedError`s.
"""

from hwci.ci.git.changes import between
from hwci.ci.git.path_check import CommitKinds, PathCheck
from hwci.ci.job import Job
from hwci.ci.project import FILE_NAME as PROJECT_FILE
from hwci.ci.project import read_project
from hwci.ci.reporting.bodies import missing_fields, way
from hwci.ci.reporting.comment import Verdict, comment, job_of_commit
from hwci.ci.reporting.commit_text import Subject
from hwci.ci.reporting.configurations import (
    check_repository,
    files_or_found,
    read_configurations,
    repository_of,
)
from hwci.ci.reporting.context import (
    CommandContext,
    JobContext,
    JobDescription,
    JobFlags,
    describe_job,
    hello_word,
    look_around,
)
from hwci.ci.reporting.digest import MARKDOWN, TEXT, digest_lines
from hwci.ci.reporting.identity import Identity, job_identity
from hwci.ci.reporting.local import LocalItem, LocalResults, look
from hwci.ci.reporting.local import markdown as local_markdown
from hwci.ci.reporting.merge import announce_merges
from hwci.ci.reporting.released import Released, read_released
from hwci.ci.reporting.results import placed, times_of
from hwci.ci.reporting.run import Done, RunRequest, Sending, check_run, report_run

__all__ = [
    "MARKDOWN",
    "PROJECT_FILE",
    "TEXT",
    "CommandContext",
    "CommitKinds",
    "Done",
    "Identity",
    "Job",
    "JobContext",
    "JobDescription",
    "JobFlags",
    "LocalItem",
    "LocalResults",
    "PathCheck",
    "Released",
    "RunRequest",
    "Sending",
    "Subject",
    "Verdict",
    "announce_merges",
    "between",
    "check_repository",
    "check_run",
    "comment",
    "describe_job",
    "digest_lines",
    "files_or_found",
    "hello_word",
    "job_identity",
    "job_of_commit",
    "local_markdown",
    "look",
    "look_around",
    "missing_fields",
    "placed",
    "read_configurations",
    "read_project",
    "read_released",
    "report_run",
    "repository_of",
    "times_of",
    "way",
]
