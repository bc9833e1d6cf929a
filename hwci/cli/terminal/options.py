# SPDX-License-Identifier: Apache-2.0
"""The flags that several commands share, each with one name and one explanation; how the text of
a flag is read, and the clock.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from hwci.cli.terminal.again import kept
from hwci.cli.terminal.render import Format
from hwci.client.explained import wrong_usage
from hwci.engine.vocabulary import Trigger
from hwci.wire import limits

RESULTS, THE_RUN, COMMITS, SENDING = "Results", "The run", "Commits", "How it is sent"
"""Groups of flags in the help of the commands that report."""

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        callback=kept,
        help="Address of the server [HWCI_URL, else that of the profile].",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        envvar="HWCI_BOX_FILE",
        show_envvar=False,
        help="File of the box's key [HWCI_BOX_FILE, else hwci/box.json in the user's settings].",
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        callback=kept,
        help="Which kept sign-in to use [HWCI_PROFILE, else that of --url, else the one in use].",
    ),
]
Org = Annotated[
    str | None,
    typer.Option(
        "--org",
        metavar="ID|NAME",
        callback=kept,
        help="Organization by id or name [HWCI_ORG, else your only one].",
    ),
]
InviteTokenStdin = Annotated[
    bool, typer.Option("--invite-token-stdin", help="Read the invitation's token from stdin.")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON as the API gives it.")]
JsonList = Annotated[bool, typer.Option("--json", help="Write JSON: a list of the API's items.")]
Output = Annotated[
    Format | None,
    typer.Option("--output", "-o", help="How to write it: table (default), json, csv or md."),
]
Page = Annotated[int, typer.Option(min=1, help="Which page of the list.")]
Limit = Annotated[int, typer.Option(min=1, max=limits.PAGE_LIMIT_MAX, help="Rows of a page.")]
All = Annotated[bool, typer.Option("--all", help="Every row, in place of one page.")]
Days = Annotated[
    int, typer.Option("--days", min=1, max=limits.DAYS_MAX, metavar="N", help="The last N days.")
]
Product = Annotated[
    str | None, typer.Option("--product", metavar="REPO:SUITE", help="One product only.")
]
Repo = Annotated[
    str | None, typer.Option("--repo-key", metavar="REPO", help="All products of one repository.")
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME", help="End of the period: a date-time with an offset [now]."
    ),
]
RepoKey = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=THE_RUN,
        metavar="NAME",
        help="Name of the repository; the same value in all reports [the CI's].",
    ),
]
Suite = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=THE_RUN, metavar="NAME", help="Product [HWCI_SUITE, or that of hwci.toml]."
    ),
]
Sha = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=THE_RUN,
        metavar="COMMIT",
        help="Commit, or a name that git has for it [the CI's, or git's].",
    ),
]
Branch = Annotated[
    str | None,
    typer.Option(rich_help_panel=THE_RUN, metavar="NAME", help="Branch [the CI's, or git's]."),
]
BeforeSha = Annotated[
    str | None,
    typer.Option(
        metavar="SHA",
        rich_help_panel=COMMITS,
        help="Where the branch stood before the push [the CI's].",
    ),
]
MergeBranches = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=COMMITS,
        help="A branch on which a push is a merge [the default branch].",
    ),
]
BodyFile = Annotated[
    str | None,
    typer.Option(
        "--body",
        metavar="FILE|-",
        rich_help_panel=SENDING,
        help="The whole body as JSON, in place of flags.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        "-n",
        rich_help_panel=SENDING,
        help="Print the exact JSON and send nothing; git may fetch history to find commits.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        envvar="HWCI_STRICT",
        rich_help_panel=SENDING,
        help="Fail when the server refuses or cannot be reached.",
    ),
]
Workflow = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=THE_RUN, metavar="NAME", help="Name of the CI workflow [the CI's]."
    ),
]
RunId = Annotated[
    int | None,
    typer.Option(min=0, rich_help_panel=THE_RUN, metavar="NUMBER", help="CI run id [the CI's]."),
]
RunAttempt = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel=THE_RUN,
        metavar="NUMBER",
        help="Attempt of the CI run, from 1 [the CI's].",
    ),
]
TriggerName = Annotated[
    Trigger | None, typer.Option(rich_help_panel=THE_RUN, help="What started the run [the CI's].")
]
StartedAt = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        rich_help_panel=THE_RUN,
        help="Start of the run [earliest time in the result files].",
    ),
]
EndedAt = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        rich_help_panel=THE_RUN,
        help="End of the run [start plus what the tests took].",
    ),
]
Conclusion = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=THE_RUN,
        metavar="WORD",
        help="Result as the CI reports it [success, or failure].",
    ),
]
HelloWord = Annotated[
    str | None,
    typer.Option(
        metavar="ok|failed",
        rich_help_panel=THE_RUN,
        help="Result of the connectivity check before the tests; only `failed` means no. [ok]",
    ),
]
HelloCommand = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        rich_help_panel=THE_RUN,
        help="A connectivity check to run; exit status 0 means ok.",
    ),
]
Box = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=THE_RUN,
        help="Box that ran the tests [HWCI_BOX, or the CI's].",
    ),
]
CiRun = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="NUMBER",
        rich_help_panel=THE_RUN,
        help="Number that the CI shows for the run [the CI's].",
    ),
]
CiUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL", rich_help_panel=THE_RUN, help="Page of the CI job, http or https [the CI's]."
    ),
]
CoversShas = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHA",
        rich_help_panel=COMMITS,
        help="Every commit of the push; repeatable, or a list [git's].",
    ),
]
BaseSha = Annotated[
    str | None,
    typer.Option(
        metavar="SHA",
        rich_help_panel=COMMITS,
        help="Commit of the last earlier run of this workflow that tested.",
    ),
]
ChangesFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|-", rich_help_panel=COMMITS, help="The `changes` object as JSON [git's]."
    ),
]
NoChanges = Annotated[
    bool, typer.Option("--no-changes", rich_help_panel=COMMITS, help="Do not ask git what changed.")
]
Messages = Annotated[
    bool | None,
    typer.Option(
        "--messages/--no-messages",
        envvar="HWCI_MESSAGES",
        show_envvar=False,
        rich_help_panel=RESULTS,
        help="Report the first 500 characters of each failure's message; it may hold a secret "
        "[HWCI_MESSAGES, else `messages` of hwci.toml, else no].",
    ),
]
NoSummary = Annotated[
    bool,
    typer.Option(
        "--no-summary", rich_help_panel=SENDING, help="Leave no summary on the page of the job."
    ),
]


def _number(value: float | None) -> float | None:
    """Read a time. What is no number is no end either."""
    if value is None or not math.isnan(value):
        return value
    raise wrong_usage(
        "--deadline is not understood",
        f"{value} is no number of seconds",
        "Correct --deadline (or HWCI_DEADLINE)",
    )


ConfigurationFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        help="JSON body, or TOML with [[product]] tables [the hwci.toml of this repository].",
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        min=0,
        metavar="SECONDS",
        envvar="HWCI_DEADLINE",
        callback=_number,
        rich_help_panel=SENDING,
        help="How long to go on trying; what is not sent then, waits [120; while no hwci answers,"
        " 10 where the report outlives the job].",
    ),
]


def form_of(json: bool, output: Format | None) -> Format:
    """Decide the form of the output."""
    if json and output not in {None, Format.JSON}:
        raise wrong_usage(
            "The output can have one form only",
            f"--json is set as well as --output {output}",
            "Leave one of them out",
        )
    return Format.JSON if json else output or Format.TABLE


class Pages(TypedDict):
    """Which page of a list is asked for."""

    page: int
    limit: int


def pages(page: int, limit: int, *, every: bool) -> Pages:
    """Return the page to ask for; with --all the first of the largest ones."""
    if every and page != 1:
        raise wrong_usage(
            "One page and all rows are asked for", "--page beside --all", "Leave one of them out"
        )
    return Pages(page=page, limit=limits.PAGE_LIMIT_MAX if every else limit)


def scope_of(product: str | None, repo: str | None) -> tuple[str | None, str | None]:
    """Return repository and suite. The last colon parts them: a suite holds none, as a rule."""
    if product is None:
        return repo, None
    repo_key, colon, suite = product.rpartition(":")
    if not (colon and repo_key and suite):
        raise wrong_usage(
            "The product is not understood",
            f"{product!r} is not of the form REPO:SUITE",
            "Write --product acme/firmware:sensor-fw; --repo-key for all products of a repository",
        )
    if repo not in {None, repo_key}:
        raise wrong_usage(
            "Two repositories are asked for", "--repo-key beside --product", "Leave --repo-key out"
        )
    return repo_key, suite


def time_of(text: str | None, flag: str) -> datetime | None:
    """Read a time of a flag."""
    from hwci.wire.base import parse_time

    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as fault:
        raise wrong_usage(
            f"{flag} is not understood", f"{text!r}: {fault}", f"Correct {flag}"
        ) from fault


def one_box(names: Sequence[str] | None) -> str | None:
    """Return the box of a flag that can be repeated by mistake only."""
    if names and len(set(names)) > 1:
        raise wrong_usage(
            "--box names one box",
            f"{len(names)} are named: {', '.join(names)}",
            "Write --junit BOX=FILE for each: one report per box is sent",
        )
    return names[0] if names else None


def list_of(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Read a repeatable flag that takes lists, too: as `git rev-list` prints, or with commas."""
    from hwci.ci.fields import listed

    return listed(" ".join(texts)) if texts else None


def now() -> datetime:
    """Read the clock; what belongs to one instant uses one reading."""
    return datetime.now(UTC)  # noqa: TID251 - the command line may read the clock
