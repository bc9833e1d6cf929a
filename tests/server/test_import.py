# SPDX-License-Identifier: Apache-2.0
"""An import adds what is missing, replaces nothing, and then every page is that of the source
(ADR 0022).
"""

import gzip
import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError

from hwci.contract.vocabulary import Outcome, Role, RunEventType
from hwci.engine.facts import Part, Report, TestItem, run_record_id
from hwci.server.errors import NotFoundError, StorageError
from hwci.server.services.operator.commands import BeginImport, KeepSent
from hwci.server.services.transfer import exporting, importing, layout
from hwci.server.services.transfer.exporting import digested
from hwci.server.services.transfer.importing import keep, open_source
from hwci.server.services.transfer.sent import KeptReview, Sent, body_of
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import LiveRun, User
from hwci.server.storage.run_records import head_of
from hwci.wire import limits
from hwci.wire.json_values import VALUES_MAX
from hwci.wire.reports import RunReport
from tests.server.exports import (
    ACME,
    NOTE,
    OTHER,
    RULE,
    database,
    export,
    fill,
    imported,
    made_export,
    pages,
    rows,
)
from tests.server.storage.histories import NOON, ORG, HistoryDraw
from tests.support.soak import rounds

ADA = User(UUID(int=3), "ada@example.org", "ada@example.org", "Ada", None, NOON)


@pytest.mark.parametrize("seed", range(rounds(4, 80)))
async def test_pages_after_an_import_are_those_of_the_source(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PIECE_ENTRIES", 7)
    source, shown = await made_export(tmp_path, seed)
    entries = open_source(source).entries

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_user(ADA))
        done = await imported(operator, source, owner="ada@example.org")
        assert done == (ORG, entries, [])
        assert await storage.read(lambda reader: pages(reader, seed)) == shown
        assert (await storage.check()).stale == ()
        version = await storage.read(lambda reader: reader.version(ORG))

        assert await imported(operator, source) == (ORG, 0, [])  # by its id
        assert await storage.read(lambda reader: reader.version(ORG)) == version
        [box] = (await storage.read(lambda reader: reader.boxes(ORG, 0, 9))).items
        assert (box[0].name, box[0].key_digest) == ("desk", None)
        assert (await storage.read(lambda reader: reader.box_notes(ORG, None, 0, 9))).items == [
            NOTE
        ]
        assert await storage.read(lambda reader: reader.history(ORG).known_failures()) == [RULE]
        member = await storage.read(lambda reader: reader.membership(ORG, ADA.id))
        assert member is not None
        assert (member.role, member.organization.ci_metrics_enabled) == (Role.OWNER, True)


def sent_in(file: Path) -> list[tuple[str, object]]:
    """Return the bodies of an export, without fields that have no value: a version that knows more
    fields writes null for them.
    """
    content = rows(file, "SELECT kind, content FROM sent ORDER BY number")
    return [(kind, without_nulls(json.loads(gzip.decompress(body)))) for kind, body in content]


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    return [*map(without_nulls, value)] if isinstance(value, list) else value


async def test_an_export_of_the_version_before_is_imported_and_exported_as_it_was(
    tmp_path: Path,
) -> None:
    """`before/acme.db.gz` is what the hwci before 1.0 exported, which knew no known failures."""
    before, after = tmp_path / "before.db", tmp_path / "after.db"
    before.write_bytes(gzip.decompress((Path(__file__).parent / "before/acme.db.gz").read_bytes()))

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_user(ADA))
        done = await imported(operator, before, owner="ada@example.org")
        assert done == (ORG, open_source(before).entries, [])
        await export(storage, after)

    assert sent_in(after) == sent_in(before)
    for table in layout.TABLES.keys() - {"export", "events", "sent", "known_failures"}:
        names = [name for _, name, *_ in rows(before, f"PRAGMA table_info({table})")]
        columns = ", ".join(name for name in names if name != "reason_text")
        was, now = (
            rows(file, f"SELECT {columns} FROM {table} ORDER BY {columns}")
            for file in (before, after)
        )
        assert now == was != [], table


async def test_an_import_that_was_stopped_is_done_again(tmp_path: Path) -> None:
    source, shown = await made_export(tmp_path, 6)
    entries = open_source(source).entries

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(ACME))
        first = [one.sent for one in open_source(source).found() if one.sent][: entries // 2]
        await operator.carry_out(KeepSent(org_id=ORG, sent=first))
        assert await imported(operator, source) == (ORG, entries - len(first), [])
        assert await storage.read(lambda reader: pages(reader, 6)) == shown


@pytest.fixture
def cut_in_two() -> tuple[Report, tuple[Report, Report]]:
    """Return a report that was sent whole, and in two parts."""
    whole = replace(HistoryDraw(1).next_report(), run_id=100, part_of=None)
    first, second = (
        replace(whole, run_id=run_id, part_of=Part(100, number, 2))
        for run_id, number in ((100, 1), (4321, 2))
    )
    return whole, (first, second)


def sent_at(report: Report, at: datetime | None) -> Sent:
    return Sent(report=RunReport.model_validate_json(body(report)), arrived_at=at)


@pytest.mark.parametrize("arrived_at", [NOON, None])
async def test_an_old_export_brings_no_part_back_that_was_removed(
    tmp_path: Path, cut_in_two: tuple[Report, tuple[Report, Report]], arrived_at: datetime | None
) -> None:
    whole, parts = cut_in_two
    sent = [sent_at(one, arrived_at) for one in parts]

    async with database(tmp_path / "new.db") as (storage, _):

        def work(writer: Writer) -> list[bool]:
            writer.add_organization(ACME)
            new = [keep(writer, ORG, one, NOON) for one in sent]
            writer.put_report(ORG, whole, NOON + timedelta(days=1))
            return new + [keep(writer, ORG, one, NOON) for one in sent]

        assert await storage.write(work) == [True, True, False, False]
        assert (await storage.read(lambda reader: reader.facts(ORG))).reports == (whole,)


async def test_a_part_that_came_after_a_whole_report_is_imported_with_it(
    tmp_path: Path, cut_in_two: tuple[Report, tuple[Report, Report]]
) -> None:
    whole, (_, second) = cut_in_two
    sent = [sent_at(whole, NOON), sent_at(second, NOON + timedelta(days=1))]

    async with database(tmp_path / "new.db") as (storage, _):

        def work(writer: Writer) -> list[bool]:
            writer.add_organization(ACME)
            return [keep(writer, ORG, one, NOON) for one in sent]

        assert await storage.write(work) == [True, True]


async def test_what_an_organization_has_stays_as_it_is(tmp_path: Path) -> None:
    source, _ = await made_export(tmp_path, 7)

    async with database(tmp_path / "new.db") as (storage, operator):

        def own(writer: Writer) -> None:
            writer.add_organization(OTHER)
            fill(writer, 8, OTHER.id)

        await storage.write(own)
        before = await storage.read(lambda reader: reader.facts(OTHER.id))
        org_id, new, _ = await imported(operator, source, organization="Other")
        after = await storage.read(lambda reader: reader.facts(OTHER.id))

    assert (org_id, new > 0) == (OTHER.id, True)
    assert after.reports[: len(before.reports)] == before.reports
    assert len(after.reports) > len(before.reports)
    assert after.announcements[: len(before.announcements)] == before.announcements
    assert after.configs.items() >= before.configs.items()
    assert after.reviews.items() >= before.reviews.items()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20_000])


def altered(file: Path) -> None:
    with closing(sqlite3.connect(file)) as export, export:
        [content] = export.execute("SELECT content FROM sent WHERE number = 3").fetchone()
        body = gzip.decompress(content).replace(b'"run_attempt":', b'"run_attempt":1')
        export.execute("UPDATE sent SET content = ? WHERE number = 3", (gzip.compress(body),))


def fewer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as export, export:
        export.execute("DELETE FROM sent WHERE number = (SELECT max(number) FROM sent)")


def unfinished(file: Path) -> None:
    with closing(sqlite3.connect(file)) as export, export:
        export.execute("DELETE FROM export")


def scribbled(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:8192] = b"\xa5" * 4096
    file.write_bytes(data)


async def test_a_row_that_names_a_field_twice_is_refused_by_its_number(tmp_path: Path) -> None:
    source, _ = await made_export(tmp_path, 1)
    digest = hashlib.sha256()
    with closing(sqlite3.connect(source)) as export, export:
        for number, kind, content in rows(source, "SELECT number, kind, content FROM sent"):
            line = gzip.decompress(content)
            if number == 3:
                line = line[:-1] + b',"sha":"abc"}'
                export.execute(
                    "UPDATE sent SET content = ? WHERE number = 3", [gzip.compress(line)]
                )
            digest.update(digested(kind, line))
        export.execute("UPDATE export SET digest = ?", [digest.hexdigest()])

    [refused] = [one for one in open_source(source).found() if one.sent is None]

    assert refused.name == "report 3"
    assert refused.refused.startswith('Detected duplicate key "sha"')


def newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as export:
        export.execute("PRAGMA user_version = 2")


def another(file: Path) -> None:
    with closing(sqlite3.connect(file)) as export:
        export.execute("PRAGMA application_id = 7")


def text(file: Path) -> None:
    file.write_text("hello")


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        *((one, "damaged, or was cut short") for one in (cut, altered, fewer, unfinished)),
        (scribbled, "damaged, or was cut short"),
        (newer, r"newer hwci \(form 2, this program knows 1\); import it with that hwci"),
        (another, "is not an export of hwci"),
        (text, "is not an export of hwci"),
        (Path.unlink, "There is no file or folder"),
    ],
)
async def test_what_is_no_sound_export_is_refused_in_one_line(
    tmp_path: Path, spoil: Any, what: str
) -> None:
    source, _ = await made_export(tmp_path, 1)
    spoil(source)

    with pytest.raises(StorageError, match=what) as refusal:
        open_source(source)

    assert "\n" not in str(refusal.value)


async def test_a_database_is_not_taken_for_an_export(tmp_path: Path) -> None:
    await made_export(tmp_path, 1)

    with pytest.raises(StorageError, match=r"not an export of hwci; .*restore"):
        open_source(tmp_path / "source-1.db")


async def test_an_organization_that_is_not_there_needs_an_owner(tmp_path: Path) -> None:
    source, _ = await made_export(tmp_path, 1)

    async with database(tmp_path / "new.db") as (storage, operator):
        with pytest.raises(NotFoundError, match="to make it, name its owner: --owner"):
            await imported(operator, source)
        with pytest.raises(NotFoundError, match="no user with the e-mail ada"):
            await imported(operator, source, owner="ada@example.org")
        await storage.write(lambda writer: writer.add_user(ADA))
        await storage.write(lambda writer: writer.add_organization(replace(OTHER, id=ORG)))
        copy = {"organization": "A copy", "owner": "ada@example.org"}
        org_id, new, _ = await imported(operator, source, **copy)
        assert (org_id != ORG, new > 0) == (True, True)  # the id was another's


async def test_a_name_in_an_export_never_leads_to_the_organization_of_another(
    tmp_path: Path,
) -> None:
    source, _ = await made_export(tmp_path, 1)

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_user(ADA))
        await storage.write(lambda writer: writer.add_organization(replace(ACME, id=OTHER.id)))
        for owner in (None, "ada@example.org"):
            with pytest.raises(NotFoundError, match=f"give its id: --organization {OTHER.id}$"):
                await imported(operator, source, owner=owner)
        for named in ({"organization": "Acme Firmware"}, {"org_id": OTHER.id}):
            begin = BeginImport(**named, owner="ada@example.org", exported_id=ORG)
            with pytest.raises(NotFoundError, match=r"ada@example\.org is not an owner of 'Acme"):
                await operator.carry_out(begin)
        assert (await storage.read(lambda reader: reader.facts(OTHER.id))).reports == ()
        assert await storage.read(lambda reader: reader.organization(ORG)) is None


async def test_a_name_in_an_export_that_looks_like_an_id_is_a_name(tmp_path: Path) -> None:
    begin = BeginImport(exported_id=ORG, exported_name=str(OTHER.id))

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(OTHER))
        with pytest.raises(NotFoundError, match=f"There is no organization {ORG} .*--owner"):
            await operator.carry_out(begin)


async def test_only_the_end_of_a_live_run_is_an_event(tmp_path: Path) -> None:
    source, _ = await made_export(tmp_path, 2)

    async with database(tmp_path / "new.db") as (storage, operator):

        def live(writer: Writer) -> None:
            writer.add_organization(ACME)
            first = next(one for one in known.reports if one.is_first_part)
            of = (first.repo_key, first.ci_run_id, first.run_attempt, first.box_key)
            run = LiveRun(run_record_id(ORG, *of), ORG, uuid4(), head_of(first), (), None, NOON)
            writer.put_live_run(run)

        async with database(tmp_path / "source-2.db") as (sent, _):
            known = await sent.read(lambda reader: reader.facts(ORG))
        await storage.write(live)
        await imported(operator, source)
        events = await storage.read(lambda reader: reader.events(ORG, 0, 99))
        assert {one.happening.type for one in events} == {RunEventType.REPORTED}
        assert len({one.happening.run_id for one in events}) == 1


def body(report: Report) -> bytes:
    return body_of(report)[1]


async def test_a_folder_of_bodies_is_imported_and_each_refused_file_is_named(
    tmp_path: Path,
) -> None:
    kept, draw = tmp_path / "kept", HistoryDraw(1)
    kept.mkdir()
    reports = [replace(draw.next_report(), run_id=number, part_of=None) for number in (1, 2)]
    (kept / "1.json").write_bytes(body(reports[0]))
    (kept / "2.json.gz").write_bytes(gzip.compress(body(reports[1])))
    (kept / "3-again.json").write_bytes(body(reports[0]))
    (kept / "cut.json.gz").write_bytes(gzip.compress(body(reports[1]))[:-20])
    (kept / "empty.json").write_bytes(b"")
    (kept / "less.json").write_bytes(body(reports[0]).replace(b'"sha"', b'"shb"', 1))
    (kept / "other.json").write_bytes(b"[1]")
    (kept / "read me.txt").write_bytes(b"not a body")

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(ACME))
        _, new, refused = await imported(operator, kept, organization="Acme Firmware")
        facts = await storage.read(lambda reader: reader.facts(ORG))

    assert (new, facts.reports) == (2, tuple(reports))
    assert [line.split(":")[0] for line in refused] == [
        "cut.json.gz", "empty.json", "less.json", "other.json",
    ]  # fmt: skip
    assert refused[2] == "less.json: sha: Field required"
    assert refused[3].endswith("is not a run report, announcement or suite configuration")


async def test_a_report_of_a_version_without_bounds_is_imported_with_the_largest_numbers(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    test = TestItem("boot", Outcome.FAIL, 2**63 - 1, 1e308)
    (kept / "1.json").write_bytes(body(replace(HistoryDraw(1).next_report(), tests=(test,))))

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(ACME))
        await imported(operator, kept, organization="Acme Firmware")
        [report] = (await storage.read(lambda reader: reader.facts(ORG))).reports

    assert report.tests == (replace(test, attempts=1_000_000, duration_s=366 * 86_400),)


async def test_a_report_of_a_version_without_reruns_is_imported_beside_one_that_is_a_rerun(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    earlier = replace(HistoryDraw(1).next_report(), run_id=1, part_of=None, rerun_of=None)
    rerun = replace(earlier, run_id=2, rerun_of=1)
    written = json.loads(body(earlier))
    written.pop("rerun_of", None)
    (kept / "1.json").write_text(json.dumps(written))
    (kept / "2.json").write_bytes(body(rerun))

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(ACME))
        assert await imported(operator, kept, organization="Acme Firmware") == (ORG, 2, [])
        again = tmp_path / "again.db"
        await storage.read(lambda reader: exporting.export(reader, ACME, again, NOON))
        facts = await storage.read(lambda reader: reader.facts(ORG))

    assert facts.reports == (earlier, rerun)
    assert rows(again, "SELECT rerun_of FROM reports ORDER BY run_id") == [(None,), (1,)]


def test_a_folder_without_bodies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"has no file \*\.json or \*\.json\.gz"):
        open_source(tmp_path)


async def test_files_that_the_api_would_refuse_as_bombs_are_refused(tmp_path: Path) -> None:
    kept, report = tmp_path / "kept", body(HistoryDraw(1).next_report())
    kept.mkdir()
    many = b'{"tests": [' + b"0," * VALUES_MAX + b"0]}"
    (kept / "large.json.gz").write_bytes(gzip.compress(b" " * (limits.RUN_REPORT_BYTES + 1), 1))
    (kept / "long.json").write_bytes(b'{"merged_at": 1' + b" " * limits.BODY_BYTES + b"}")
    (kept / "many.json.gz").write_bytes(gzip.compress(many, 1))
    (kept / "twice.json").write_bytes(report[:-1] + b',"sha":"abc"}')

    found = list(open_source(kept).found())

    assert [one.sent for one in found] == [None] * 4
    large, long, several, twice = (one.refused for one in found)
    assert large.startswith("is larger than a report may be")
    assert long == "is larger than 65,536 bytes"
    assert several == "holds more than 1,000,000 values and names"
    assert "uplicate key" in twice


@pytest.mark.parametrize(
    "wrong",
    [{"note": "n" * 10_000}, {"note": ""}, {"issue": "javascript:alert(1)"}, {"by_name": "a\0"}],
)
def test_a_review_in_an_export_keeps_the_rules_of_the_api(wrong: dict[str, str]) -> None:
    fields = {"repo_key": "a", "suite": "b", "test_id": "c", "box_key": "d", "branch": "e"}
    fields |= {"sha": "a" * 40, "action": "confirm", "by_id": str(ORG), "by_name": "Ada"}
    fields |= {"at": "2026-03-01T12:00:00Z", "note": "n", "issue": "https://example.org/1"}

    KeptReview.model_validate_json(json.dumps(fields))
    with pytest.raises(ValidationError):
        KeptReview.model_validate_json(json.dumps(fields | wrong))
