# SPDX-License-Identifier: Apache-2.0
"""The job that this command runs in: the flags, this environment, this folder (contract, "Command
line"). Who is believed is decided in `hwci.ci.job`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hwci.cli.failing import wrong_usage
from hwci.cli.options import flag_of, now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hwci.ci.git import Repository
    from hwci.ci.job import Job
    from hwci.ci.project import Project
    from hwci.engine.vocabulary import Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFlags:
    """What the command line says of the fields of a report; None where it says nothing."""

    repo_key: str | None = None
    workflow: str | None = None
    suite: str | None = None
    run_id: int | None = None
    run_attempt: int | None = None
    trigger: Trigger | None = None
    branch: str | None = None
    sha: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    conclusion: str | None = None
    hello_ok: bool | None = None
    box_key: str | None = None
    covers_shas: Sequence[str] | None = None
    merged_at: datetime | None = None
    before_sha: str | None = None
    base_sha: str | None = None
    merge_branches: Sequence[str] | None = None

    def told(self) -> dict[str, object]:
        """Give what is said, by the names of the fields."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Here:
    """Where a command runs: of what job, and what it can ask. None: there is no such thing."""

    job: Job
    repository: Repository | None
    project: Project | None


def here(flags: JobFlags) -> Here:
    """Find out where this command runs.

    Raises:
        CommandError: wrong usage: a setting cannot be understood.
    """
    found = look_around(flags)
    if found.job.faults:
        raise wrong_usage(
            "A setting cannot be understood",
            "; ".join(found.job.faults),
            "Correct it, or unset it; hwci env shows what is known",
        )
    return found


def look_around(flags: JobFlags) -> Here:
    """Find out where this command runs, settings that cannot be understood included."""
    from hwci.ci.git import Repository
    from hwci.ci.job import find_job
    from hwci.ci.project import ProjectFileError, find_project

    folder = Path.cwd()
    checkout = Repository(folder)
    repository = checkout if checkout.fault() is None else None
    faults: tuple[str, ...] = ()
    try:
        project = find_project(folder)
    except ProjectFileError as fault:
        project, faults = None, fault.faults
    job = find_job(flags.told(), os.environ, repository, project).dated(now())
    return Here(replace(job, faults=(*job.faults, *faults)), repository, project)


def lacking(job: Job, names: Sequence[str]) -> Exception | None:
    """Give the error that a report lacks fields that nobody told; None when all are there."""
    missing = [flag_of(name) for name in names if name not in job.fields]
    if not missing:
        return None
    return wrong_usage(
        "The report lacks what only you can say",
        f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
        "Add it; hwci env shows what is known, and how to say the rest",
    )
