# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run`: report one attempt of a run, one report per box, from a whole body or from
what the job, its flags and its result files say (spec, "Run report").
"""

from __future__ import annotations

from typing import Annotated

import typer

from hwci.cli.reporting import report_options as run
from hwci.cli.reporting.hello import word
from hwci.cli.reporting.job import JobFlags
from hwci.cli.reporting.run_report import Asked, report_body, report_checked, report_job
from hwci.cli.reporting.run_sending import Sending
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options
from hwci.cli.terminal.options import (
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

HELP = """\
Report one attempt of a run, at its end, whether it passed or failed. Needs HWCI_CI_KEY.

What a flag does not say comes from HWCI_* variables, hwci.toml, the CI system and git: hwci env
shows it. A report of more than 1,000 tests is sent in parts. An unreachable server is a warning,
not a failed build, unless --strict; so is a file that holds no results, and the others are sent.

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
    workflow: run.Workflow = None,
    suite: Suite = None,
    run_id: run.RunId = None,
    run_attempt: run.RunAttempt = None,
    trigger: run.TriggerName = None,
    branch: Branch = None,
    sha: Sha = None,
    started_at: run.StartedAt = None,
    ended_at: run.EndedAt = None,
    conclusion: run.Conclusion = None,
    hello: run.HelloWord = None,
    hello_cmd: run.HelloCommand = None,
    box: run.Box = None,
    covers_shas: run.CoversShas = None,
    before_sha: BeforeSha = None,
    base_sha: run.BaseSha = None,
    merge_branches: MergeBranches = None,
    changes: run.ChangesFile = None,
    no_changes: run.NoChanges = False,
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
        hello_ok=word(hello),
        box_key=options.one_box(box),
        covers_shas=options.list_of(covers_shas),
        before_sha=before_sha,
        base_sha=base_sha,
        merge_branches=options.list_of(merge_branches),
    )
    asked = Asked((*(junit or ()), *(more_junit or ())), changes, no_changes, hello_cmd)
    sending = Sending(Flags(url, profile), dry_run, strict, not no_summary, deadline)
    if body is not None:
        report_body(body, {**flags.told(), **asked.told()}, sending)
    elif hello_cmd is None or flags.hello_ok is not None:
        report_job(flags, asked, sending)
    else:
        raise typer.Exit(report_checked(flags, asked, hello_cmd, sending))
