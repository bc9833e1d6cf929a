# SPDX-License-Identifier: Apache-2.0
"""`hwci failures`: list failures with their labels, show one with its evidence, review it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hwci.cli.session import ids
from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import evidence, options, paging, render, tables
from hwci.client.explained import not_empty
from hwci.engine.vocabulary import Label
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from hwci.cli.session.connection import Connection
    from hwci.wire.base import ListPage
    from hwci.wire.failures import FailureAnswer, ResolvedFailureAnswer

failures = typer.Typer(no_args_is_help=True, help="Failures: list, show, review.")

FailureId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Id of the failure, or its first 8 digits if it is of the period."
    ),
]


@failures.command("list")
def list_failures(
    *,
    label: Annotated[
        Label | None, typer.Option(help="Only flakes, resolved or pending failures.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only those of one test, by its whole id."),
    ] = None,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    page: paging.Page = 1,
    limit: paging.Limit = limits.PAGE_LIMIT_DEFAULT,
    json: options.Json = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List the failures of a period, each with its label.

    For example:

      hwci failures list --label pending

      hwci failures list --product acme/firmware:sensor-fw --output csv

      hwci failures list --label flake --test hil.test_uart::test_echo
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    repo_key, suite = options.scope_of(product, repo)
    end = options.time_of(as_of, "--as-of")
    with signed_in(Flags(url, profile, org)) as connection:
        found = connection.client.send(
            calls.list_failures(
                connection.org_id(),
                label=label,
                test_id=not_empty(test, "--test"),
                days=days,
                repo_key=repo_key,
                suite=suite,
                as_of=end,
                page=page,
                limit=limit,
            )
        )
    if form is render.Format.JSON:
        render.emit_json(found)
        return
    now = end or options.now()
    _show(found, form, tables.View(now, suite is not None, tables.only_repo(found.items)))


def _show(found: ListPage[FailureAnswer], form: render.Format, view: tables.View) -> None:
    beyond = found.total and not found.items
    if not (beyond and form is render.Format.TABLE):
        render.emit(tables.failures(view), found.items, form)
    if hint := paging.elsewhere("failure", found.total, len(found.items), found.page, found.limit):
        render.note(hint)


@failures.command("show")
def show_failure(
    failure: FailureId,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Show one failure with all that its answer rests on: who is to blame, and why.

    For example:

      hwci failures show 4f1c9a02
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        failure_id = _resolve(connection, org_id, failure, days)
        found = connection.client.send(calls.get_failure(org_id, failure_id))
    if json:
        render.emit_json(found)
        return
    render.draw(*evidence.sections(found, options.now()))


@failures.command("confirm")
def confirm(
    failure: FailureId,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Count a resolved failure as a real firmware bug. Owners and admins only.

    For example:

      hwci failures confirm 4f1c9a02
    """
    from hwci.client import calls

    _review(calls.confirm_failure, failure, days, json, Flags(url, profile, org))


@failures.command("dismiss")
def dismiss(
    failure: FailureId,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Say that a real firmware bug was none. Owners and admins only.

    For example:

      hwci failures dismiss 4f1c9a02
    """
    from hwci.client import calls

    _review(calls.dismiss_failure, failure, days, json, Flags(url, profile, org))


@failures.command("reset")
def reset(
    failure: FailureId,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Take a review back: the automatic class holds again. Owners and admins only.

    For example:

      hwci failures reset 4f1c9a02
    """
    from hwci.client import calls

    _review(calls.reset_failure, failure, days, json, Flags(url, profile, org))


def _review(
    call: Callable[[UUID, UUID], Any], failure: str, days: int, json: bool, flags: Flags
) -> None:
    with signed_in(flags) as connection:
        org_id = connection.org_id()
        failure_id = _resolve(connection, org_id, failure, days)
        now_is: ResolvedFailureAnswer = connection.client.send(call(org_id, failure_id))
    if json:
        render.emit_json(now_is)
    else:
        render.say(evidence.standing(now_is))


def _resolve(connection: Connection, org_id: UUID, text: str, days: int) -> UUID:
    """Complete an abbreviated id from the failures of the period, all read as of one instant.

    Raises:
        ExplainedError: not an id, or none or several begin with it.
    """
    from hwci.client import calls

    call = calls.list_failures(org_id, days=days, as_of=options.now(), limit=limits.PAGE_LIMIT_MAX)
    named = ids.Named(
        "failure",
        "hwci failures list",
        f"of the last {days} days",
        "Look further back with --days, or give",
    )
    return ids.complete(text, named, lambda: [item.id for item in connection.client.items(call)])
