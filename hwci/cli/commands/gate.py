# SPDX-License-Identifier: Apache-2.0
"""`hwci gate`: whether a release may go out, as an exit code. What is known of it is asked for in
`hwci.cli.session.release`, and answer in `hwci.analysis.gate`.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session import narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render
from hwci.client.explained import ExitCode, ExplainedError, explain, not_empty, wrong_usage
from hwci.contract.vocabulary import BranchChoice
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from hwci.analysis.gate import Facts
    from hwci.cli.session.release import Wanted
    from hwci.contract.gate import Requirement

_USUAL = "checked,no-open-bug"

Range = Annotated[
    str | None,
    typer.Option(
        "--range", metavar="A..B", help="The commits after A up to B, as git has them here."
    ),
]
OneCommit = Annotated[
    str | None,
    typer.Option(
        "--commit", metavar="COMMIT", help="What this commit brought, as git has it here."
    ),
]
LastDays = Annotated[
    int | None,
    typer.Option(
        "--days",
        min=1,
        max=limits.DAYS_MAX,
        metavar="N",
        help=f"The merges of the last N days [{limits.DAYS_DEFAULT}].",
    ),
]
OfBranch = Annotated[
    str | None,
    typer.Option("--branch", metavar="NAME", help="Only merges into this branch [all]."),
]
Require = Annotated[
    str,
    typer.Option(
        "--require",
        metavar="LIST",
        help="What is required: some of checked, no-open-bug, no-pending, boxes=N,"
        " reached=PERCENT, with commas between them.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", metavar="FILE", help="Known exceptions, as TOML."),
]
WriteBaseline = Annotated[
    Path | None,
    typer.Option(
        "--write-baseline",
        metavar="FILE",
        help="Write what speaks against it to a new file of exceptions; the exit code stays.",
    ),
]


@connected(by_key=True)
def gate(
    server: Connection,
    *,
    commits: Range = None,
    commit: OneCommit = None,
    days: LastDays = None,
    branch: OfBranch = None,
    require: Require = _USUAL,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    product: options.Product = None,
    repo: options.Repo = None,
    json: Annotated[bool, typer.Option("--json", help="Write the answer as JSON.")] = False,
) -> None:
    """Let a release pass only if all that is required of it is met: exit code 0, else 3.

    It prints what speaks against it, each with the run that would settle it, as lines to paste.
    What is not known never passes: no merge, a commit that nobody announced or ran, no run.

    checked: each merge ran on real hardware, by itself or in the push of a run.
    no-open-bug: no pending failure but those blamed on the bench, and no firmware bug, or what may
    be one, whose fix the release lacks.
    no-pending: no pending failure on its branches at all.
    boxes=N: its last commit passed on N boxes.
    reached=PERCENT: so many of its runs reached the hardware.

    For example:

      hwci gate --range v1.4..v1.5 --require checked,no-open-bug,no-pending,boxes=2

      hwci gate --days 7 --branch main --require checked,reached=95

      hwci gate --range v1.4..v1.5 --baseline known.toml --json
    """
    from hwci.analysis.gate import decide
    from hwci.cli.session import baseline as exceptions
    from hwci.cli.terminal.gate import lines, unused

    required = _required(require)
    known = [] if baseline is None else exceptions.read_baseline(baseline)
    scope = server.scope_of(product, repo)
    wanted = _wanted(commits, commit, days, _one_branch(branch), scope)
    now = options.now()
    answer = decide(_facts(server, wanted, required, now), required, known, now.date())
    if json:
        render.emit_json(answer)
    else:
        for line in lines(answer):
            render.write(line)
    for line in unused(answer):
        render.note(line)
    if write_baseline is not None:
        number = exceptions.write_baseline(write_baseline, answer, now.date())
        wrote = f"Wrote {counted(number, 'exception')} to {write_baseline}"
        render.note(f"{wrote}: write the true reasons into it.")
    if not answer.passed:
        raise typer.Exit(ExitCode.NOT_MET)


def _one_branch(branch: str | None) -> str | None:
    """Return the branch that a gate is about. Lists take patterns; a release is one branch."""
    if branch is not None and ("*" in branch or branch in [*BranchChoice]):
        fix = "Name one, such as --branch main, or leave it out for all"
        raise wrong_usage("The gate was not asked", f"--branch {branch} names no one branch", fix)
    return not_empty(branch, "--branch")


def _facts(
    server: Connection, wanted: "Wanted", required: "Collection[Requirement]", now: "datetime"
) -> "Facts":
    """Ask what these requirements need to know. A branch that nothing names is a mistake."""
    from hwci.cli.session.release import Looked
    from hwci.client.errors import NotFoundError

    try:
        facts = Looked(server, wanted, now).facts(required)
    except NotFoundError as fault:  # the product: a name that the caller wrote wrongly
        raise ExplainedError(replace(explain(fault), code=ExitCode.USAGE)) from fault
    named = {"branch": wanted.branch, "repo_key": wanted.repo_key, "suite": wanted.suite}
    filters = {name: value for name, value in named.items() if value is not None}
    line = "" if facts.merges else narrowing.unknown(server, filters)
    if line and not _were_merged(server, filters):
        raise wrong_usage("The gate was not asked", line, "Correct --branch, or leave it out")
    return facts


def _were_merged(server: Connection, filters: narrowing.Filters) -> bool:
    """Return whether any merge was ever announced: a branch may have some before the period, and
    no run.
    """
    from hwci.client import calls

    ever = calls.list_merges(server.org_id(), **filters, days=limits.DAYS_MAX, limit=1)
    return server.send(ever).total > 0


def _required(text: str) -> "Mapping[Requirement, float | None]":
    from hwci.analysis.gate import RequirementError, required

    try:
        return required(text)
    except RequirementError as fault:
        fix = "Correct --require, such as --require checked,boxes=2"
        raise wrong_usage("--require is not understood", str(fault), fix) from fault


def _wanted(
    commits: str | None,
    commit: str | None,
    days: int | None,
    branch: str | None,
    scope: tuple[str | None, str | None],
) -> "Wanted":
    """Return which commits the gate is about."""
    from hwci.cli.session.release import Wanted

    flags = {"--range": commits, "--commit": commit, "--days": days}
    named = [flag for flag, value in flags.items() if value is not None]
    if len(named) > 1:
        cause = f"{' and '.join(named)} are given together"
        raise wrong_usage("It is not clear which commits are meant", cause, "Give one of them")
    if commits is None and commit is None:
        days = days or limits.DAYS_DEFAULT
        last = "the last day" if days == 1 else f"the last {days:,} days"
        return Wanted(last if branch is None else f"{last} on {branch}", None, days, branch, *scope)
    from hwci.ci.reporting import read_released

    named_commits = not_empty(commits, "--range"), not_empty(commit, "--commit")
    of_git = read_released(Path.cwd(), *named_commits)
    return Wanted(commits or f"commit {commit}", of_git, 0, branch, *scope)
