# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config`: check, plan and send which files are the firmware and which the harness of a
product (spec, "Suite configuration"), from JSON or from the project file. The server decides which
class a failure would have.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.session.reporter import ci_key, command_context
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options, render, tables
from hwci.client.explained import command_error, explained, wrong_usage
from hwci.contract.vocabulary import FailureClass
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.ci.reporting import CommitKinds, PathCheck
    from hwci.contract.failures.failures import ClassAndReason, ReclassifiedFailure, Review
    from hwci.contract.page.metrics import RealFwBugs, SuiteConfigPlan
    from hwci.contract.runs.products import SuiteConfig

suite_config = typer.Typer(no_args_is_help=True)

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
    repository of this folder is a warning, as of `check`. Outside of CI, the server of your sign-in
    is the one that is meant where none is named.

    For example:

      hwci suite-config apply

      hwci suite-config apply sensor.json gateway.json --dry-run
    """
    from hwci.ci.reporting import PathCheck, check_repository, files_or_found, read_configurations
    from hwci.client import Client, calls

    fix, context = "Correct what is named above; nothing was sent", command_context()
    read = read_configurations(files_or_found(files, context), fix, context)
    check = check_repository(read, context.folder())
    if isinstance(check, PathCheck):
        _warn(check)
    if dry_run:
        for config in read:
            render.write_json((calls.put_suite_config(config).body or b"").decode())
        return
    settings = resolve(Flags(url, profile))
    address = settings.url_for_key(NOT_APPLIED, in_person=not context.in_ci)
    with (
        explained(NOT_APPLIED, by_ci_key=True),
        Client(address, ci_key=ci_key(settings)) as client,
    ):
        for config in read:
            client.send(calls.put_suite_config(config))
            render.note(f"Applied to {config.repo_key}:{config.suite} at {settings.url}.")


@suite_config.command("check")
def check(
    files: options.ConfigurationFiles = None,
    repository: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A checkout to look at [this folder's].")
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
    from hwci.ci.reporting import (
        PathCheck,
        check_repository,
        files_or_found,
        read_configurations,
    )

    context = command_context()
    named = files_or_found(files, context)
    read = read_configurations(named, "Correct what is named above", context, repository)
    check = check_repository(read, repository or context.folder())
    if isinstance(check, PathCheck):
        render.emit_json(check) if json else _show(check)
        _warn(check)
        if strict and check.warnings:
            count = counted(len(check.warnings), "warning")
            fix = "Correct what is named above, or leave --strict out"
            raise command_error("The configuration does not fit the repository", count, fix)
    elif repository is not None or json:
        fix = check.fix or "Name a checkout: --repository DIR"
        raise wrong_usage("The repository cannot be read", str(check), fix) from check
    else:
        render.note(f"note: Only the rules are checked, without a repository: {check}")
    products = counted(len(read), "product")
    render.note(f"{products} in {counted(len(named), 'file')}: ok.")


def _warn(check: "PathCheck") -> None:
    for warning in check.warnings:
        render.note(f"warning: {warning}")


def _show(check: "PathCheck") -> None:
    """Write which commits count as what, and where the files are that are neither."""
    render.write_prose(f"{COMMITS_BY}, of the last {counted(check.commits, 'commit')}:")
    render.emit(_kinds(), check.products, render.Format.TABLE)
    if not check.changed_files:
        return
    percent = 100 * check.known_files // check.changed_files
    changed = counted(check.changed_files, "changed file")
    render.write_prose(f"{percent} % of {changed} are firmware or harness of some product.")
    shown = [
        f"{'the root folder' if path.directory == '.' else path.directory} ({path.files})"
        for path in check.neither[:DIRECTORIES_SHOWN]
    ]
    if shown:
        more = len(check.neither) - len(shown)
        render.write_prose(
            f"Neither, by folder: {', '.join(shown)}{f', {more} more' if more else ''}"
        )


COMMITS_BY = "Commits by what they change"


def _kinds() -> "tables.Layout[CommitKinds]":
    return tables.Layout(
        name="commits",
        title=COMMITS_BY,
        columns=(
            tables.Column("Product", lambda row: tables.product(row.repo_key, row.suite)),
            tables.Column("Firmware only", lambda row: str(row.firmware), right=True),
            tables.Column("Harness only", lambda row: str(row.harness), right=True),
            tables.Column("Both", lambda row: str(row.both), right=True),
            tables.Column("Neither", lambda row: str(row.neither), right=True),
        ),
        fields="repoKey suite firmware harness both neither",
        empty="",
    )


REVIEWED = {"confirm": "confirmed", "dismiss": "dismissed"}


@suite_config.command("plan")
@connected()
def plan(
    server: Connection,
    files: options.ConfigurationFiles = None,
    *,
    days: options.Days = limits.PLAN_DAYS_DEFAULT,
    as_of: options.AsOf = None,
    page: options.Page = 1,
    limit: options.Limit = limits.PAGE_LIMIT_DEFAULT,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON: a list of the API's answers, by product.")
    ] = False,
) -> None:
    """Show which earlier failures configurations would class otherwise; nothing is sent.

    Needs a sign-in, and no CI key: results are people's to read. A failure that somebody reviewed
    counts as reviewed, whatever the checks would say.

    For example:

      hwci suite-config plan

      hwci suite-config plan sensor.json --days 365 --json
    """
    from hwci.ci.reporting import files_or_found, read_configurations

    context = command_context()
    read = read_configurations(
        files_or_found(files, context), "Correct what is named above", context
    )
    end = options.time_of(as_of, "--as-of")
    plans: list[SuiteConfigPlan] = []
    org_id = server.org_id()
    for config in read:
        # All are of one instant: that of the first answer.
        at = plans[0].period.end if plans else end
        call = client.calls.plan_suite_config(
            org_id, config, days=days, as_of=at, page=page, limit=limit
        )
        plans.append(server.send(call))
    if json:
        render.emit_json(plans)
        return
    for number, plan in enumerate(plans):
        if number:
            render.write()
        _show_plan(plan)
        if not plan.complete:
            render.note(
                f"The server's time was over when it had looked at the newest {plan.looked_at} of"
                f" {plan.failures} failures; ask for fewer with --days."
            )
        shown = len(plan.changes.items)
        if hint := render.other_pages("failure", plan.changes.total, shown, page, limit):
            render.note(hint)


def _show_plan(plan: "SuiteConfigPlan") -> None:
    product = tables.product(plan.product.repo_key, plan.product.suite)
    changed = counted(plan.changes.total, "failure")
    render.write_prose(
        f"{product}, last {plan.period.days} days: {changed} would be seen otherwise."
    )
    render.write_prose(_counts(plan.before, plan.after))
    if plan.changes.items:
        render.emit(_plan_layout(plan.changes.items), plan.changes.items, render.Format.TABLE)


def _counts(before: "RealFwBugs", after: "RealFwBugs") -> str:
    """Write the tile as it is and as it would be: `real firmware bug 3 → 2, …`."""
    figures = (
        (FailureClass.REAL_FW_BUG, before.real, after.real),
        (FailureClass.BENCH_OR_HARNESS, before.bench_or_harness, after.bench_or_harness),
        (FailureClass.AMBIGUOUS, before.ambiguous, after.ambiguous),
        (FailureClass.DISMISSED, before.dismissed, after.dismissed),
    )
    return ", ".join(
        f"{tables.CLASS_WORDS[name]} {_change(now, then)}" for name, now, then in figures
    )


def _change(now: int, then: int) -> str:
    arrow = "→" if render.unicode_fits() else "->"
    return str(now) if now == then else f"{now} {arrow} {then}"


def _plan_layout(rows: "Sequence[ReclassifiedFailure]") -> "tables.Layout[ReclassifiedFailure]":
    columns: list[tables.Column[ReclassifiedFailure]] = [
        tables.id_column(lambda row: row.id),
        tables.Column("Test", lambda row: row.test_id),
        tables.Column("Box", lambda row: row.box_key),
        tables.Column("Branch", lambda row: row.branch, spare=True),
        tables.commit_column("Commit", lambda row: row.sha, spare=True),
        tables.Column("First failed (UTC)", lambda row: tables.moment(row.started_at), spare=True),
        tables.Column("Class now", lambda row: _class(row.before)),
        tables.Column("Class then", lambda row: _class(row.after)),
    ]
    if any(row.review for row in rows):
        columns.append(tables.Column("Stays", lambda row: _review(row.review)))
    return tables.Layout("plan", "What would change", columns, fields="", empty="")


def _class(shown: "ClassAndReason") -> str:
    words = tables.CLASS_WORDS[shown.failure_class]
    return f"{words}: {shown.reason_text}" if shown.reason_text else words


def _review(review: "Review | None") -> str:
    return f"{REVIEWED[review.action]} by {review.by.name}" if review else ""


def _layout(view: tables.View) -> "tables.Layout[SuiteConfig]":
    column = tables.Column
    return tables.Layout(
        "suite-configs",
        "Suite configurations",
        [
            column("Product", lambda row: tables.product(row.repo_key, row.suite)),
            column(
                "Firmware",
                lambda row: counted(len(row.firmware_paths), "pattern"),
                right=True,
            ),
            column("Harness patterns", lambda row: str(len(row.harness_paths)), right=True),
            column("Tests merges", lambda row: "yes" if row.merge_trigger else "no"),
            tables.time_column("Sent", lambda row: row.updated_at, view.now),
        ],
        "repoKey suite mergeTrigger updatedAt firmwarePaths harnessPaths triggerPaths",
        "No suite configuration yet: hwci suite-config apply",
    )


@suite_config.command("list")
@listing(_layout, "suite-config list", "configuration", by_key=True)
def list_configurations(server: Connection, **wanted: Any) -> "Iterator[SuiteConfig]":
    """List the suite configurations that the server holds, the newest first.

    For example:

      hwci suite-config list
    """
    return _sent(server, **wanted)


@suite_config.command("show")
@connected(by_key=True)
def show(
    server: Connection,
    product: Annotated[
        str,
        typer.Argument(
            metavar="REPO:SUITE", help="The product; its suite alone, where one repository has it."
        ),
    ],
) -> None:
    """Print the configuration of a product as the server holds it: JSON that `apply` takes.

    For example:

      hwci suite-config show acme/firmware:sensor-fw > sensor.json
    """
    from hwci.wire.codec import plain
    from hwci.wire.nearest import hint
    from hwci.wire.reports import SuiteConfiguration

    scope = server.scope_of(product, None)
    held = {tables.product(config.repo_key, config.suite): config for config in _sent(server)}
    config = next((sent for sent in held.values() if (sent.repo_key, sent.suite) == scope), None)
    if config is None:
        cause = hint(product, held) or "none of this name was sent: hwci suite-config list"
        fix = "Send one: hwci suite-config apply; or name another product"
        raise command_error(f"{product} has no suite configuration", cause, fix)
    body = SuiteConfiguration.model_validate(plain(config, by_alias=False))
    render.write_json(body.model_dump_json(indent=2, exclude_none=True))


def _sent(server: Connection, **wanted: Any) -> "Iterator[SuiteConfig]":
    most = limits.PAGE_LIMIT_MAX
    return server.items(client.calls.list_suite_configs(server.org_id(), limit=most, **wanted))
