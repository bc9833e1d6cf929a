# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run`: report one attempt of a run, one report per box, from a whole body or from
what the job, its flags and its result files say (spec, "Run report").
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from hwci.cli import options
from hwci.cli.job import JobFlags
from hwci.cli.options import (
    BeforeSha,
    BodyFile,
    Branch,
    DryRun,
    MergeBranches,
    NoSummary,
    RepoKey,
    Sha,
    Strict,
    Suite,
)
from hwci.cli.run_report import Asked, report_body, report_job
from hwci.cli.run_sending import Sending
from hwci.cli.settings import Flags
from hwci.engine.vocabulary import Trigger


class Hello(StrEnum):
    """Whether the connectivity check before the tests reached the hardware."""

    OK = "ok"
    FAILED = "failed"


MoreJunit = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="More result files, as after --junit."),
]
Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE",
        help="JUnit XML, twister.json or pytest's --hwci-results, gzipped or not; repeatable.",
    ),
]
Workflow = Annotated[str | None, typer.Option(help="Name of the CI workflow [the CI's].")]
RunId = Annotated[int | None, typer.Option(min=0, help="CI run id [the CI's].")]
RunAttempt = Annotated[
    int | None, typer.Option(min=1, help="Attempt of the CI run, from 1 [the CI's].")
]
TriggerName = Annotated[Trigger | None, typer.Option(help="What started the run [the CI's].")]
StartedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Start of the run [earliest time in the result files]."),
]
EndedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="End of the run [start plus what the tests took]."),
]
Conclusion = Annotated[
    str | None, typer.Option(help="Result as the CI says it [success, or failure].")
]
HelloWord = Annotated[
    Hello | None,
    typer.Option(
        help="Did the connectivity check before the tests pass? Only `failed` says no. [ok]"
    ),
]
HelloCommand = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="A connectivity check to run; its exit status says it."),
]
Box = Annotated[str | None, typer.Option(help="Box that ran the tests [HWCI_BOX, or the CI's].")]
CoversShas = Annotated[
    list[str] | None,
    typer.Option(metavar="SHA", help="Every commit of the push; repeatable, or a list [git's]."),
]
BaseSha = Annotated[
    str | None,
    typer.Option(
        metavar="SHA", help="Commit of the last earlier run of this workflow that tested."
    ),
]
ChangesFile = Annotated[
    str | None, typer.Option(metavar="FILE|-", help="The `changes` object as JSON [git's].")
]
NoChanges = Annotated[bool, typer.Option("--no-changes", help="Do not ask git what changed.")]

HELP = """\
Report one attempt of a run, at its end, whether it passed or failed. Needs HWCI_CI_KEY.

What a flag does not say comes from HWCI_* variables, hwci.toml, the CI system and git: hwci env
shows it. A report of more than 1,000 tests is sent in parts. An unreachable server is a warning,
not a failed build, unless --strict; a file that holds no results is an error, the others are sent.

For example:

\b
  hwci report-run --junit results/*.xml

\b
  hwci report-run --repo-key acme/firmware --workflow hil --run-id 4711 \\
      --run-attempt 1 --trigger merge --branch main \\
      --sha "$(git rev-parse HEAD)" \\
      --junit bench-1=one.xml --junit bench-2=two.xml.gz

  hwci report-run --hello failed --started-at 2026-01-31T09:30:00Z

  hwci report-run --body report.json --strict
"""
"""The explanation of the command: the blocks are kept as they are, so that they can be pasted."""


def report_run(
    *,
    more_junit: MoreJunit = None,
    junit: Junit = None,
    repo_key: RepoKey = None,
    workflow: Workflow = None,
    suite: Suite = None,
    run_id: RunId = None,
    run_attempt: RunAttempt = None,
    trigger: TriggerName = None,
    branch: Branch = None,
    sha: Sha = None,
    started_at: StartedAt = None,
    ended_at: EndedAt = None,
    conclusion: Conclusion = None,
    hello: HelloWord = None,
    hello_cmd: HelloCommand = None,
    box: Box = None,
    covers_shas: CoversShas = None,
    before_sha: BeforeSha = None,
    base_sha: BaseSha = None,
    merge_branches: MergeBranches = None,
    changes: ChangesFile = None,
    no_changes: NoChanges = False,
    body: BodyFile = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    deadline: options.Deadline = options.DEADLINE_S,
    no_summary: NoSummary = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Report one attempt of a run; `HELP` explains it to people."""
    flags = JobFlags(
        repo_key=repo_key,
        workflow=workflow,
        suite=suite,
        run_id=run_id,
        run_attempt=run_attempt,
        trigger=trigger,
        branch=branch,
        sha=sha,
        started_at=options.time_of(started_at, "--started-at"),
        ended_at=options.time_of(ended_at, "--ended-at"),
        conclusion=conclusion,
        hello_ok=None if hello is None else hello is Hello.OK,
        box_key=box,
        covers_shas=options.list_of(covers_shas),
        before_sha=before_sha,
        base_sha=base_sha,
        merge_branches=options.list_of(merge_branches),
    )
    asked = Asked((*(junit or ()), *(more_junit or ())), changes, no_changes, hello_cmd)
    sending = Sending(Flags(url, profile), dry_run, strict, not no_summary, deadline)
    if body is None:
        report_job(flags, asked, sending)
    else:
        report_body(body, {**flags.told(), **asked.told()}, sending)
