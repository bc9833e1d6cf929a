# SPDX-License-Identifier: Apache-2.0
"""What CI sent is never overwritten: what something later took the place of is kept as it came."""

import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter

from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Part, Report, SuiteConfig
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import SentKind
from tests.server.storage.examples import ACME, ANNOUNCEMENT, CONFIG, NOON, OTHER, PASS, REPORT

LATER, LATEST = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
AGAIN = replace(REPORT, tests=(PASS,))
RULE = replace(CONFIG, merge_trigger=False)
MERGE = replace(ANNOUNCEMENT, branch="other")


def send_twice(writer: Writer) -> None:
    """Send one of each kind, then another of the same identity."""
    for announcement, report, config, at in (
        (ANNOUNCEMENT, REPORT, CONFIG, NOON),
        (MERGE, AGAIN, RULE, LATER),
    ):
        writer.announce(ACME.id, announcement, at)
        writer.put_report(ACME.id, report, at)
        writer.put_config(ACME.id, config, at)


async def test_what_gave_way_is_counted_by_kind_and_deleted_up_to_a_time(
    storage: Storage,
) -> None:
    await storage.write(send_twice)
    await storage.write(lambda w: w.put_report(ACME.id, REPORT, LATEST))
    await storage.write(lambda w: w.put_report(OTHER.id, REPORT, NOON))
    await storage.write(lambda w: w.put_report(OTHER.id, AGAIN, LATER))
    one_each = dict.fromkeys(SentKind, 1)

    assert await storage.read(lambda r: r.replaced(ACME.id, LATER)) == {}
    assert await storage.read(lambda r: r.replaced(ACME.id, LATEST)) == one_each
    await storage.write(lambda w: w.drop_replaced(ACME.id, LATEST))
    end = LATEST + timedelta(hours=1)
    assert await storage.read(lambda r: r.replaced(ACME.id, end)) == {SentKind.REPORT: 1}
    assert await storage.read(lambda r: r.replaced(OTHER.id, end)) == {SentKind.REPORT: 1}
    facts = await storage.read(lambda r: r.facts(ACME.id))
    assert (facts.announcements, facts.reports) == ((ANNOUNCEMENT,), (REPORT,))
    assert list(facts.configs.values()) == [RULE]


async def test_what_is_sent_again_as_it_was_is_kept_once(storage: Storage) -> None:
    def send(writer: Writer) -> None:
        for at in (NOON, LATER):
            writer.announce(ACME.id, ANNOUNCEMENT, at)
            writer.put_report(ACME.id, REPORT, at)
            writer.put_config(ACME.id, CONFIG, at)

    await storage.write(send)

    assert await storage.read(lambda r: r.replaced(ACME.id, LATEST)) == {}
    assert (await storage.read(lambda r: r.facts(ACME.id))).reports == (REPORT,)


async def test_parts_that_a_first_part_removes_are_kept(storage: Storage) -> None:
    first = replace(REPORT, part_of=Part(7, 1, 2))
    second = replace(REPORT, run_id=71, part_of=Part(7, 2, 2))

    def send(writer: Writer) -> None:
        for report in (first, second, REPORT):
            writer.put_report(ACME.id, report, NOON)

    await storage.write(send)

    assert await storage.read(lambda r: r.replaced(ACME.id, LATER)) == {SentKind.REPORT: 2}


async def test_all_that_was_sent_comes_back_with_the_time_of_its_arrival(tmp_path: Path) -> None:
    path = tmp_path / "hwci.db"
    opened = open_storage(path)
    await opened.write(send_twice)
    await opened.close()
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(
            "SELECT kind, repo_key, suite, arrived_at, replaced_at, body FROM replaced"
            " ORDER BY number"
        ).fetchall()
    forms: dict[str, TypeAdapter[Merge | Report | SuiteConfig]] = {
        SentKind.ANNOUNCEMENT: TypeAdapter(Merge),
        SentKind.REPORT: TypeAdapter(Report),
        SentKind.CONFIGURATION: TypeAdapter(SuiteConfig),
    }

    assert [
        (
            forms[kind].validate_json(zlib.decompress(body), by_name=True, by_alias=False),
            *named,
            when(came),
            when(gone),
        )
        for kind, *named, came, gone, body in rows
    ] == [
        (MERGE, "fw", "", LATER, LATER),
        (REPORT, "fw", "hil", NOON, LATER),
        (CONFIG, "fw", "hil", NOON, LATER),
    ]


def when(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000, UTC)
