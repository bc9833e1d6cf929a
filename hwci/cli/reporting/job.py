# SPDX-License-Identifier: Apache-2.0
"""The job that this command runs in: the flags, this environment, this folder (contract, "Command
line"). Which source wins is decided in `hwci.ci.detect`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hwci.cli.terminal import options
from hwci.cli.terminal.options import now
from hwci.client.explained import wrong_usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hwci.ci.detect import Doubt
    from hwci.ci.git.repository import GitError, Repository
    from hwci.ci.job import Job
    from hwci.ci.project import Project
    from hwci.engine.vocabulary import Trigger

PEOPLE = ("-", "HWCI_")
"""How a flag and a variable of ours begin: what they say, a person said."""

CHANGED_FIX = "Commit what was changed by hand, or take it back; what a build writes is no harm"
_SHOWN = 3
"""Files that are named."""


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
    git_fault: GitError | None = None
    """Why git cannot be asked."""

    only_looked: bool = False
    """Nothing was fetched that a report would ask the remote for."""

    def no_git(self) -> str | None:
        """Say why git cannot be asked, and what to do about it; None: it can."""
        fault = self.git_fault
        return None if fault is None else f"Git cannot be asked: {fault}. {fault.fix}".rstrip(". ")

    def without(self) -> Sequence[str]:
        """Say what of this job cannot be read, which commits were told that are not here, and what
        comes of it.
        """
        goes_on = "It goes on as if that were not told"
        if self.only_looked and self.repository is not None and self.repository.cut():
            goes_on = "This clone is shallow: a report asks its remote, which may know it"
        return [*self.unread(), *(f"{text}. {goes_on}" for text in self.job.unknown_commits)]

    def unread(self) -> Sequence[str]:
        """Say what of this job cannot be read: whatever comes of it may rest on that."""
        return [f"{text}. It goes on without it" for text in self.job.unreadable]

    def changed(self) -> Doubt | None:
        """Say which files are not those of the commit under test; None: none, or nobody knows. Who
        names another commit than the one that is here tested elsewhere. A build may write tracked
        files, too, so this is no fault.
        """
        from hwci.ci.detect import Doubt
        from hwci.ci.git.repository import GitError

        told = self.job.fields.get("sha")
        if self.repository is None or told is None:
            return None
        if told.source.startswith(PEOPLE) and told.value != self.repository.head():
            return None
        try:
            files = self.repository.changed_files()
        except GitError:
            return None
        if not files:
            return None
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        named = ", ".join(files[:_SHOWN]) + more
        what = f"tracked files differ from the commit that is reported: {named}"
        return Doubt(what, CHANGED_FIX)

    def doubt(self) -> Doubt | None:
        """Say what is most likely not meant with its product."""
        from hwci.ci.detect import doubted_product

        return doubted_product(self.job, self.project)


def here(flags: JobFlags) -> Here:
    """Find out where this command runs.

    Raises:
        ExplainedError: wrong usage: a setting cannot be understood, or a flag says nothing.
    """
    from hwci.ci.fields import BY_NAME

    for name, value in flags.told().items():
        text = value if isinstance(value, str) else None if value != () else ""
        options.said(text, BY_NAME[name].flag)
    found = look_around(flags, may_fetch=True)
    if found.job.faults:
        raise wrong_usage(
            "A setting cannot be understood",
            "; ".join(found.job.faults),
            "Correct it, or unset it; hwci env shows what is known",
        )
    return found


def look_around(flags: JobFlags, *, may_fetch: bool = False) -> Here:
    """Find out where this command runs, settings that cannot be understood included. The clone is
    left as it is, unless a commit may be fetched that is told and lies behind its ends.
    """
    from hwci.bench.box_key import installed_as
    from hwci.ci.detect import find_job
    from hwci.ci.git.deepening import DeepeningRepository
    from hwci.ci.git.repository import Repository
    from hwci.ci.project import ProjectFileError, find_project

    folder = this_folder()
    checkout = DeepeningRepository(folder) if may_fetch else Repository(folder)
    git_fault = checkout.fault()
    repository = checkout if git_fault is None else None
    faults: tuple[str, ...] = ()
    try:
        project = find_project(folder)
    except ProjectFileError as fault:
        project, faults = None, fault.faults
    installed = installed_as(os.environ)
    job = find_job(flags.told(), os.environ, repository, project, installed).dated(now())
    job = replace(job, faults=(*job.faults, *faults))
    return Here(job, repository, project, git_fault, only_looked=not may_fetch)


def this_folder() -> Path:
    """Give the folder in which this command runs.

    Raises:
        ExplainedError: it was deleted meanwhile.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as fault:
        raise wrong_usage(
            "There is no folder to work in",
            "the one in which this command was called was deleted",
            "Call hwci in the checkout that was tested",
        ) from fault
