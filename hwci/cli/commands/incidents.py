# SPDX-License-Identifier: Apache-2.0
"""`hwci incidents`: failures that one cause explains, as one row, and one review for all of them.
The server decides which these are.
"""

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hwci import client
from hwci.cli.commands.failures import Issue, Note, Review, send_review
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing_of_a_period
from hwci.cli.terminal import options, render, tables
from hwci.client.explained import command_error
from hwci.contract.runs.commits import MAY_HAVE_BROKEN
from hwci.contract.vocabulary import BANDS, Label, ReviewAction
from hwci.said import counted, short, shortest
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hwci.cli.session.listing import Listed
    from hwci.contract.failures.incidents import Incident

MADE = {ReviewAction.CONFIRM: "confirmed", ReviewAction.DISMISS: "dismissed", None: "reset"}

incidents = typer.Typer(no_args_is_help=True)


class IncidentLabel(StrEnum):
    """The labels of incidents: a flake is none."""

    RESOLVED = Label.RESOLVED
    PENDING = Label.PENDING


IncidentId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Id of the incident, or the start of it, eight digits or more."
    ),
]
NAMED_MAX = 2
"""So many tests and boxes of an incident are named in a line."""


@incidents.command("list")
@listing_of_a_period("incidents list", "incident")
def list_incidents(
    server: Connection,
    *,
    label: Annotated[
        IncidentLabel | None, typer.Option(help="Only pending incidents, or resolved ones.")
    ] = None,
    **period: Any,
) -> "Listed[Incident]":
    """List the incidents of a period: failures with the same beginning and the same fix, as one.

    --sha finds those of which something failed on the commit. JSON is the page, with each failure;
    with --all, a list.

    For example:

      hwci incidents list --label pending

      hwci incidents list --label pending --branch default

      hwci incidents list --product acme/firmware:sensor-fw --days 90 --all
    """
    of_label = None if label is None else Label(label)
    return client.calls.list_incidents(server.org_id(), label=of_label, **period), _layout


@incidents.command("confirm")
@connected()
def confirm(
    server: Connection,
    incident: IncidentId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
) -> None:
    """Count each failure of a resolved incident as a real firmware bug. Owners and admins only.

    Each failure gets its own review and its own entry of the audit log.

    For example:

      hwci incidents confirm 4f1c9a02 --issue https://issues.example.org/7
    """
    _review(server, Review(ReviewAction.CONFIRM, note, issue), incident, days)


@incidents.command("dismiss")
@connected()
def dismiss(
    server: Connection,
    incident: IncidentId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
) -> None:
    """Count no failure of a resolved incident as a firmware bug. Owners and admins only.

    An ambiguous failure is confirmed first, then dismissed: the audit log has both.

    For example:

      hwci incidents dismiss 4f1c9a02 --note "loose cable"
    """
    _review(server, Review(ReviewAction.DISMISS, note, issue), incident, days)


@incidents.command("reset")
@connected()
def reset(
    server: Connection,
    incident: IncidentId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
) -> None:
    """Reset the reviews of an incident: the checks decide again. Owners and admins only.

    For example:

      hwci incidents reset 4f1c9a02
    """
    _review(server, Review(None, note, issue), incident, days)


def _review(server: Connection, review: Review, text: str, days: int) -> None:
    from hwci.client.errors import ConflictError

    org_id, now = server.org_id(), options.now()
    listed: dict[UUID, Incident] = {}

    def of_period(back: int) -> list[UUID]:
        call = client.calls.list_incidents(
            org_id, days=back, as_of=now, limit=limits.PAGE_LIMIT_MAX
        )
        listed.update({incident.id: incident for incident in server.items(call)})
        return [*listed]

    among = f"of the last {days} days, nor an earlier one"
    named = ids.Named("incident", "hwci incidents list", among, "Use")
    lists = [partial(of_period, back) for back in (days, limits.DAYS_MAX)]
    wanted = ids.complete(text, named, *lists)
    for look in lists:  # a whole id was looked for nowhere yet
        if wanted not in listed:
            look()
    if wanted not in listed:
        fix = "hwci incidents list shows them"
        raise command_error(f"{text} names no incident", "none has this id", fix)
    incident, reviewed = listed[wanted], 0
    for failure in incident.failures:
        try:
            send_review(server, org_id, failure.id, review)
        except ConflictError as refused:
            render.note(f"{failure.test_id} on {failure.box_key} stays: {refused.message}")
        else:
            reviewed += 1
    done = MADE[review.action]
    render.write(f"{reviewed} of {counted(incident.failures_total, 'failure')} {done}.")


def _layout(view: tables.View) -> "tables.Layout[Incident]":
    column = tables.Column
    return tables.Layout(
        "incidents",
        "Incidents",
        [
            tables.id_column(lambda row: row.id),
            tables.time_column("Since", lambda row: row.since, view.now),
            *tables.product_columns(view),
            column("Branch", lambda row: row.branch, spare=True),
            column("Merged to", _merged, spare=True),
            column("Label", lambda row: row.label),
            column("Band", lambda row: "" if row.band is None else BANDS.get(row.band, row.band)),
            column("Tests", lambda row: _some(row.tests, row.tests_total)),
            column("Boxes", _boxes),
            column("Commits", lambda row: str(row.commits), right=True, spare=True),
            column("Times", lambda row: str(row.times), right=True, spare=True),
            column("First failed on", _first, spare=True, brief=partial(_first, digits=shortest)),
            tables.broken_by_column(MAY_HAVE_BROKEN, lambda row: row.suspects),
            column("Verdict", lambda row: ", ".join(row.verdicts)),
            column("Tried again", _again, spare=True),
        ],
        "id repoKey suite branch onMergeBranch label since lastFailedAt testsTotal boxesTotal"
        " passesOnTotal failuresTotal commits times firstCommit.sha firstCommit.subject"
        " suspects.from suspects.to fixSha runs reruns retries mergedInto.branch"
        " mergedInto.passing mergedInto.failing mergedInto.notRun onMainBranch onlyBox band"
        " lookFirst suspectsDiffer lastDays history.sha history.chance history.says tests boxes"
        " passesOn verdicts",
        "No failure in this period, or each is a flake. Look further back with --days.",
        _notes,
    )


def _notes(rows: "Sequence[Incident]") -> "Iterator[str]":
    """Say of each that still fails where to look first, or what would tell, and how sure it is of
    a commit; and of others why they suspect other commits than their failures.
    """
    for row in rows:
        if (sentence := row.look_first or row.suspects_differ) is not None:
            runs = f" (only {row.boxes[0]} runs {'it' if row.tests_total == 1 else 'them'})"
            tests = _some(row.tests, row.tests_total)
            since = "" if row.history is None else f". {row.history.says}"
            yield f"{tests}{runs if row.only_box else ''}: {sentence}{since}"


def _some(names: "Sequence[str]", total: int) -> str:
    named = ", ".join(names[:NAMED_MAX])
    return named if total <= NAMED_MAX else f"{named} and {total - NAMED_MAX} more"


def _boxes(row: "Incident") -> str:
    """Write on which boxes it fails, and on which others its tests pass on the same commits."""
    failing = _some(row.boxes, row.boxes_total)
    passing = _some(row.passes_on, row.passes_on_total)
    return f"{failing}, passes on {passing}" if passing else failing


def _first(row: "Incident", digits: "Callable[[str], str]" = short) -> str:
    return f"{digits(row.first_commit.sha)} {row.first_commit.subject}".rstrip()


def _again(row: "Incident") -> str:
    """Write what trying again, in a retry or a rerun, gave: had a test passed, it is a flake."""
    tried = row.reruns + row.retries
    return f"failed again ({tried})" if tried else "not tried again"


def _merged(row: "Incident") -> str:
    """Write where a commit was merged to, and how its tests fare there."""
    there = row.merged_into
    if there is None:
        return row.branch if row.on_merge_branch else ""
    counts = {"pass": there.passing, "fail": there.failing, "not run": there.not_run}
    return (
        f"{there.branch}: {', '.join(f'{count} {what}' for what, count in counts.items() if count)}"
    )
