# SPDX-License-Identifier: Apache-2.0
"""What services ask of storage, by need. A driver implements all of it or none.

A request is one transaction: a service hands `Storage.read` or `Storage.write` a function, the
driver runs it on a consistent snapshot, and commits when it returns (or rolls back when it raises)
before the caller goes on. So a 204 that follows a `write` is a promise about the disk, and a
decision that reads before it writes (a review, a unique name) cannot be overtaken.

The functions run outside the event loop and are plain. Every method names its organization, and
every query carries it, for every table. The exceptions identify the caller, before an organization
is known: a user by id, e-mail or identity, that user's memberships, a sign-in by id or
by its user, a refresh token by its digest or by its user, an invitation by its digest, id or
e-mail, a key or an install token by its digest; and who may be asked about a job's token, whether
anybody trusts its issuer. And the service's own housekeeping covers all organizations: lost runs,
old data to delete, the list of organizations, webhooks and what is due to them, and the chain of
the audit log.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import UUID

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.boxes.boxes import BoxNote
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.merges import Merge
from hwci.contract.runs.runs import Run, RunDetail, RunTest, TestCounts
from hwci.engine.facts import Facts, Report, StoredReview, SuiteConfig
from hwci.engine.history import ANYWHERE, EVERYTHING, Episode, Listing, Scope, Where
from hwci.engine.periods import Period
from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.storage.account_ports import (
    Accounts,
    AccountsWriter,
    Sessions,
    SessionsWriter,
)
from hwci.server.storage.audit_chain import AuditRow
from hwci.server.storage.records import (
    AuditEntry,
    Box,
    Checked,
    Decided,
    Event,
    Happening,
    Kept,
    Key,
    LiveRun,
    Organization,
    RunFilter,
    SentKind,
)
from hwci.server.storage.trust_ports import Trusts, TrustsWriter
from hwci.server.storage.webhook_ports import Webhooks, WebhooksWriter

AKey = TypeVar("AKey", bound=Key)
Result = TypeVar("Result")


class Keys(Protocol):
    """Keys of CI and of readers, for reading. `kind`: which of the two."""

    def key_by_digest(self, kind: type[AKey], digest: bytes) -> tuple[AKey, Organization] | None:
        """Return a key, revoked or not, by the digest of its value, and its organization."""

    def keys(self, kind: type[AKey], org_id: UUID, offset: int, limit: int) -> Listing[AKey]:
        """List an organization's keys, newest first."""


class KeysWriter(Keys, Protocol):
    """Keys of CI and of readers, for writing."""

    def add_key(self, key: Key) -> None:
        """Keep a new key."""

    def revoke_key(self, kind: type[AKey], org_id: UUID, key_id: UUID, at: datetime) -> AKey | None:
        """Revoke a key (an earlier revocation time stays) and return it; None if unknown."""

    def touch_key(self, key: Key, at: datetime) -> None:
        """Record the use of a key."""


class Boxes(Protocol):
    """Boxes, for reading."""

    def boxes(
        self,
        org_id: UUID,
        offset: int,
        limit: int,
        scope: Scope = EVERYTHING,
        where: Where = ANYWHERE,
    ) -> Listing[tuple[Box, datetime | None]]:
        """List an organization's boxes, newest first, each with the latest start among the reports
        that name it: all, or those with a report of this scope, branch and commit.
        """

    def reported_boxes(
        self,
        org_id: UUID,
        offset: int,
        limit: int,
        scope: Scope = EVERYTHING,
        where: Where = ANYWHERE,
    ) -> Listing[tuple[str, datetime]]:
        """List the names of these reports that no box has, each with its latest start, latest
        first.
        """

    def boxes_seen(self, org_id: UUID) -> Mapping[str, datetime]:
        """Return when each box that was installed sent its last sign of life, by name."""

    def box(self, org_id: UUID, box_id: UUID) -> Box | None:
        """Return a box by id."""

    def box_by_key(self, digest: bytes) -> tuple[Box, Organization] | None:
        """Return the box whose key has this digest, and its organization."""

    def box_by_install(self, digest: bytes) -> Box | None:
        """Return the box whose unused install token has this digest, expired or not."""

    def box_notes(
        self, org_id: UUID, box_key: str | None, offset: int, limit: int
    ) -> Listing[BoxNote]:
        """List the notes of a box or of all, latest first."""

    def box_notes_of(self, org_id: UUID, period: Period) -> Sequence[BoxNote]:
        """Return the notes of all boxes within a period, latest last."""


class BoxesWriter(Boxes, Protocol):
    """Boxes, for writing."""

    def add_box(self, box: Box) -> None:
        """Keep a new box. Raises `ClashError("name")`: the organization has one of this name."""

    def rename_box(self, org_id: UUID, box_id: UUID, name: str) -> None:
        """Set the name of a box; what was reported keeps its own. Raises as `add_box`."""

    def remove_box(self, org_id: UUID, box_id: UUID) -> None:
        """Delete a box with its key and its install token. Its live runs stay."""

    def set_install(self, org_id: UUID, box_id: UUID, digest: bytes, expires_at: datetime) -> bool:
        """Set the install token of a box, in place of an earlier one; False if there is no such
        box. The box's key still works.
        """

    def install_box(
        self, org_id: UUID, box_id: UUID, install_digest: bytes, key_digest: bytes, at: datetime
    ) -> bool:
        """Use the install token up and set the box's key in place of an earlier one, if the token
        is the box's and has not expired; at most one caller gets True.
        """

    def end_box_key(self, org_id: UUID, box_id: UUID) -> Box | None:
        """End the key and the install token of a box. Return the box as it was; None if there is
        no such box.
        """

    def touch_box(self, org_id: UUID, box_id: UUID, at: datetime) -> None:
        """Record that a box sent something; its live runs that are not lost stay alive with it."""

    def add_box_note(self, org_id: UUID, note: BoxNote) -> None:
        """Keep a new note. Raises `ClashError("text")`: there is the same one."""

    def rename_noter(self, org_id: UUID, by: Actor) -> int:
        """Keep the name of who wrote with the notes of this id; return how many there are."""

    def remove_box_note(self, org_id: UUID, note_id: UUID) -> BoxNote | None:
        """Delete a note and return it; None if there is none."""


class Runs(Protocol):
    """Run records and their events, for reading. `seen_since`: a live run whose box sent
    nothing since then is lost.
    """

    def runs(
        self, org_id: UUID, wanted: RunFilter, seen_since: datetime, offset: int, limit: int
    ) -> Listing[Run]:
        """List run records, latest start first. One in parts is listed once its first part is
        there.
        """

    def run_record(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> Run | None:
        """Return one run record as the list shows it."""

    def run(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> RunDetail | None:
        """Return a run record with all that was reported of it."""

    def live_run(self, org_id: UUID, run_record_id: UUID) -> LiveRun | None:
        """Return a run that a box opened and that is not reported yet."""

    def live_tests(self, org_id: UUID, run_record_id: UUID) -> TestCounts:
        """Count the tests that a box has sent of a live run."""

    def lost_runs(self, seen_since: datetime) -> Sequence[LiveRun]:
        """Return the lost live runs of all organizations whose loss has no event yet."""

    def events(
        self, org_id: UUID, after: int, limit: int, run_record_id: UUID | None = None
    ) -> Sequence[Event]:
        """Return the events after a number, in order, of all runs or one."""

    def event_extent(self, org_id: UUID) -> tuple[int, int]:
        """Return the numbers of the oldest kept event and the newest; (1, 0) if there is none."""


class RunsWriter(Runs, Protocol):
    """Run records and their events, for writing."""

    def put_live_run(self, run: LiveRun) -> None:
        """Keep a live run; one with the same id keeps its tests."""

    def put_live_tests(self, org_id: UUID, run_record_id: UUID, tests: Sequence[RunTest]) -> None:
        """Keep the present state of tests of a live run, in place of the earlier one."""

    def hear_run(self, org_id: UUID, run_record_id: UUID, at: datetime) -> None:
        """Record that a box sent something of a live run; a lost one is live again."""

    def mark_lost(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> bool:
        """Record that the loss of a live run has its event; return False if it is not lost, or had
        its event.
        """

    def drop_live_run(self, org_id: UUID, run_record_id: UUID) -> None:
        """Delete a live run: its report has arrived. Nothing happens if there is none."""

    def drop_lost_runs(self, before: datetime, most: int) -> int:
        """Delete live runs of all organizations, with their tests, whose loss has its event and
        that were silent since then, up to a number; return how many.
        """

    def add_event(self, org_id: UUID, happening: Happening) -> None:
        """Append an event; listeners of the organization are notified after the commit."""

    def drop_events(self, before: datetime, most: int) -> int:
        """Delete events of all organizations that are older, up to a number; return how many. The
        newest of each organization stays.
        """


class Records(Protocol):
    """What CI sent, for reading."""

    def history(self, org_id: UUID) -> RecordedRuns:
        """Answer the questions of the engine and of the analysis narrowly, from indexes."""

    def share(self, part: float) -> AbstractContextManager[None]:
        """Give the block this share of the time that is left: in it, questions raise
        `OutOfTimeError` when that is over, and the transaction goes on after it.
        """

    def version(self, org_id: UUID) -> int:
        """Return the version of the history: it grows with every committed write that may change an
        answer, so two snapshots with one version answer the same.
        """

    def state(self, org_id: UUID) -> bytes | None:
        """Return the name of the state of the history, which each such write draws again. So two
        snapshots with one name answer the same, also in a restored or copied database, whose
        versions repeat. None: no such write has drawn one yet.
        """

    def states(self) -> Mapping[UUID, bytes]:
        """Return the names of the states of all histories that have one, by organization."""

    def undecided(self, org_id: UUID, most: int) -> Sequence[Episode]:
        """Return so many of the resolved episodes, the newest first, about which nobody has decided
        since something came that may change it.
        """

    def facts(self, org_id: UUID) -> Facts:
        """Load everything: the ground truth that derived rows are checked against."""

    def repositories(self, org_id: UUID) -> Iterator[tuple[str, str | None]]:
        """Yield what reports, configurations, live runs and announcements name: repository and
        suite, the latter None where a merge names none; some more than once, what most name first.
        """

    def box_names(self, org_id: UUID) -> Iterator[str]:
        """Yield the names of created boxes, and of those that reports and live runs name; some more
        than once.
        """

    def configs(
        self, org_id: UUID, offset: int, limit: int, scope: Scope = EVERYTHING
    ) -> Listing[tuple[SuiteConfig, datetime]]:
        """List configurations as sent with the time of arrival, newest first."""

    def reports(self, org_id: UUID) -> Iterator[tuple[Report, datetime]]:
        """Yield every report, whole, with the time of its arrival, in that order. One is in memory
        at a time.
        """

    def announcements(self, org_id: UUID) -> Iterator[tuple[Merge, datetime]]:
        """Yield the announcements that count, in the same way."""

    def holds(self, org_id: UUID, sent: Report | Merge, arrived_at: datetime | None) -> bool:
        """Return whether something of its identity is kept, or what removed it: a whole report or
        first part of fewer parts that is known to have come later (semantics, 1.5 and 1.9).
        """

    def replaced(self, org_id: UUID, before: datetime) -> Mapping[SentKind, int]:
        """Count what was kept apart by then, as something later took its place: reports and
        configurations that were replaced, and announcements that came after the first.
        """


class RecordsWriter(Records, Protocol):
    """What CI sent, for writing (semantics, 1.5)."""

    def announce(self, org_id: UUID, announcement: Merge, at: datetime) -> None:
        """Insert once: a second announcement with the same identity changes nothing."""

    def put_report(self, org_id: UUID, report: Report, at: datetime) -> None:
        """Keep a report; one with the same identity is replaced whole. A first part, or a report
        that is not in parts, removes stored parts beyond its own number of parts.
        """

    def rebuild(self, org_id: UUID) -> None:
        """Recompute everything derived from the kept reports."""

    def put_config(self, org_id: UUID, config: SuiteConfig, at: datetime) -> None:
        """Keep a configuration; the product's earlier one is replaced."""

    def keep_decisions(self, decided: Decided) -> bool:
        """Keep what was decided about episodes of a history, so that it need not be decided again;
        nothing, and return False, if the history has changed since.
        """

    def drop_replaced(self, org_id: UUID, before: datetime) -> None:
        """Delete what `replaced` counts."""

    def drop_aged(self, org_id: UUID, kind: Kept, before: datetime, most: int) -> int:
        """Delete what began and arrived before a time, up to a number of each: reports, with
        reviews of failures that no other report has, and merges; or the messages, or the log
        addresses, of reports that stay. With any of them goes what something took the place of.
        Return how many there were.
        """

    def put_review(self, org_id: UUID, failure_id: UUID, review: StoredReview) -> None:
        """Keep a review at a failure; `review.number` is ignored: it gets the next number."""

    def rename_reviewer(self, org_id: UUID, by: Actor) -> int:
        """Keep the name of who reviewed with the reviews of this id, which stay in their order;
        return how many there are.
        """

    def drop_reviews(self, org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        """Delete the reviews kept at these failures."""

    def add_known_failure(self, org_id: UUID, rule: KnownFailure) -> None:
        """Keep a rule by which failures are known. Raises `ClashError("rule")`: there is the same
        one. The rules are read as `known_failures` of a history.
        """

    def rename_rule_maker(self, org_id: UUID, by: Actor) -> None:
        """Keep the name of who made them with the rules of this id."""

    def remove_known_failure(self, org_id: UUID, rule_id: UUID) -> KnownFailure | None:
        """Delete a rule and return it; None if there is none."""


class Audit(Protocol):
    """The audit log, for reading."""

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Listing[AuditEntry]:
        """List entries, newest first."""

    def last_actors(self, org_id: UUID, actions: Collection[str]) -> Mapping[UUID, UUID]:
        """Return who did one of these actions last, by what it was done to."""

    def people(self, ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
        """Return name and e-mail of the users and invitations that there are of these."""

    def audit_page(self, after: int, limit: int) -> Sequence[AuditRow]:
        """Return the rows of the whole log after a number, in order."""


class AuditWriter(Audit, Protocol):
    """The audit log, for writing."""

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        """Append an entry."""


class Reader(Accounts, Sessions, Keys, Trusts, Boxes, Runs, Records, Audit, Webhooks, Protocol):
    """All reads of one snapshot."""


class Writer(
    Reader,
    AccountsWriter,
    SessionsWriter,
    KeysWriter,
    TrustsWriter,
    BoxesWriter,
    RunsWriter,
    RecordsWriter,
    AuditWriter,
    WebhooksWriter,
    Protocol,
):
    """All reads and writes of one transaction."""


class Storage(Protocol):
    """A driver."""

    async def read(
        self,
        work: Callable[[Reader], Result],
        *,
        short: bool = False,
        organization: UUID | None = None,
        person: UUID | None = None,
        question: str | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        """Run `work` on one consistent snapshot. It is stopped at its next question when
        the caller stops waiting or `seconds`, waiting and work, are over (`deadline.py`). Work that
        takes long is begun again (`reading.py`): it must change nothing.

        `short`: `work` looks up a few rows by key (who is calling, does the store answer). It has
        threads of its own, so that authentication never waits for a page to be computed.
        `organization`: one short and one long read of each is done at a time, the others wait.
        `person`: who asks, a user or a key; theirs are done one after the other. `question`: what
        is asked, with the organization: where that took long before, it is soon begun again.

        Raises:
            OverloadedError: too many wait already, or its time is over.
        """

    def take_decided(self) -> Sequence[Decided]:
        """Return what reads decided since the last call, also those that ran out of time. Who takes
        it keeps it (`keep_decisions`).
        """

    async def look_up(self, work: Callable[[Reader], Result]) -> Result:
        """Run `work`, which asks one question: who is calling. It is a short read, which a driver
        may do without a transaction. Raises as `read`.
        """
        return await self.read(work, short=True)

    async def warm_up(self, work: Callable[[Reader], object]) -> None:
        """Run `work` where the first requests would wait for what is done only once, before there
        are any. Whatever the database answers, it is tried once and for a moment only.
        """

    async def write(
        self,
        work: Callable[[Writer], Result],
        *,
        organization: UUID | None = None,
        person: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
        begin_by: Deadline | None = None,
    ) -> Result:
        """Run `work` in one transaction, committed to disk before this returns. It does not begin
        when it has waited for as long as a read may; once begun it is kept whole, or, when it takes
        more than `seconds`, not at all.

        `organization`, else `person`: whose rows `work` decides about. One write of each is done at
        a time, on whichever server. `NOBODY` is for rows that are decided about one by one, such as
        old ones. A write that names neither may have all others wait for it. `begin_by`: until when
        a write that has waited before may wait. Raises as `read`.
        """

    def listen(self, listener: Callable[[UUID], None]) -> Callable[[], None]:
        """Call `listener`, in the event loop, with an organization's id after each commit that
        appended events of it, whichever server made it. Return the function that stops it.
        """

    def leads(self) -> bool:
        """Return whether this server does the housekeeping of the database: of all that share it,
        one does, and another one when that has gone.
        """

    async def backup(self, to: Path) -> None:
        """Write a whole copy of the database, as of one moment, to a new file, while others read
        and write. Raises `StorageError` if it cannot; it leaves no partial copy.
        """

    async def look_over(self) -> None:
        """Begin to look for damage if the store was not closed properly. Nothing is read or
        written meanwhile, nor after damage was seen: `NotReadyError`.
        """

    async def check(self) -> Checked:
        """Look for damage in all that is kept, and compare what is derived with a recomputation,
        while others read and write. Nothing is changed.
        """

    async def ready(self) -> None:
        """Return if the store can serve. Raises `StorageError` with the reason if not."""

    async def close(self) -> None:
        """Finish what was begun and release files and threads."""
