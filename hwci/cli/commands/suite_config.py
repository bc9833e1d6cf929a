# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config`: check and send which files are the firmware and which the harness of a
product (spec, "Suite configuration"), from JSON or from the project file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.commands.suite_plan import plan
from hwci.cli.session.reporter import command_context
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options, render, tables
from hwci.client.explained import ErrorMessage, ExplainedError, explained, wrong_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.git.path_check import CommitKinds, PathCheck, Tracked
    from hwci.wire.reports import SuiteConfiguration

suite_config = typer.Typer(
    no_args_is_help=True, help="Suite configurations of products: check, plan, apply."
)

DIRECTORIES_SHOWN = 10
NOT_APPLIED = "The configuration was not applied"


@suite_config.command("apply")
def apply(
    files: options.ConfigurationFiles = None,
    dry_run: options.DryRun = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Send configurations; each replaces the earlier one of its product. Needs HWCI_CI_KEY.

    All files are checked first: if one has a fault, nothing is sent. What hardly fits the
    repository of this folder is a warning, as of `check`.

    For example:

      hwci suite-config apply

      hwci suite-config apply sensor.json gateway.json --dry-run
    """
    from hwci.ci.reporting import files_or_found, read_configurations
    from hwci.client import Client, calls

    fix, context = "Correct what is named above; nothing was sent", command_context()
    read = read_configurations(files_or_found(files, context), fix, context)
    _warn_of_paths(read)
    if dry_run:
        for config in read:
            render.say_json((calls.put_suite_config(config).body or b"").decode())
        return
    settings = resolve(Flags(url, profile))
    with (
        explained(NOT_APPLIED, by_ci_key=True),
        Client(settings.url_for_key(NOT_APPLIED), ci_key=settings.ci_key()) as client,
    ):
        for config in read:
            client.send(calls.put_suite_config(config))
            render.note(f"Applied to {config.repo_key}:{config.suite} at {settings.url}.")


@suite_config.command("check")
def check(
    files: options.ConfigurationFiles = None,
    repository: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A checkout to look at [this folder's].", show_default=False
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A warning fails the command.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write what was found as JSON.")] = False,
) -> None:
    """Check configurations without a server: their rules, then whether they fit the repository.

    A warning is about a pattern that matches nothing, a file that is firmware and harness at once,
    or a firmware that no commit changed lately. Faults exit with 1, warnings with 0.

    For example:

      hwci suite-config check

      hwci suite-config check sensor.json --repository ../firmware --strict
    """
    from hwci.ci.git.path_check import check_paths
    from hwci.ci.reporting import files_or_found, read_configurations

    context = command_context()
    named = files_or_found(files, context)
    read = read_configurations(named, "Correct what is named above", context, repository)
    known = _tracked(repository or (context.folder() if json else None))
    if known is not None:
        found = check_paths(read, known)
        render.emit_json(found) if json else _show(found)
        _warn(found)
        if strict and found.warnings:
            count = tables.counted(len(found.warnings), "warning")
            fix = "Correct what is named above, or leave --strict out"
            raise ExplainedError(
                ErrorMessage("The configuration does not fit the repository", count, fix)
            )
    products = tables.counted(len(read), "product")
    render.note(f"{products} in {tables.counted(len(named), 'file')}: ok.")


suite_config.command("plan")(plan)


def _tracked(folder: Path | None) -> Tracked | None:
    """Look at the checkout; where nobody named one, there need not be one."""
    from hwci.ci.git.path_check import tracked
    from hwci.ci.git.repository import GitError, Repository

    try:
        return tracked(Repository(folder or command_context().folder()))
    except GitError as fault:
        if folder is not None:
            raise wrong_usage(
                "The repository cannot be looked at",
                str(fault),
                fault.fix or "Name a checkout: --repository DIR",
            ) from fault
        render.note(f"note: Only the rules are checked, without a repository: {fault}")
        return None


def _warn_of_paths(read: Sequence[SuiteConfiguration]) -> None:
    """Warn of what hardly fits the repository of this folder, if it is one."""
    from hwci.ci.git.path_check import check_paths, tracked
    from hwci.ci.git.repository import GitError, Repository

    try:
        known = tracked(Repository(command_context().folder()))
    except GitError:
        return
    _warn(check_paths(read, known))


def _warn(found: PathCheck) -> None:
    for warning in found.warnings:
        render.note(f"warning: {warning}")


def _show(found: PathCheck) -> None:
    """Write which commits count as what, and where the files are that are neither."""
    render.emit(_kinds(found.commits), found.products, render.Format.TABLE)
    if not found.changed_files:
        return
    percent = 100 * found.known_files // found.changed_files
    changed = tables.counted(found.changed_files, "changed file")
    render.say(f"{percent} % of {changed} are firmware or harness of some product.")
    shown = [f"{one.directory} ({one.files})" for one in found.neither[:DIRECTORIES_SHOWN]]
    if shown:
        more = len(found.neither) - len(shown)
        render.say(f"Neither: {', '.join(shown)}{f', {more} more' if more else ''}")


def _kinds(commits: int) -> tables.Layout[CommitKinds]:
    return tables.Layout(
        name="commits",
        title=f"The last {commits} commits",
        columns=(
            tables.Column("Product", lambda row: tables.product(row.repo_key, row.suite)),
            tables.Column("Firmware", lambda row: str(row.firmware), right=True),
            tables.Column("Harness", lambda row: str(row.harness), right=True),
            tables.Column("Both", lambda row: str(row.both), right=True),
            tables.Column(
                f"Neither, of {commits} commits", lambda row: str(row.neither), right=True
            ),
        ),
        keys=("repoKey", "suite", "firmware", "harness", "both", "neither"),
        empty="",
    )
