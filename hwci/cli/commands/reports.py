# SPDX-License-Identifier: Apache-2.0
"""`hwci report-run` reports one attempt of a run, one report per box (spec, "Run report"), `hwci
report` only shows what its files hold, and `hwci merge-announce` reports a merge, from a job that
needs no hardware (spec, "CI report endpoints", rule 4). How reports are made and sent is decided in
`hwci.ci.reporting`.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.reporter import command_context, sending, show
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, render
from hwci.client.explained import wrong_usage

if TYPE_CHECKING:
    from hwci.ci.reporting import JobFlags

MoreJunit = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="More result files, as after --junit."),
]
Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE",
        rich_help_panel=options.RESULTS,
        help="JUnit XML, twister.json, CTRF or pytest's --hwci-results, gzip too; repeatable.",
    ),
]


@options.of_the_job(
    "repo_key",
    "workflow",
    "suite",
    "run_id",
    "run_attempt",
    "trigger",
    "branch",
    "sha",
    "started_at",
    "ended_at",
    "conclusion",
    "hello_ok",
    "box_key",
    "ci_run",
    "ci_url",
    "rerun_of",
    "covers_shas",
    "before_sha",
    "base_sha",
    "merge_branches",
)
def report_run(
    *,
    more_junit: MoreJunit = None,
    junit: Junit = None,
    flags: "JobFlags",
    hello_cmd: options.HelloCommand = None,
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
    request = reporting.RunRequest(flags, files, changes, no_changes, hello_cmd, body, messages)
    if body is not None or hello_cmd is None or flags.hello_ok is not None:
        show(reporting.report_run(request, how, command_context()), strict=strict)
        return
    from hwci.bench.run import check_and_report

    ran = check_and_report(hello_cmd, request, how, command_context())
    show(ran.done, strict=strict)
    raise typer.Exit(ran.code)


report_run.__doc__ = """\
Report one attempt of a run when it has ended, whether it passed or failed. Needs HWCI_CI_KEY.

Fields without a flag come from HWCI_* variables, hwci.toml, the CI system and git: hwci env
shows them. A report with too many tests for one body is sent in parts. If the server cannot be
reached, or a file holds no results, hwci prints a warning and the build does not fail, unless
--strict is set. Results of the other files are sent.

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


Files = Annotated[
    list[str],
    typer.Argument(metavar="[BOX=]FILE", help="Result files, as report-run takes them."),
]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Write Markdown, such as for the summary of a job.")
]
LocalJson = Annotated[bool, typer.Option("--json", help="Write JSON: all tests, and the counts.")]


def report(files: Files, *, markdown: Markdown = False, json: LocalJson = False) -> None:
    """Show what result files hold, before anything is reported: failures, retries, verdicts.

    It reads them as hwci report-run does, with the rules of hwci.toml if there is one, and sends
    nothing: it needs no server, no key and no configuration. Messages of failures are shown.

    The exit code is 0 whatever the tests did, and 2 if a file cannot be read.

    For example:

      hwci report results/*.xml

      hwci report bench-1=one.xml bench-2=twister.json

      hwci report --markdown results/*.xml >> summary.md
    """
    from hwci.ci import reporting
    from hwci.cli.terminal import run_tables

    if markdown and json:
        cause = "--markdown is set as well as --json"
        raise wrong_usage("The output can have one form only", cause, "Leave one of them out")
    local, error = reporting.look(files, command_context())
    if json:
        render.emit_json(local)
    elif markdown:
        for line in reporting.local_markdown(local).splitlines():
            render.write(line)
    else:
        if items := run_tables.notable(local.items):
            render.draw(render.grid(run_tables.local_tests(items), items))
        render.write(f"{local.counts}.")
    if error is not None:
        raise error


@options.of_the_job(
    "repo_key", "suite", "sha", "branch", "merged_at", "ci_url", "before_sha", "merge_branches"
)
def merge_announce(
    *,
    flags: "JobFlags",
    body: options.BodyFile = None,
    dry_run: options.DryRun = False,
    strict: options.Strict = False,
    deadline: options.Deadline = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Announce a merge."""
    from hwci.ci import reporting

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
