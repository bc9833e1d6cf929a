# SPDX-License-Identifier: Apache-2.0
"""The job that a command reports: its flags, the environment and the folder; and its description
before a report is sent (contract, "Command line"). Which source counts for a field is decided in
`hwci.ci.detect`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hwci.ci.detect import PEOPLE, PROJECT_FILE, find_job, product_notice
from hwci.ci.fields import BY_NAME, Field, hello, in_order
from hwci.ci.git.repository import DeepeningRepository, GitError, Repository
from hwci.ci.job import GIT, Job, Notice, Sourced
from hwci.ci.project import ROOT_MARK, Project, ProjectFileError, find_project
from hwci.ci.reporting.bodies import missing_fields
from hwci.ci.reporting.under_test import base_of, remembered
from hwci.ci.systems import detected
from hwci.ci.systems.api import get_json
from hwci.client.explained import not_empty, wrong_usage
from hwci.client.store import bench_store
from hwci.contract.vocabulary import Trigger

CHANGED_FIX = "Commit or revert what was changed by hand; files that a build writes do no harm"
_SHOWN = 3
"""Files that are named."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command hands to reporting. `cwd`: the folder that it runs in, None if that was
    deleted. `notify` takes a notice, a line for people, while the work goes on; `ci_command` a
    line that the CI system obeys. `installed_as`: the box that this machine is, None if unknown.
    """

    environ: Mapping[str, str]
    cwd: Path | None
    clock: Callable[[], datetime]
    notify: Callable[[str], None]
    ci_command: Callable[[str], None]
    installed_as: str | None = None

    @property
    def in_ci(self) -> bool:
        """Whether a CI system calls the command, and no person: also one that hwci does not know,
        as most of them set `CI`.
        """
        return detected(self.environ) is not None or bool(self.environ.get("CI"))

    def folder(self) -> Path:
        """Return the folder that the command runs in.

        Raises:
            ExplainedError: wrong usage: it was deleted meanwhile.
        """
        if self.cwd is not None:
            return self.cwd
        raise wrong_usage(
            "There is no folder to work in",
            "the one in which this command was called was deleted",
            "Call hwci in the checkout that was tested",
        )

    def show(self, lines: Iterable[str]) -> None:
        """Hand over notices."""
        for line in lines:
            self.notify(line)

    def warn(self, *texts: str) -> tuple[str, ...]:
        """Hand over warnings, and return them."""
        self.show(f"warning: {text}." for text in texts)
        return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFlags:
    """The values of flags for fields of a report; None where there is no flag."""

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
    ci_run: int | None = None
    ci_url: str | None = None
    rerun_of: int | None = None
    covers_shas: Sequence[str] | None = None
    merged_at: datetime | None = None
    before_sha: str | None = None
    base_sha: str | None = None
    merge_branches: Sequence[str] | None = None

    def given(self) -> dict[str, object]:
        """Return the values that are given, by field."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class JobContext:
    """A job, and what can be asked about it. `repository` None: git cannot be asked, and
    `git_fault` says why. `only_looked`: nothing was fetched that a report would fetch.
    """

    job: Job
    repository: Repository | None
    project: Project | None
    command: CommandContext
    git_fault: GitError | None = None
    only_looked: bool = False

    def of_a_merge(self) -> "JobContext":
        """Return this context with the time of the merge: git is asked if no source has it."""
        sha = self.job.value("sha")
        if self.repository is None or sha is None or "merged_at" in self.job.fields:
            return self
        if (time := self.repository.committed_at(sha)) is None:
            return self
        fields = in_order({**self.job.fields, "merged_at": Sourced(time, GIT)})
        return replace(self, job=replace(self.job, fields=fields))

    def no_git(self) -> str | None:
        """Return why git cannot be asked, and what to do about it; None if it can."""
        fault = self.git_fault
        if fault is None:
            return None
        why = f"Git failed: {fault}. {fault.fix}".rstrip(". ")
        return f"{why}. {unseen}" if (unseen := self.unseen()) is not None else why

    def unseen(self) -> str | None:
        """Return that the commit is that of the CI, if git cannot say what is checked out here."""
        sha, folder = self.job.fields.get("sha"), self.command.folder()
        if self.git_fault is None or sha is None or sha.source.startswith(PEOPLE):
            return None
        try:
            is_clone = any((place / ROOT_MARK).exists() for place in (folder, *folder.parents))
        except OSError:
            is_clone = False
        return f"The commit is that of {sha.source}, checked out or not" if is_clone else None

    def without(self) -> Sequence[str]:
        """Return what of this job cannot be read, and which given commits are not here."""
        goes_on = "It is ignored"
        if self.only_looked and self.repository is not None and self.repository.cut():
            goes_on = "This clone is shallow: a report asks its remote, which may know it"
        return [*self.unread(), *(f"{text}. {goes_on}" for text in self.job.unknown_commits)]

    def unread(self) -> Sequence[str]:
        """Return what of this job cannot be read."""
        return [f"{text}. It goes on without it" for text in self.job.unreadable]

    def left_out(self) -> Sequence[str]:
        """Return which keys of the project file do not count."""
        unknown = self.project.unknown if self.project else ""
        return [f"Left out: {unknown}"] if unknown else []

    def changed(self) -> Notice | None:
        """Return a notice if tracked files differ from the commit under test; None if they do
        not, or that is unknown. If another commit than HEAD is named, the tests ran elsewhere. A
        build may write tracked files, too, so this is not an error.
        """
        sha = self.job.fields.get("sha")
        if self.repository is None or sha is None:
            return None
        if sha.source.startswith(PEOPLE) and sha.value != self.repository.head():
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
        return Notice(what, CHANGED_FIX)

    def product_notice(self) -> Notice | None:
        """Return the notice about its product; None if there is none."""
        return product_notice(self.job, self.project)

    def notices(self) -> Sequence[str]:
        """Return what people should know of this job before its run is reported."""
        notices = (*self.job.doubts, self.product_notice(), self.changed())
        return [*self.without(), *(str(notice) for notice in notices if notice)]


def job_context(flags: JobFlags, command: CommandContext, *, again: bool = False) -> JobContext:
    """Return the context of the job to report. `again`: its warnings were given before the run.

    Raises:
        ExplainedError: wrong usage: a setting cannot be understood, or a flag is empty.
    """
    for name, value in flags.given().items():
        text = value if isinstance(value, str) else None if value != () else ""
        not_empty(text, BY_NAME[name].flag)
    context = look_around(flags, command, may_fetch=True, again=again)
    if context.job.bad_settings:
        raise wrong_usage(
            "A setting cannot be understood",
            "; ".join(context.job.bad_settings),
            "Correct it, or unset it; hwci env shows what is known",
        )
    return context


def look_around(
    flags: JobFlags, command: CommandContext, *, may_fetch: bool = False, again: bool = False
) -> JobContext:
    """Return the context of the job, settings that cannot be understood included. The clone is
    left as it is, unless a given commit that lies behind its ends may be fetched.
    """
    folder = command.folder()
    faults: tuple[str, ...] = ()
    try:
        project = find_project(folder)
    except ProjectFileError as fault:
        project, faults = None, fault.faults
    firmware = project.firmware if project is not None else None
    checkout = (DeepeningRepository if may_fetch else Repository)(firmware or folder)
    git_fault = checkout.fault()
    repository = checkout if git_fault is None else None
    if firmware is not None and git_fault is not None:
        faults = (*faults, f"[firmware] of {PROJECT_FILE} names {firmware}, where {git_fault}")
    values, environ = flags.given(), command.environ
    job = find_job(values, environ, repository, project, command.installed_as)
    job = job.with_run_id(command.clock())
    job = replace(job, bad_settings=(*job.bad_settings, *faults))
    context = JobContext(job, repository, project, command, git_fault, only_looked=not may_fetch)
    if not again:
        command.warn(*context.left_out())
    return context


def hello_word(text: str | None, notify: Callable[[str], None]) -> bool | None:
    """Read the word of --hello; None if it shows nothing.

    Raises:
        ExplainedError: wrong usage: the word is not known.
    """
    if not_empty(text, "--hello") is None or text is None:
        return None
    try:
        answer = hello(text)
    except ValueError as fault:
        raise wrong_usage(
            "--hello is not understood", f"{text!r}: {fault}", "Correct --hello"
        ) from fault
    if answer is None:
        notify(_unclear("--hello", text))
    return answer


def note_unclear_hello(context: JobContext) -> None:
    """Note that HWCI_HELLO has a word that shows nothing, if no other source does."""
    text = context.job.environ.get("HWCI_HELLO", "").strip()
    if text and "hello_ok" not in context.job.fields:
        context.command.notify(_unclear("HWCI_HELLO", text))


def _unclear(name: str, text: str) -> str:
    return f"note: {name} is {text}, which does not show whether the hardware was reached."


# The description of a job, before a report is sent


@dataclass(frozen=True, slots=True)
class JobDescription:
    """A job. `system`: the short name of its CI system, None if unknown; `title`: its name for
    people. `missing`: each field that is not known, with the commands that need it.
    """

    system: str | None
    title: str
    fields: Mapping[str, Sourced[Any]]
    missing: Sequence[tuple[Field, Sequence[str]]]
    bad_settings: Sequence[str]
    notes: Sequence[str]


def describe_job(command: CommandContext) -> JobDescription:
    """Return the description of this job, with since when a report would count changes."""
    context = look_around(JobFlags(), command).of_a_merge()
    box = context.job.value("box_key")
    boxes = () if box is None else (box,)
    job, past = remembered(context.job, boxes, bench_store(command.environ))
    base, notes = base_of(job, past, get_json)
    fields = {**job.fields, "base_sha": base}
    if (product := job.product()) is not None:
        fields["suite"] = product
    return JobDescription(
        job.system,
        job.title,
        {name: fields[name] for name in BY_NAME if name in fields},
        [(BY_NAME[name], commands) for name, commands in missing_fields(job).items()],
        job.bad_settings,
        (*notes, *_notes(context)),
    )


def _notes(context: JobContext) -> Iterator[str]:
    """Return what no field holds."""
    yield from context.without()
    if (no_git := context.no_git()) is not None:
        yield f"{no_git}."
    for doubt in context.job.doubts:
        yield f"doubtful: sha: {doubt}."
    if (changed := context.changed()) is not None:
        yield f"doubtful: sha: {changed.what}. {changed.fix}."
    if (notice := context.product_notice()) is not None:
        yield f"doubtful: suite: {notice.what}. {notice.fix}"
