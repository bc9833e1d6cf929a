# SPDX-License-Identifier: Apache-2.0
"""The rules by which failures are known, as members make them, and what they say of failures that
answers show (contract, "Known failures"). Which failure a rule matches is decided in
`hwci.analysis.failures.known_failures`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.analysis.failures.known_failures import Failed, KnownFailures, known_by, known_rules
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures.failures import Failure
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.runs import RunDetail, RunItem
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Outcome
from hwci.engine.history import Failure as StoredFailure
from hwci.engine.history import Listing
from hwci.engine.page.failures import LabelledFailure, failure_row
from hwci.engine.page.tables import labelled_failures
from hwci.server.errors import ConflictError, NotFoundError, UnfitError
from hwci.server.services import Service
from hwci.server.services.access import MEMBERS, Member, role_now
from hwci.server.services.audit import entry_of, name_of
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import known_failure
from hwci.wire import known_failures as wire
from hwci.wire import limits
from hwci.wire.queries import FailuresQuery, PageQuery

_TOO_MANY = (
    f"An organization may have {limits.KNOWN_FAILURES_MAX} rules for known failures; remove one"
    " that is over"
)
_NOT_IN_TIME = (
    f"Should be after now, by {limits.KNOWN_FOR_MAX.days} days at most: a failure that stays is"
    " looked at again"
)


class KnownRules(Service):
    """Rules for known failures, for every member."""

    async def listed(self, member: Member, query: PageQuery) -> ListPage[KnownFailure]:
        """List the rules, the first made first."""

        def work(reader: Reader) -> ListPage[KnownFailure]:
            return query.paged(reader.history(member.org_id).known_failures())

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    async def add(self, member: Member, body: wire.NewKnownFailure) -> KnownFailure:
        """Keep a rule.

        Raises:
            UnfitError: `until` is over, or too far.
            ClashError: there is the same rule.
            ConflictError: there are too many.
        """
        now, by = self._clock(), member.user
        if not now < body.until <= now + limits.KNOWN_FOR_MAX:
            raise UnfitError("until", _NOT_IN_TIME)
        which = (body.test_id, body.message, body.box_key)
        actor = Actor(by.id, name_of(by))
        rule = known_failure(member.org_id, which, body.ticket, body.until, now, actor)

        def work(writer: Writer) -> None:
            role_now(writer, member, MEMBERS)
            rules = writer.history(member.org_id).known_failures()
            if len(rules) >= limits.KNOWN_FAILURES_MAX:
                raise ConflictError(_TOO_MANY)
            writer.add_known_failure(member.org_id, rule)
            _record(writer, member, now, "added", rule)

        await self._storage.write(work, organization=member.org_id)
        return rule

    async def remove(self, member: Member, rule_id: UUID | None) -> None:
        """Delete a rule. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            role_now(writer, member, MEMBERS)
            rule = None if rule_id is None else writer.remove_known_failure(member.org_id, rule_id)
            if rule is None:
                raise NotFoundError("Rule not found")
            _record(writer, member, now, "removed", rule)

        await self._storage.write(work, organization=member.org_id)


def _record(writer: Writer, member: Member, now: datetime, deed: str, rule: KnownFailure) -> None:
    which = {"testId": rule.test_id, "message": rule.message, "boxKey": rule.box_key}
    details = {name: value for name, value in which.items() if value is not None}
    until = rule.until.isoformat()
    action = f"known_failure.{deed}"
    entry = entry_of(member.user, now, action, rule.id, name=rule.ticket, until=until, **details)
    writer.add_audit(member.org_id, entry)


def with_known(history: RecordedRuns, rows: Sequence[Failure]) -> Sequence[Failure]:
    """Return rows of a list of failures with the rule by which each is known."""
    rules = known_rules(
        history,
        {row.id: Failed(row.test_id, row.box_key, row.first_started_at) for row in rows},
    )
    return [replace(row, known=known_by(rules[row.id])) if row.id in rules else row for row in rows]


def page_with_known(
    history: RecordedRuns, query: FailuresQuery, rows: Listing[LabelledFailure]
) -> ListPage[Failure]:
    """Return the page of a list of failures, each with the rule by which it is known."""
    shown = with_known(history, [*map(failure_row, rows.items)])
    return query.page_of(Listing(shown, rows.total))


def known_or_not(
    history: RecordedRuns, query: FailuresQuery, rows: Sequence[LabelledFailure]
) -> ListPage[Failure]:
    """Return the same of those of all failures that a query asks for."""
    if query.known is not None:
        rules = known_rules(history, {row.failure.id: _failed(row.failure) for row in rows})
        rows = [row for row in rows if (row.failure.id in rules) is query.known]
    return page_with_known(history, query, labelled_failures(rows, query.selection))


def _failed(failure: StoredFailure) -> Failed:
    lane = failure.key.lane
    return Failed(lane.test_id, lane.box_key, failure.first.started_at)


def run_with_known(history: RecordedRuns, run: RunDetail) -> RunDetail:
    """Return a run with the rule by which the failure of each of its tests is known, by what the
    harness wrote of it in this run.
    """
    rules = history.known_failures() if run.tests.failed else ()
    if not rules:
        return run
    known_failures = KnownFailures(rules)
    items = tuple(_item(known_failures, run, item) for item in run.items)
    return replace(run, items=items, known_failures=_count(items))


def _item(known_failures: KnownFailures, run: RunDetail, item: RunItem) -> RunItem:
    if item.outcome is not Outcome.FAIL:
        return item
    rule = known_failures.match(Failed(item.id, run.box_key, run.started_at), item.message)
    return item if rule is None else replace(item, known=known_by(rule))


def _count(items: Iterable[RunItem]) -> int:
    return sum(item.known is not None for item in items)
