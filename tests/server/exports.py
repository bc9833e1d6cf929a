# SPDX-License-Identifier: Apache-2.0
"""Random histories of an organization, their exports, and what is imported of these."""

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.vocabulary import ReviewAction
from hwci.engine.facts import StoredReview
from hwci.engine.history import Scope
from hwci.engine.page.evidence import evidence
from hwci.server.security.passwords import Passwords
from hwci.server.services.operator.commands import BeginImport, KeepSent
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.services.transfer import exporting
from hwci.server.services.transfer.importing import in_pieces, open_source
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Box, Organization, box_note, known_failure
from tests.server.storage.histories import EVER, NOON, ORG, HistoryDraw, periods, scopes
from tests.support.reading import read_period
from tests.support.running import RunningServer, empty_database

ACME = Organization(ORG, "Acme Firmware", ci_metrics_enabled=True, created_at=NOON)
OTHER = Organization(UUID(int=2), "Other", ci_metrics_enabled=True, created_at=NOON)
REVIEWER = Actor(UUID(int=9), "Ada")


def fill(writer: Writer, seed: int, org_id: UUID = ORG) -> None:
    """Send a random history of several products, boxes and parts, with reviews."""
    draw = HistoryDraw(seed)
    for number in range(40):
        at = NOON + timedelta(minutes=number)
        if draw.random.random() < 0.3:
            writer.announce(org_id, draw.announcement(), at)
            writer.put_config(org_id, draw.config(), at)
        writer.put_report(org_id, draw.next_report(), at)
    failures = sorted(writer.history(org_id).failures(Scope(), EVER), key=lambda one: one.id)
    for number, failure in enumerate(failures[::5]):
        action = list(ReviewAction)[number % 2]
        note = (None, "the bus")[number % 2]
        written = StoredReview(failure.key, Review(action, REVIEWER, NOON, note))
        writer.put_review(org_id, failure.id, written)


async def fill_server(server: RunningServer) -> None:
    """Fill an organization with a random history. Its server does not run."""
    storage = server.open_storage()
    await storage.write(lambda writer: fill(writer, 3, server.org_id))
    await storage.close()


def opened(path: Path) -> Storage:
    """Open a database, made here if it is not there: its tables are copied, which is quicker."""
    if not path.exists():
        path.write_bytes(empty_database())
    return open_storage(path)


async def export(storage: Storage, to: Path, organization: Organization = ACME) -> None:
    """Export an organization at noon."""

    def work(reader: Reader) -> int:
        return exporting.export(reader, organization, to, NOON)

    await storage.read(work)


def rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query of an export."""
    with closing(sqlite3.connect(file)) as export:
        return export.execute(query).fetchall()


NOTE = box_note(ORG, "desk", NOON, "new cable", Actor(UUID(int=3), "Ada"))

RULE = known_failure(
    ORG, ("boot*", None, "desk"), "FW-7", NOON + timedelta(days=9), NOON, Actor(UUID(int=3), "Ada")
)


@asynccontextmanager
async def database(path: Path) -> AsyncIterator[tuple[Storage, Operator]]:
    """Open a database, and what an operator does with it."""
    storage, passwords = opened(path), Passwords()
    try:
        yield storage, Operator(storage, lambda: NOON, passwords, Secret(None))
    finally:
        passwords.close()
        await storage.close()


async def made_export(folder: Path, seed: int) -> tuple[Path, Any]:
    """Export a random history; return the file and all that its pages show."""
    to = folder / f"acme-{seed}.db"
    async with database(folder / f"source-{seed}.db") as (storage, _):

        def work(writer: Writer) -> None:
            writer.add_organization(ACME)
            writer.add_box(Box(uuid4(), ORG, "desk", NOON, key_digest=b"secret"))
            writer.add_box_note(ORG, NOTE)
            writer.add_known_failure(ORG, RULE)
            fill(writer, seed)

        await storage.write(work)
        await export(storage, to)
        return to, await storage.read(lambda reader: pages(reader, seed))


def pages(reader: Reader, seed: int) -> list[object]:
    """Return all that people see of an organization."""
    history, facts = reader.history(ORG), reader.facts(ORG)
    readings = [
        read_period(history, scope, period)
        for period in periods(random.Random(seed))
        for scope in scopes()
        if scope.repo_key != "unknown"
    ]
    failures = sorted(history.failures(Scope(), EVER), key=lambda one: one.id)
    shown = [evidence(history, one.id, 200) for one in failures]
    arrived = [at for _, at in reader.reports(ORG)]
    return [facts, readings, shown, reader.configs(ORG, 0, 99), history.products(), arrived]


async def imported(operator: Operator, source: Path, **begin: Any) -> tuple[UUID, int, list[str]]:
    """Import as the command does; return where, how much was new, and what was refused."""
    opened = open_source(source)
    exported: Any = {} if "organization" in begin else {"exported_name": opened.organization}
    command = BeginImport(**begin, **exported, exported_id=opened.org_id)
    org_id = (await operator.carry_out(command)).org_id
    assert org_id is not None
    new, refused = 0, []
    for piece in in_pieces(opened.found()):
        sent = [one.sent for one in piece if one.sent is not None]
        # As a server that runs gets it.
        line = KeepSent(org_id=org_id, sent=sent).model_dump_json(by_alias=True)
        kept = (await operator.carry_out(KeepSent.model_validate_json(line))).kept
        new += sum(kept or ())
        refused += [f"{one.name}: {one.refused}" for one in piece if one.sent is None]
    return org_id, new, refused
