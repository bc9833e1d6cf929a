# SPDX-License-Identifier: Apache-2.0
"""`hwci comment` writes into a pull request what caused the failures of its commit. What it says
and where it goes is decided in `hwci.ci.reporting`.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.connection import Connection, signed_in
from hwci.cli.session.reporter import command_context, show
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import warn
from hwci.cli.terminal.render import note, write
from hwci.client.explained import ExplainedError, command_error
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.ci.reporting import Job, JobFlags, Verdict

Pull = Annotated[
    int | None,
    typer.Option(
        "--pull", metavar="NUMBER", min=1, help="Number of the pull or merge request [the CI's]."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Print the comment, and write it nowhere.")
]


@options.of_the_job("repo_key", "suite", "sha")
def comment(
    *,
    flags: "JobFlags",
    pull: Pull = None,
    days: options.Days = limits.DAYS_DEFAULT,
    dry_run: DryRun = False,
    strict: options.Strict = False,
    no_summary: options.NoSummary = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Comment on a pull request."""
    from hwci.ci import reporting

    context = command_context()
    job = reporting.job_of_commit(flags, context)
    try:
        with signed_in(Flags(url, profile, org), by_key=True) as server:
            if server.settings.reader_key() is None and (job.system is not None or not dry_run):
                raise _no_key()
            verdict = _verdict(server, job, days)
    except ExplainedError as fault:
        # A build of a fork knows no server, and no key: it was not called wrongly.
        warn(fault.message, strict=strict)
        return
    if dry_run:
        for line in verdict.comment.text.splitlines():
            write(line)
        return
    show(reporting.comment(verdict, job, pull, context, summary=not no_summary), strict=strict)


comment.__doc__ = """\
Write into a pull request what caused each failure of its commit, and set its status. Needs
HWCI_READER_KEY, and a token of the forge: HWCI_FORGE_TOKEN, at GitHub and Gitea also GITHUB_TOKEN.

It is one comment, updated in place: whether a failure is of this change, of the base branch, of a
bench, or flaky. The status is a failure only where one is of this change. Without a pull request:
the status and the summary of the job.

Run it after all benches. If the server or the forge cannot be reached, hwci prints a warning and
the build does not fail, unless --strict is set.

For example:

\b
  hwci comment

  hwci comment --dry-run --sha HEAD
"""


def _no_key() -> ExplainedError:
    """Return the error of a job that has no key: a person's sign-in that its machine keeps may read
    more than those who read the pull request may.
    """
    return command_error(
        "Nothing was commented",
        "HWCI_READER_KEY is not set, or empty, and a job comments with no sign-in of a person",
        "Set it; `hwci keys create --reader NAME` makes one",
    )


def _verdict(server: Connection, job: "Job", days: int) -> "Verdict":
    from hwci.ci.reporting import Subject, Verdict
    from hwci.client import calls
    from hwci.client.errors import NotFoundError

    org_id = server.org_id()
    repo_key, suite, sha = (job.value(name) for name in ("repo_key", "suite", "sha"))
    subject = Subject(server.settings.url, org_id, repo_key, suite, sha)
    call = calls.one_commit(org_id, repo_key=repo_key, suite=suite, sha=sha, days=days)
    try:
        return Verdict.of(server.send(call), subject)
    except NotFoundError as fault:
        # Its words may name other products, whose names are not for all who read the pull request.
        note(f"{fault.message}.")
        unknown = f"No run of it was reported in the last {counted(days, 'day')}"
        return Verdict.of(None, subject, unknown)
