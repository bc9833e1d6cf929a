# SPDX-License-Identifier: Apache-2.0
"""The flags that several commands share, each with one name and one explanation; how the text of
a flag is read, and the clock.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypedDict, overload

import typer

from hwci.cli.terminal.again import kept
from hwci.cli.terminal.render import Format, note
from hwci.client.explained import wrong_usage
from hwci.contract.vocabulary import Trigger
from hwci.wire import limits

Command = Callable[..., None]

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
    typer.Option("--output", "-o", help="Form of the output: table (default), json, csv or md."),
]
Page = Annotated[int, typer.Option(min=1, help="Which page of the list.")]
Limit = Annotated[int, typer.Option(min=1, max=limits.PAGE_LIMIT_MAX, help="Rows of a page.")]
All = Annotated[bool, typer.Option("--all", help="All rows instead of one page.")]
Days = Annotated[
    int, typer.Option("--days", min=1, max=limits.DAYS_MAX, metavar="N", help="The last N days.")
]
Product = Annotated[
    str | None,
    typer.Option(
        "--product",
        metavar="REPO:SUITE",
        help="One product only; the SUITE alone where one repository has it.",
    ),
]
Repo = Annotated[
    str | None, typer.Option("--repo-key", metavar="REPO", help="All products of one repository.")
]
LostBoard = Annotated[
    bool, typer.Option("--lost-board", help="Only those in runs that lost their board.")
]
OfBox = Annotated[str | None, typer.Option("--box", metavar="NAME", help="Only of this box.")]
OfBranch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="Only of this branch.")
]
OfBranches = Annotated[
    str | None,
    typer.Option(
        "--branch",
        metavar="NAME",
        help="Only of this branch, or: default, others (all but that), a pattern with one *.",
    ),
]
OfSha = Annotated[
    str | None,
    typer.Option(
        "--sha",
        metavar="COMMIT",
        help="Only of this commit, by its first digits, four or more.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME", help="End of the period: a date-time with an offset [now]."
    ),
]
BodyFile = Annotated[
    str | None,
    typer.Option(
        "--body",
        metavar="FILE|-",
        rich_help_panel=SENDING,
        help="The whole body as JSON, instead of flags.",
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
HelloCommand = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        rich_help_panel=THE_RUN,
        help="A connectivity check to run; exit status 0 means ok.",
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
        "--no-summary", rich_help_panel=SENDING, help="Write no summary on the page of the job."
    ),
]


def _number(value: float | None) -> float | None:
    """Return a deadline. Raises `ExplainedError`: it is `nan`."""
    if value is None or not math.isnan(value):
        return value
    raise wrong_usage(
        "--deadline is not understood",
        f"{value} is not a number of seconds",
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
        help="How long to try; a report that is not sent by then stays pending [120; if no hwci"
        " answers 45, or 10 where the report outlives the job].",
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
    """Number and size of a page of a list."""

    page: int
    limit: int


def pages(page: int, limit: int, *, every: bool) -> Pages:
    """Return the page to request; with --all the first page of the largest size."""
    if every and page != 1:
        raise wrong_usage(
            "Both one page and all rows were asked for",
            "--page beside --all",
            "Leave one of them out",
        )
    return Pages(page=page, limit=limits.PAGE_LIMIT_MAX if every else limit)


def scope_of(product: str | None, repo: str | None) -> tuple[str | None, str | None]:
    """Return repository and suite, parted at the last colon: a suite usually has none."""
    if product is None:
        return repo, None
    repo_key, colon, suite = product.rpartition(":")
    if not (colon and repo_key and suite):
        raise wrong_usage(
            "The product is not understood",
            f"{product!r} is not of the form REPO:SUITE",
            "Write it whole (hwci products lists them); --repo-key for all of a repository",
        )
    if repo not in {None, repo_key}:
        raise wrong_usage(
            "Two repositories were named", "--repo-key beside --product", "Leave --repo-key out"
        )
    return repo_key, suite


@overload
def time_of(text: str, flag: str) -> datetime: ...


@overload
def time_of(text: str | None, flag: str) -> datetime | None: ...


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


_DURATION = re.compile(r"([0-9]{1,6})(m|h|d)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)%?")
_WHOLE_SHARE = 100


def duration_of(text: str, flag: str) -> timedelta:
    """Read a length of time of a flag."""
    match = _DURATION.fullmatch(text)
    if match is None:
        fix = f"Write it like {flag} 90m, 24h or 7d"
        raise wrong_usage(f"{flag} is not understood", f"{text!r} is no length of time", fix)
    return int(match[1]) * _UNITS[match[2]]


def percent_of(text: str, flag: str) -> float:
    """Read a share in percent of a flag."""
    match = _SHARE.fullmatch(text)
    if match is None or float(match[1]) > _WHOLE_SHARE:
        cause = f"{text!r} is no share between 0 and 100 percent"
        raise wrong_usage(f"{flag} is not understood", cause, f"Write it like {flag} 5%")
    return float(match[1])


def one_box(names: Sequence[str] | None) -> str | None:
    """Return the box that --box names. Only one may be named."""
    if names and len(set(names)) > 1:
        raise wrong_usage(
            "--box names one box",
            f"{len(names)} are named: {', '.join(names)}",
            "Write --junit BOX=FILE for each: one report per box is sent",
        )
    return names[0] if names else None


def list_of(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Read a repeatable flag whose values may be lists, as `git rev-list` prints or with commas."""
    from hwci.ci.fields import listed

    return listed(" ".join(texts)) if texts else None


def now() -> datetime:
    """Read the clock. A command reads it once for one instant."""
    return datetime.now(UTC)  # noqa: TID251 - the command line may read the clock


# The flags for fields of a report


def _of_job(
    panel: str | None,
    metavar: str | None,
    words: str,
    kind: Any = str,  # noqa: ANN401 - a type
    *,
    flag: str | None = None,
    **rule: Any,
) -> Any:  # noqa: ANN401 - annotated for typer
    names = () if flag is None else (flag,)
    option = typer.Option(*names, rich_help_panel=panel, metavar=metavar, help=words, **rule)
    return Annotated[kind | None, option]


_OF_THE_JOB: Mapping[str, Any] = {
    "repo_key": _of_job(
        THE_RUN, "NAME", "Name of the repository; the same value in all reports [the CI's]."
    ),
    "workflow": _of_job(THE_RUN, "NAME", "Name of the CI workflow [the CI's]."),
    "suite": _of_job(THE_RUN, "NAME", "Product [HWCI_SUITE, or that of hwci.toml]."),
    "run_id": _of_job(THE_RUN, "NUMBER", "CI run id [the CI's].", int, min=0),
    "run_attempt": _of_job(
        THE_RUN, "NUMBER", "Attempt of the CI run, from 1 [the CI's].", int, min=1
    ),
    "trigger": _of_job(THE_RUN, None, "What started the run [the CI's].", Trigger),
    "branch": _of_job(THE_RUN, "NAME", "Branch [the CI's, or git's]."),
    "sha": _of_job(
        THE_RUN, "COMMIT", "Commit, or a name that git has for it [the CI's, or git's]."
    ),
    "started_at": _of_job(THE_RUN, "TIME", "Start of the run [earliest time in the result files]."),
    "ended_at": _of_job(
        THE_RUN, "TIME", "End of the run [start plus the time that the tests took]."
    ),
    "conclusion": _of_job(THE_RUN, "WORD", "Result as the CI reports it [success, or failure]."),
    "hello_ok": _of_job(
        THE_RUN,
        "ok|failed",
        "Result of the connectivity check before the tests; only `failed` means no [ok].",
        flag="--hello",
    ),
    "box_key": _of_job(
        THE_RUN,
        "NAME",
        "Box that ran the tests [HWCI_BOX, or the CI's].",
        list[str],
        flag="--box",
    ),
    "ci_run": _of_job(
        THE_RUN, "NUMBER", "Number that the CI shows for the run [the CI's].", int, min=0
    ),
    "ci_url": _of_job(THE_RUN, "URL", "Page of the CI job, http or https [the CI's]."),
    "rerun_of": _of_job(
        THE_RUN,
        "NUMBER",
        "CI run id of the run whose result made CI start this one: it failed, or this one waited"
        " for it to pass [the CI's].",
        int,
        min=0,
    ),
    "merged_at": _of_job(None, "TIME", "Time of the merge, with an offset [the CI's, or git's]."),
    "covers_shas": _of_job(
        COMMITS, "COMMIT", "Every commit of the push; repeatable, or a list [git's].", list[str]
    ),
    "before_sha": _of_job(COMMITS, "COMMIT", "Commit of the branch before the push [the CI's]."),
    "base_sha": _of_job(COMMITS, "COMMIT", "Commit that the previous run of this workflow tested."),
    "merge_branches": _of_job(
        COMMITS,
        "NAME",
        "A branch where a push counts as a merge [the default branch].",
        list[str],
    ),
}
"""By field, as typer reads them; `hwci.ci.fields` has the variables."""


def _hello(word: str | None) -> bool | None:
    from hwci.ci.reporting import hello_word

    return hello_word(word, note)


_READ: Mapping[str, Callable[[Any], object]] = {
    "started_at": partial(time_of, flag="--started-at"),
    "ended_at": partial(time_of, flag="--ended-at"),
    "merged_at": partial(time_of, flag="--merged-at"),
    "hello_ok": _hello,
    "box_key": one_box,
    "covers_shas": list_of,
    "merge_branches": list_of,
}
"""How the text of a flag becomes the value of its field, where it is not the value itself."""


def of_the_job(*fields: str) -> Callable[[Command], Command]:
    """Make a command of a function with an argument `flags`: the flags of these fields take its
    place, and the function gets their values as `JobFlags`.
    """

    def decorate(function: Command) -> Command:
        def command(**arguments: Any) -> None:
            from hwci.ci.reporting import JobFlags

            texts = {name: arguments.pop(name) for name in fields}
            for name in _READ.keys() & texts:
                texts[name] = _READ[name](texts[name])
            function(flags=JobFlags(**texts), **arguments)

        added = [flag(name, _OF_THE_JOB[name]) for name in fields]
        own = inspect.signature(function).parameters.values()
        parameters = (added if parameter.name == "flags" else [parameter] for parameter in own)
        return described(command, function, list(chain.from_iterable(parameters)))

    return decorate


# Flags that a decorator adds to those of a function


def flag(name: str, kind: Any, default: object = None) -> inspect.Parameter:  # noqa: ANN401 - annotated for typer
    """Return a flag as a parameter of a command."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, annotation=kind, default=default)


def described(
    command: Command, function: Callable[..., Any], parameters: list[inspect.Parameter]
) -> Command:
    """Set the name, help and parameters of a command, for typer to read."""
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return command
