# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run` reports one attempt of a run, one report per box (spec, "Run report"), and
`hwci merge-announce` a merge, from a job that needs no hardware (spec, "CI report endpoints",
rule 4). How reports are made and sent is decided in `hwci.ci.reporting`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.reporter import command_context, sending, show
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode

if TYPE_CHECKING:
    from hwci.ci.reporting import CommandContext, RunRequest, Sending

MoreJunit = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="More result files, as after --junit."),
]
Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE",
        rich_help_panel=options.RESULTS,
        help="JUnit XML, twister.json or pytest's --hwci-results, gzipped or not; repeatable.",
    ),
]


def report_run(
    *,
    more_junit: MoreJunit = None,
    junit: Junit = None,
    repo_key: options.RepoKey = None,
    workflow: options.Workflow = None,
    suite: options.Suite = None,
    run_id: options.RunId = None,
    run_attempt: options.RunAttempt = None,
    trigger: options.TriggerName = None,
    branch: options.Branch = None,
    sha: options.Sha = None,
    started_at: options.StartedAt = None,
    ended_at: options.EndedAt = None,
    conclusion: options.Conclusion = None,
    hello: options.HelloWord = None,
    hello_cmd: options.HelloCommand = None,
    box: options.Box = None,
    ci_run: options.CiRun = None,
    ci_url: options.CiUrl = None,
    covers_shas: options.CoversShas = None,
    before_sha: options.BeforeSha = None,
    base_sha: options.BaseSha = None,
    merge_branches: options.MergeBranches = None,
    changes: options.ChangesFile = None,
    no_changes: options.NoChanges = False,
    messages: options.Messages = None,
    body: options.BodyFile = None,
    dry_run: options.DryRun = False,
    strict: options.Strict = False,
    deadline: options.Deadline = None,
    no_summary: options.NoSummary = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Report one attempt of a run."""
    from hwci.ci import reporting

    files = (*(junit or ()), *(more_junit or ()))
    how = sending(Flags(url, profile), deadline, dry_run=dry_run, summary=not no_summary)
    flags = reporting.JobFlags(repo_key=repo_key, workflow=workflow, suite=suite, run_id=run_id)
    flags = replace(flags, ci_run=ci_run, ci_url=ci_url)
    flags = replace(
        flags,
        run_attempt=run_attempt,
        trigger=trigger,
        branch=branch,
        sha=sha,
        started_at=options.time_of(started_at, "--started-at"),
        ended_at=options.time_of(ended_at, "--ended-at"),
        conclusion=conclusion,
        hello_ok=reporting.hello_word(hello, note),
        box_key=options.one_box(box),
        covers_shas=options.list_of(covers_shas),
        before_sha=before_sha,
        base_sha=base_sha,
        merge_branches=options.list_of(merge_branches),
    )
    request = reporting.RunRequest(flags, files, changes, no_changes, hello_cmd, body, messages)
    raise typer.Exit(_report(request, how, command_context(), strict=strict))


report_run.__doc__ = """\
Report one attempt of a run, at its end, whether it passed or failed. Needs HWCI_CI_KEY.

Fields without a flag come from HWCI_* variables, hwci.toml, the CI system and git: hwci env
shows it. A report with more tests than one may hold is sent in parts. An unreachable server is a
warning, not a failed build, unless --strict; so is a file that holds no results, and the others are
sent.

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


def _report(
    request: "RunRequest", how: "Sending", command: "CommandContext", *, strict: bool
) -> int:
    """Report the run, after the connectivity check if there is one to run. Return the exit code."""
    from hwci.ci.reporting import report_run

    if request.body is not None or request.hello_cmd is None or request.flags.hello_ok is not None:
        show(report_run(request, how, command), strict=strict)
        return ExitCode.OK
    from hwci.bench.run import check_and_report

    ran = check_and_report(request.hello_cmd, request, how, command)
    show(ran.done, strict=strict)
    return ran.code


MergedAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Time of the merge, with an offset [the CI's, or git's]."),
]


def merge_announce(
    *,
    repo_key: options.RepoKey = None,
    suite: options.Suite = None,
    sha: options.Sha = None,
    branch: options.Branch = None,
    merged_at: MergedAt = None,
    ci_url: options.CiUrl = None,
    before_sha: options.BeforeSha = None,
    merge_branches: options.MergeBranches = None,
    body: options.BodyFile = None,
    dry_run: options.DryRun = False,
    strict: options.Strict = False,
    deadline: options.Deadline = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Announce a merge."""
    from hwci.ci import reporting

    flags = reporting.JobFlags(
        repo_key=repo_key,
        suite=suite,
        sha=sha,
        branch=branch,
        merged_at=options.time_of(merged_at, "--merged-at"),
        ci_url=ci_url,
        before_sha=before_sha,
        merge_branches=options.list_of(merge_branches),
    )
    how = sending(Flags(url, profile), deadline, dry_run=dry_run)
    show(reporting.announce_merges(flags, body, how, command_context()), strict=strict)


merge_announce.__doc__ = """\
Announce a merge, so that it counts even when no bench is online. Needs HWCI_CI_KEY.

Fields without a flag come from HWCI_* variables, the CI system and git. Without --suite, each
product of hwci.toml is announced whose trigger_paths the merge touched; without hwci.toml, a run of
any product can check the merge. An unreachable server is a warning, not a failed build, unless
--strict.

For example:

  hwci merge-announce

\b
  hwci merge-announce --repo-key acme/firmware --suite sensor-fw \\
      --branch main --sha "$(git rev-parse HEAD)" \\
      --merged-at "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

  hwci merge-announce --body announcement.json --dry-run
"""
