# SPDX-License-Identifier: Apache-2.0
"""A database with a row in every table, of two organizations."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from hwci.contract.runs.runs import RunTest
from hwci.contract.vocabulary import Outcome, Role, RunEventType
from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Counting, Happening, Kept
from tests.server.exports import fill
from tests.server.storage.examples import (
    ACME,
    ADA,
    BOX,
    BOX_NOTE,
    DELIVERY,
    ENTRY,
    IDENTITY,
    INVITE,
    JOB_KEY,
    KEY,
    KNOWN,
    LIVE_RUN,
    NOON,
    ONGOING,
    OTHER,
    READER_KEY,
    REPORT,
    SESSION,
    TOKEN,
    TRUST,
    WEBHOOK,
)

SEED = 3


@asynccontextmanager
async def opened(where: Location) -> AsyncIterator[Storage]:
    storage = open_storage(where)
    try:
        yield storage
    finally:
        await storage.close()


def add_accounts(writer: Writer) -> None:
    """Keep something of each kind, but for what reports and jobs send."""
    for one in (ACME, OTHER):
        writer.add_organization(one)
    writer.add_usage(ACME.id, 7, 5)
    writer.set_counting(ACME.id, Kept.REPORTS, Counting(400, NOON))
    writer.add_user(ADA)
    writer.add_membership(ACME.id, ADA.id, Role.OWNER, NOON)
    writer.add_membership(OTHER.id, ADA.id, Role.MEMBER, NOON)
    writer.add_session(SESSION)
    writer.add_refresh_token(TOKEN)
    writer.add_identity(IDENTITY)
    writer.add_invite(INVITE)
    writer.add_key(KEY)
    writer.add_key(READER_KEY)
    writer.put_trust(TRUST)
    writer.add_job_key(JOB_KEY)
    for number in range(3):
        writer.add_audit(ACME.id, replace(ENTRY, target=f"größer {number}"))


def add_live_run(writer: Writer) -> None:
    """Keep a run that is under way, and a report that took the place of another."""
    writer.put_report(ACME.id, REPORT, NOON)
    writer.put_report(ACME.id, replace(REPORT, conclusion="another"), NOON)  # one was replaced
    writer.add_box(BOX)
    writer.add_box_note(ACME.id, BOX_NOTE)
    writer.add_known_failure(ACME.id, KNOWN)
    writer.put_webhook(WEBHOOK)
    writer.add_delivery(DELIVERY)
    writer.put_ongoing(ONGOING)
    writer.put_live_run(LIVE_RUN)
    live = RunTest("boot", Outcome.PASS, 1)
    writer.put_live_tests(ACME.id, LIVE_RUN.id, [live])
    writer.add_event(ACME.id, Happening(NOON, RunEventType.LOST, LIVE_RUN.id, {"why": "silence"}))


async def filled(where: Location) -> Location:
    async with opened(where) as storage:
        for work in (
            add_accounts,
            partial(fill, seed=SEED),
            partial(fill, seed=SEED + 1, org_id=OTHER.id),
            add_live_run,
        ):
            await storage.write(work)  # each has as long as a request
    return where
