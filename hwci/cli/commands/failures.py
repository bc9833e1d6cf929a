# SPDX-License-Identifier: Apache-2.0
"""`hwci failures`: list failures with their labels, show one with its evidence, review it."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing_of_a_period
from hwci.cli.terminal import evidence, options, render, tables, what_if
from hwci.client.explained import not_empty
from hwci.contract.vocabulary import FailureClass, Label, ReviewAction
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from hwci.cli.session.listing import Listed
    from hwci.client import Call
    from hwci.contract.failures.explanations import Explanation
    from hwci.contract.failures.failures import Failure, FailureEvidence, ResolvedFailure
    from hwci.wire.analysis.explanations import UnsentChanges

failures = typer.Typer(no_args_is_help=True)

NONE_LOST = "No failure that you ask for lies in a run that lost its board."
FailureId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Id of the failure, or the start of it, eight digits or more."
    ),
]

Note = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Why: kept with the review, and shown.")
]
Issue = Annotated[
    str | None, typer.Option(metavar="URL", help="An issue about it: kept and shown likewise.")
]


class Review(NamedTuple):
    """A review to make. `action` None: a reset."""

    action: ReviewAction | None
    note: str | None
    issue: str | None


@failures.command("list")
@listing_of_a_period("failures list", "failure")
def list_failures(
    server: Connection,
    *,
    label: Annotated[
        Label | None, typer.Option(help="Only flakes, resolved or pending failures.")
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="ID", help="Only those of one test, by its whole id.")
    ] = None,
    lost_board: options.LostBoard = False,
    known: Annotated[
        bool | None,
        typer.Option("--known/--not-known", help="Only those that hwci known says, or others."),
    ] = None,
    **period: Any,
) -> "Listed[Failure]":
    """List the failures of a period, each with its label. JSON is the page; with --all, a list.

    For example:

      hwci failures list --label pending

      hwci failures list --product acme/firmware:sensor-fw --all --output csv

      hwci failures list --label flake --test hil.test_uart::test_echo

      hwci failures list --lost-board

      hwci failures list --label pending --not-known
    """
    listed = client.calls.lost_failures if lost_board else client.calls.list_failures
    test_id = not_empty(test, "--test")
    call = listed(server.org_id(), label=label, test_id=test_id, known=known, **period)

    def layout(view: tables.View) -> "tables.Layout[Failure]":
        layout = tables.failures(view, label)
        return replace(layout, empty=NONE_LOST) if lost_board else layout

    return call, layout


@failures.command("show")
@connected(by_key=True)
def show_failure(
    server: Connection,
    failure: FailureId,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
) -> None:
    """Show one failure with its evidence: who is to blame, and why.

    In a clone of its repository, git tells what runs changed that did not send it.

    For example:

      hwci failures show 4f1c9a02
    """
    org_id = server.org_id()
    whole = server.send(client.calls.get_failure(org_id, _resolve(server, org_id, failure, days)))
    if json:
        render.emit_json(whole)
    else:
        explained = _explained(server, whole)
        render.draw(
            *evidence.sections(
                whole,
                options.now(),
                since=_since(server, whole, days),
                lost_board=explained.answer.lost_board if explained.answer else None,
            ),
            *what_if.section(explained),
            links=server.links(whole),
        )
        for step in (
            *evidence.next_steps(whole),
            *what_if.notes(explained, whole.failure),
        ):
            render.note(step)


def _since(server: Connection, evidence: "FailureEvidence", days: int) -> str | None:
    """Return since when the test of a failure that is pending fails, by all its runs, as `hwci
    tests show` has it.
    """
    failure = evidence.failure
    if failure.label is not Label.PENDING:
        return None
    call = client.calls.one_test(
        server.org_id(),
        repo_key=failure.repo_key,
        suite=failure.suite,
        test_id=failure.test_id,
        days=days,
        as_of=options.now(),
    )
    history = server.send(call).history
    return history.says if history is not None and history.branch == failure.branch else None


def _explained(server: Connection, evidence: "FailureEvidence") -> what_if.Explained:
    """Return what would change the class. What runs did not send is read from the clone that this
    is called in.
    """
    from hwci.client.errors import ApiError

    org_id, failure_id = server.org_id(), evidence.failure.id
    answer = server.send(client.calls.explain_failure(org_id, failure_id))
    unsent = _of_git(answer)
    if unsent:
        # It may be more than a body holds: what was answered stays true.
        with suppress(ApiError):
            call = client.calls.explain_failure_with_git(org_id, failure_id, [*unsent.values()])
            return what_if.Explained(server.send(call), list(unsent))
    return what_if.Explained(answer)


def _of_git(answer: "Explanation") -> "dict[tuple[str, str], UnsentChanges]":
    """Return what git has here of the changes that an answer had to assume."""
    from hwci.ci.reporting import between
    from hwci.wire.analysis.explanations import UnsentChanges

    unsent = {}
    for base, sha in what_if.assumed(answer)[: limits.UNSENT_MAX]:
        changes = between(Path.cwd(), base, sha)
        if changes is not None:
            as_asked = changes.model_copy(update={"base_sha": base})
            unsent[base, sha] = UnsentChanges(sha=sha, changes=as_asked)
    return unsent


@failures.command("gaps")
@connected(by_key=True)
def gaps(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    json: options.Json = False,
) -> None:
    """Show what CI leaves out, how many ambiguous failures it would decide, and what to change.

    Each gap is filled by itself, in every way that matters: so many failures would be decided at
    least and at most. The gap that could decide most comes first.

    For example:

      hwci failures gaps --product acme/firmware:sensor-fw --days 90
    """
    repo_key, suite = server.scope_of(product, repo)
    end = options.time_of(as_of, "--as-of")
    gaps = server.send(
        client.calls.list_gaps(
            server.org_id(), days=days, repo_key=repo_key, suite=suite, as_of=end
        )
    )
    if json:
        render.emit_json(gaps)
        return
    for line in what_if.gaps(gaps):
        is_pasted = line.startswith(what_if.PASTED)
        (render.write if is_pasted else render.write_prose)(line)


@failures.command("confirm")
@connected()
def confirm(
    server: Connection,
    failure: FailureId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
) -> None:
    """Count a resolved failure as a real firmware bug. Owners and admins only.

    For example:

      hwci failures confirm 4f1c9a02 --issue https://issues.example.org/7
    """
    review = Review(ReviewAction.CONFIRM, note, issue)
    _show_review(server, review, failure, days, json)


@failures.command("dismiss")
@connected()
def dismiss(
    server: Connection,
    failure: FailureId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
) -> None:
    """Count a resolved failure as no firmware bug. Owners and admins only.

    An ambiguous failure is confirmed first, then dismissed: the audit log has both.

    For example:

      hwci failures dismiss 4f1c9a02 --note "loose cable"
    """
    review = Review(ReviewAction.DISMISS, note, issue)
    _show_review(server, review, failure, days, json)


@failures.command("reset")
@connected()
def reset(
    server: Connection,
    failure: FailureId,
    *,
    note: Note = None,
    issue: Issue = None,
    days: options.Days = limits.DAYS_DEFAULT,
    json: options.Json = False,
) -> None:
    """Reset a review: the checks decide again. Owners and admins only.

    For example:

      hwci failures reset 4f1c9a02
    """
    review = Review(None, note, issue)
    _show_review(server, review, failure, days, json)


def send_review(
    server: Connection, org_id: UUID, failure_id: UUID, review: Review
) -> "ResolvedFailure":
    """Review a failure, and return what it is then."""
    from hwci.engine.rules.reviews import TAKES

    action, *words = review
    takes = action is None or FailureClass.AMBIGUOUS in TAKES[action]
    if not takes and _is_ambiguous(server, org_id, failure_id):
        server.send(client.calls.confirm_failure(org_id, failure_id, *words))
    calls: dict[ReviewAction | None, Callable[..., Call[ResolvedFailure]]] = {
        ReviewAction.CONFIRM: client.calls.confirm_failure,
        ReviewAction.DISMISS: client.calls.dismiss_failure,
        None: client.calls.reset_failure,
    }
    return server.send(calls[action](org_id, failure_id, *words))


def _show_review(server: Connection, review: Review, failure: str, days: int, json: bool) -> None:
    org_id = server.org_id()
    reviewed = send_review(server, org_id, _resolve(server, org_id, failure, days), review)
    if json:
        render.emit_json(reviewed)
    else:
        render.write_prose(evidence.standing(reviewed))


def _is_ambiguous(server: Connection, org_id: UUID, failure_id: UUID) -> bool:
    resolved = server.send(client.calls.get_failure(org_id, failure_id)).resolved
    return resolved is not None and resolved.failure_class is FailureClass.AMBIGUOUS


def _resolve(server: Connection, org_id: UUID, text: str, days: int) -> UUID:
    """Complete an abbreviated id from the failures of the period, else from all, read as of one
    instant.
    """
    now = options.now()

    def listed(back: int) -> "list[UUID]":
        call = partial(
            client.calls.list_failures, org_id, days=back, as_of=now, limit=limits.PAGE_LIMIT_MAX
        )
        return [item.id for item in server.readable(call)]

    among = f"of the last {days} days, nor an earlier one"
    named = ids.Named("failure", "hwci failures list", among, "Use")
    return ids.complete(text, named, partial(listed, days), partial(listed, limits.DAYS_MAX))
