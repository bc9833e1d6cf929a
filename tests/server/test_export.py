# SPDX-License-Identifier: Apache-2.0
"""An export holds all that was sent and what the rules say of it, and no secret (ADR 0022)."""

import asyncio
import gzip
import json
import resource
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from hwci.contract.failures.failures import Review
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Role, RunEventType
from hwci.engine.facts import Report, SuiteConfig, TestItem
from hwci.engine.history import RunCounts, Scope
from hwci.engine.page.failures import LabelledFailure
from hwci.engine.page.reading import read_failures
from hwci.server.errors import DamagedError, NotFoundError, StorageError
from hwci.server.security.passwords import Passwords
from hwci.server.services.operator.commands import Export
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.services.transfer import layout
from hwci.server.services.transfer.sent import BODIES
from hwci.server.storage.location import part_of
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Box, CiKey, Happening, Organization, User, box_note
from tests.server.exports import ACME, OTHER, RULE, export, fill, opened, rows
from tests.server.storage.histories import EVER, NOON, ORG, HistoryDraw
from tests.support.reading import read_period
from tests.support.soak import rounds

FLAKY = [field.name for field in fields(FlakyTest)]


def exported(
    path: Path, to: Path, *fills: Callable[[Writer], object], organization: Organization = ACME
) -> Any:
    """Export an organization of a new database, after it was filled; return what `facts` has."""

    async def run() -> object:
        storage = opened(path)
        try:
            await storage.write(lambda writer: writer.add_organization(ACME))
            for one in fills:
                await storage.write(one)
            await export(storage, to, organization)
            return await storage.read(lambda reader: reader.facts(ORG))
        finally:
            await storage.close()

    return asyncio.run(run())


@pytest.mark.parametrize("seed", range(rounds(3, 80)))
def test_nothing_that_was_sent_is_missing_or_changed(tmp_path: Path, seed: int) -> None:
    to = tmp_path / "acme.db"
    facts = exported(tmp_path / "hwci.db", to, lambda writer: fill(writer, seed))

    found: dict[str, list[Any]] = {kind: [] for kind in BODIES}
    for kind, content in rows(to, "SELECT kind, content FROM sent ORDER BY number"):
        body = BODIES[kind].model_validate_json(gzip.decompress(content))
        found[kind].append(body.fact() if hasattr(body, "fact") else body)

    assert found["report"] == list(facts.reports)
    assert found["announcement"] == list(facts.announcements)
    configs = sorted(facts.configs.values(), key=lambda one: (one.repo_key, one.suite))
    assert sorted(found["suite_config"], key=lambda one: (one.repo_key, one.suite)) == configs
    reviews = sorted(facts.reviews.values(), key=lambda one: one.number)
    assert found["review"] == [replace(one, number=0) for one in reviews]


def test_each_report_is_rows_with_its_tests_and_its_commits(tmp_path: Path) -> None:
    to = tmp_path / "acme.db"
    facts = exported(tmp_path / "hwci.db", to, lambda writer: fill(writer, 1))

    of_tests = "report, test_id, outcome, attempts, duration_s, verdict, message, board, log_url"
    assert rows(to, f"SELECT {of_tests} FROM tests ORDER BY report, position") == [
        (number, *(getattr(test, field.name) for field in fields(test)))
        for number, report in enumerate(facts.reports, 1)
        for test in report.tests
    ]
    found = rows(
        to,
        "SELECT report, commits.sha, subject, files FROM reports JOIN commits USING (changes)"
        " ORDER BY report, position",
    )
    assert [(*row, json.loads(files)) for *row, files in found] == [
        (number, commit.sha, commit.subject, list(commit.files))
        for number, report in enumerate(facts.reports, 1)
        for commit in (report.changes.commits if report.changes else ())
    ]


@pytest.mark.parametrize(
    ("fact", "table", "elsewhere"),
    [
        (Report, "reports", {"part_of"}),
        (TestItem, "tests", {"id"}),
        (ChangeList, "changes", {"commits"}),
        (Commit, "commits", set()),
        (Merge, "announcements", set()),
        (SuiteConfig, "suite_configs", set()),
        (Review, "reviews", {"by"}),
    ],
)
def test_a_table_has_a_column_for_each_field(fact: Any, table: str, elsewhere: set[str]) -> None:
    named = {field.name for field in fields(fact)}

    assert named - set(layout.TABLES[table].split()) == elsewhere


@pytest.mark.parametrize("seed", range(rounds(3, 80)))
def test_the_views_have_the_rows_of_the_page_over_all_time(tmp_path: Path, seed: int) -> None:
    to, seen = tmp_path / "acme.db", []
    failures: list[LabelledFailure] = []
    counts: list[RunCounts] = []

    def read(writer: Writer) -> None:
        history = writer.history(ORG)
        seen.append(read_period(history, Scope(), EVER))
        counts.append(history.run_counts(Scope(), EVER))
        failures.extend(read_failures(history, Scope(), EVER))

    exported(tmp_path / "hwci.db", to, lambda writer: fill(writer, seed), read)
    [page] = seen

    assert rows(to, "SELECT * FROM flakiest_tests") == [
        tuple(getattr(one, name) for name in FLAKY) for one in page.flakiest_tests
    ]
    for view, shown in (("real_fw_bugs", page.real_bugs), ("other_failures", page.other_failures)):
        of = sorted((str(one.episode.id), one.failure_class.value) for one in shown)
        assert sorted(rows(to, f"SELECT failure_id, class FROM {view}")) == of
    assert rows(to, "SELECT repo_key, suite, sha FROM unchecked_merges") == [
        (one.repo_key, one.suite, one.sha) for one in page.unchecked_merges
    ]
    labels = "SELECT failure_id, label, group_id FROM failures WHERE failure_id IN"
    assert sorted(rows(to, f"{labels} (SELECT failure_id FROM tests)")) == sorted(
        (str(one.failure.id), one.label.value, one.group_id and str(one.group_id))
        for one in failures
    )
    [infra] = counts
    assert rows(to, "SELECT sum(infra), sum(reports) FROM runs_per_day") == [infra]


def test_an_export_has_no_secret_and_nothing_of_another_organization(tmp_path: Path) -> None:
    to, digests = tmp_path / "acme.db", [bytes([number]) * 32 for number in range(65, 70)]
    user = User(uuid4(), "ada@example.org", "ada@example.org", "Ada", "$argon2$hash", NOON)

    def secrets(writer: Writer) -> None:
        writer.add_organization(OTHER)
        writer.add_user(user)
        writer.add_membership(ORG, user.id, Role.OWNER, NOON)
        writer.add_key(CiKey(uuid4(), ORG, "the key", digests[0], NOON))
        writer.add_box(Box(uuid4(), ORG, "desk", NOON, digests[1], NOON, digests[2], NOON))
        note = box_note(ORG, "desk", NOON, "new cable", Actor(uuid4(), "Ada"))
        writer.add_box_note(ORG, note)
        writer.add_known_failure(ORG, RULE)
        writer.set_reset(user.id, digests[3], NOON)
        happening = Happening(NOON, RunEventType.LOST, UUID(int=5), {"why": "silence"})
        writer.add_event(ORG, happening)
        fill(writer, 3)
        writer.put_report(OTHER.id, replace(HistoryDraw(4).next_report(), repo_key="secret"), NOON)

    exported(tmp_path / "hwci.db", to, secrets)

    written = to.read_bytes()
    for one in ("ada@example.org", "argon2", "the key", "secret", "Other"):
        assert one.encode() not in written
    for digest in digests:
        assert digest not in written
        assert digest.hex().encode() not in written
    assert to.stat().st_mode & 0o777 == 0o600
    assert rows(to, "SELECT box_key, last_seen_at FROM boxes") == [
        ("desk", "2026-03-01T12:00:00.000000Z")
    ]
    assert rows(to, "SELECT box_key, text, by_name FROM box_notes") == [
        ("desk", "new cable", "Ada")
    ]
    assert rows(to, "SELECT test_id, box_key, ticket, until, by_name FROM known_failures") == [
        ("boot*", "desk", "FW-7", "2026-03-10T12:00:00.000000Z", "Ada")
    ]
    assert rows(to, "SELECT type, body FROM events") == [("run.lost", '{"why": "silence"}')]
    [(form, org_id, name, at, bodies)] = rows(
        to, "SELECT form, org_id, organization, exported_at, bodies FROM export"
    )
    assert (form, org_id, name) == (layout.FORM, str(ORG), "Acme Firmware")
    assert (at, [(bodies,)]) == (
        "2026-03-01T12:00:00.000000Z",
        rows(to, "SELECT count(*) FROM sent"),
    )


def test_each_view_works_as_duckdb_writes_it(tmp_path: Path) -> None:
    duckdb = pytest.importorskip(
        "duckdb", reason="duckdb is not installed: the extra `bench` has it"
    )
    to = tmp_path / "acme.db"
    exported(tmp_path / "hwci.db", to, lambda writer: fill(writer, 5))

    for name, query in layout.VIEWS.items():
        parsed = "SELECT json_deserialize_sql(json_serialize_sql(?::VARCHAR))"
        [written] = duckdb.execute(parsed, [query]).fetchone()
        assert rows(to, written) == rows(to, f"SELECT * FROM {name}")


def test_what_stops_an_export_leaves_no_file(tmp_path: Path) -> None:
    path, to = tmp_path / "hwci.db", tmp_path / "acme.db"

    def damaged(writer: Any) -> None:
        fill(writer, 5)
        writer._connection.execute("UPDATE report SET branch = 'another'")

    with pytest.raises(DamagedError, match="is not what was sent"):
        exported(path, to, damaged)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("acme")] == []

    part_of(to).write_bytes(b"left by a crash")
    with_room = tmp_path / "second.db"
    exported(with_room, to, lambda writer: fill(writer, 5))
    assert not part_of(to).exists()
    before = to.read_bytes()
    with pytest.raises(StorageError, match=r"acme.db exists already; name a new file"):
        exported(tmp_path / "third.db", to)
    assert to.read_bytes() == before


def test_a_full_disk_is_one_line_about_the_export_and_not_about_the_database(
    tmp_path: Path,
) -> None:
    to = tmp_path / "acme.db"

    async def run() -> None:
        storage = opened(tmp_path / "hwci.db")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            await storage.write(lambda writer: fill(writer, 5))
            resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, hard))
            with pytest.raises(StorageError, match=rf"Cannot write {to}: .*; name a file in a"):
                await export(storage, to)
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            await storage.ready()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            await storage.close()

    asyncio.run(run())
    assert list(tmp_path.glob("acme*")) == []


async def test_the_operator_names_an_organization_and_the_log_has_the_export(
    tmp_path: Path,
) -> None:
    storage, passwords = open_storage(tmp_path / "hwci.db"), Passwords()
    operator = Operator(storage, lambda: NOON, passwords, Secret(None))
    try:
        await storage.write(lambda writer: writer.add_organization(ACME))
        to = tmp_path / "acme.db"
        done = await operator.carry_out(Export(organization="Acme Firmware", to=to))
        assert (done.org_id, done.reports) == (ORG, 0)
        with pytest.raises(NotFoundError, match="did you mean Acme Firmware"):
            await operator.carry_out(Export(organization="Acme firmwear", to=to))
        log = await storage.read(lambda reader: reader.audit_log(ORG, 0, 5))
        assert [entry.action for entry in log.items] == ["records.exported"]
    finally:
        passwords.close()
        await storage.close()


async def test_there_is_no_export_without_its_entry_in_the_log(tmp_path: Path) -> None:
    storage, passwords = opened(tmp_path / "hwci.db"), Passwords()
    operator, to = Operator(storage, lambda: NOON, passwords, Secret(None)), tmp_path / "acme.db"

    def full(writer: Any) -> None:
        writer.add_organization(ACME)
        writer._connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON audit_entry"
            " BEGIN SELECT RAISE(ABORT, 'full'); END"
        )

    try:
        await storage.write(full)
        with pytest.raises(StorageError):
            await operator.carry_out(Export(organization="Acme Firmware", to=to))
        assert not await asyncio.to_thread(to.exists)
    finally:
        passwords.close()
        await storage.close()
