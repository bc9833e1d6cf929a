# SPDX-License-Identifier: Apache-2.0
"""What PostgreSQL promises beyond every driver: many servers, a schema of its own, and faults."""

import asyncio
import logging
import random
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.merges import Merge
from hwci.contract.runs.runs import RunTest
from hwci.contract.vocabulary import ReviewAction
from hwci.engine.facts import Report, StoredReview, SuiteConfig
from hwci.engine.history import Decision, Episode, Scope
from hwci.server.app.operating import migrate
from hwci.server.clock import system_clock
from hwci.server.errors import (
    ClashError,
    NotReadyError,
    OverloadedError,
    SettingsError,
    StorageBusyError,
    StorageError,
    TooLongError,
)
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.storage.location import Location
from hwci.server.storage.opening import check_storage, copy_storage, missing_steps, open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.postgresql import hearing
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.postgresql.store import WARM
from hwci.server.storage.records import NOBODY
from hwci.server.storage.sqlite.connections import new_database
from tests.server.storage.agreeing import compare
from tests.server.storage.examples import ACME, ADA, BOX, LIVE_RUN, NOON, REPORT
from tests.server.storage.happenings import append
from tests.server.storage.hearing import hearing_of_each_other
from tests.server.storage.histories import EVER, ORG, HistoryDraw
from tests.server.storage.waiting import WAITING, leader_of, wait
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.databases import Server, connect, only_where_wanted
from tests.support.reading import noted, read_period
from tests.support.running import report, running
from tests.support.soak import rounds

pytestmark = only_where_wanted

_TYPES = {"BLOB": "bytea", "INTEGER": "bigint", "TEXT": "text"}
_COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
    " WHERE table_schema = 'public' AND table_name <> 'hwci_schema' AND column_name <> 'rowid'"
)

_PIDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"

PAGES = 4
"""That each server shows while reports come."""


def test_both_databases_have_the_same_columns(postgresql: Server) -> None:
    with postgresql.database() as location, closing(connect(location)) as connection:
        found = set(connection.rows(_COLUMNS))
    ours = new_database()
    tables = ours.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    expected = {
        (table, name, _TYPES[kind], "NO" if required or key else "YES")
        for (table,) in tables
        if not table.startswith(("_", "sqlite_"))
        for _, name, kind, required, _, key in ours.execute(f"PRAGMA table_info({table})")
    }
    assert found == expected


async def test_a_database_of_another_program_is_refused(postgresql: Server) -> None:
    with postgresql.database("template1") as location:
        with closing(connect(location)) as connection:
            connection.command("CREATE TABLE theirs (id INT)")
        with pytest.raises(StorageError, match="tables of another program"):
            open_storage(location)
        with closing(connect(location)) as connection:
            assert connection.rows(
                "SELECT relname FROM pg_class WHERE relname IN ('theirs', 'report')"
            ) == [("theirs",)]


async def test_a_newer_schema_is_refused_by_name(postgresql: Server) -> None:
    with postgresql.database() as location:
        with closing(connect(location)) as connection:
            connection.command("INSERT INTO hwci_schema (step) VALUES ('0999_later')")
        with pytest.raises(StorageError, match=r"newer hwci .* 0999_later"):
            open_storage(location)


async def test_servers_that_start_at_once_on_an_empty_database_make_it_once(
    postgresql: Server,
) -> None:
    with postgresql.database("template1") as location:
        assert missing_steps(location.written)
        stores = await asyncio.gather(
            *(asyncio.to_thread(open_storage, location) for _ in range(3))
        )
        assert missing_steps(location.written) == []
        await asyncio.gather(*(store.close() for store in stores))


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("postgresql://ada:hunter2@127.0.0.1:1/hwci", "does not answer"),
        ("postgresql://ada:hunter2@[", "not an address of PostgreSQL"),
        ("mysql://ada:hunter2@db/hwci", "of kind mysql"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_password(
    address: str, cause: str, tmp_path: Path
) -> None:
    with pytest.raises(StorageError, match=cause) as refused:
        open_storage(Location(address, tmp_path / "secret.key"))
    assert "hunter2" not in str(refused.value)


async def test_why_a_connection_is_refused_is_said_to_the_operator_alone(
    postgresql: Server,
) -> None:
    with postgresql.database() as location:
        store = open_storage(location)
    with pytest.raises(StorageError, match=r'does not answer: database "test_\d+" does not exist'):
        open_storage(location)
    with pytest.raises(NotReadyError, match=r"^The database does not answer; this server goes on"):
        await store.ready()
    await store.close()


def test_a_refused_password_is_said_plainly_and_never_shown(postgresql: Server) -> None:
    with postgresql.database() as location, _asked_for_a_password(location) as user:
        given = location.written.replace("//postgres:@", f"//{user}:hunter2@")
        for address, cause in (
            (given, "refused the user and password"),
            (given.replace(":hunter2", ""), "asks for a password, and none was given"),
        ):
            with pytest.raises(StorageError, match=cause) as refused:
                open_storage(replace(location, written=address))
            assert "correct the address" in refused.value.fix
            assert not isinstance(refused.value, StorageBusyError)  # trying again does not help
            assert not re.search("hunter2|try again", str(refused.value))


@contextmanager
def _asked_for_a_password(location: Location) -> Iterator[str]:
    """Make a user whom the server asks for a password."""
    user = f"user_{uuid4().hex}"
    with closing(connect(location)) as connection:
        connection.command(f"CREATE ROLE {user} LOGIN PASSWORD 'another'")
        ((rules,),) = connection.rows("SHOW hba_file")
        before = Path(rules).read_text("utf-8")
        Path(rules).write_text(f"local all {user} scram-sha-256\n{before}", "utf-8")
        connection.command("SELECT pg_reload_conf()")
        yield user
        Path(rules).write_text(before, "utf-8")
        connection.command(f"SELECT pg_reload_conf(); DROP ROLE {user}")


def test_migrate_takes_the_steps_with_the_keys_of_the_settings(postgresql: Server) -> None:
    with postgresql.database("template1") as location:
        keys = location.secret_key_file
        assert migrate(location.written, check=False, secret_key_file=keys)
        assert migrate(location.written, check=True) == []


def test_a_database_server_needs_a_place_for_the_keys(postgresql: Server) -> None:
    with postgresql.database() as location, pytest.raises(SettingsError, match="SECRET_KEY_FILE"):
        open_storage(location.written)


async def test_a_server_hears_of_the_events_of_another_once(postgresql: Server) -> None:
    with postgresql.database() as location:
        async with hearing_of_each_other(location) as stores:
            assert len(stores) == 2


async def test_reports_of_one_identity_at_once_leave_one_whole_one(postgresql: Server) -> None:
    def sent(number: int) -> Report:
        return replace(REPORT, tests=REPORT.tests[: 1 + number % 2], conclusion=f"try {number}")

    with postgresql.database() as location:
        stores = [open_storage(location) for _ in range(3)]
        await stores[0].write(lambda w: w.add_organization(ACME))
        reports = [sent(number) for number in range(24)]
        await asyncio.gather(
            *(
                stores[at % 3].write(
                    methodcaller("put_report", ACME.id, one, NOON),
                    organization=ACME.id,
                )
                for at, one in enumerate(reports)
            )
        )
        kept = (await stores[1].read(lambda r: r.facts(ACME.id))).reports
        assert len(kept) == 1
        assert kept[0] in reports
        await asyncio.gather(*(store.close() for store in stores))


@pytest.mark.parametrize("seed", rounds(range(3), range(100)))
async def test_reports_to_three_servers_together_are_derived_as_if_in_turn(
    postgresql: Server, seed: int
) -> None:
    draw = HistoryDraw(seed)
    sent: list[Callable[[Writer], None]] = []
    for _ in range(45):
        sent.append(partial(_report, draw.next_report()))
        if draw.random.random() < 0.2:
            sent += [partial(_announce, draw.announcement()), partial(_configure, draw.config())]
        if draw.random.random() < 0.4:
            sent.append(partial(_review, draw.random.randrange(1_000)))
    draw.random.shuffle(sent)
    with postgresql.database() as location:
        stores = [open_storage(location) for _ in range(3)]
        await asyncio.gather(
            *(_taken(partial(_write, draw.random.choice(stores), work)) for work in sent),
            *(_taken(partial(_show_page, store)) for store in stores for _ in range(PAGES)),
        )
        assert await stores[0].read(lambda r: r.facts(ORG).reviews)
        await stores[0].write(lambda w: compare(seed, w, w.facts(ORG)), seconds=600)
        found = check_storage(location.written)
        assert (found.damage, found.stale) == ((), ()), f"seed {seed}"
        await asyncio.gather(*(store.close() for store in stores))


def _report(report: Report, writer: Writer) -> None:
    writer.put_report(ORG, report, NOON)


def _announce(announcement: Merge, writer: Writer) -> None:
    writer.announce(ORG, announcement, NOON)


def _configure(config: SuiteConfig, writer: Writer) -> None:
    writer.put_config(ORG, config, NOON)


def _review(choice: int, writer: Writer) -> None:
    """Review one of the failures that are there, or take its review back."""
    failures = sorted(writer.history(ORG).failures(Scope(), EVER), key=lambda one: one.id)
    if not failures:
        return
    failure = failures[choice % len(failures)]
    if choice % 5 == 0:
        writer.drop_reviews(ORG, [failure.id])
    else:
        action = list(ReviewAction)[choice % 2]
        word = StoredReview(failure.key, Review(action, Actor(ORG, "Ada"), NOON))
        writer.put_review(ORG, failure.id, word)


async def _write(store: Storage, work: Callable[[Writer], None]) -> None:
    await store.write(work, organization=ORG)


async def _taken(ask: Callable[[], Awaitable[None]]) -> None:
    """Ask until a busy server takes it, as a bench does."""
    while True:
        with suppress(OverloadedError, StorageBusyError):
            return await ask()


async def _show_page(store: Storage) -> None:
    """Decide as a page does, and keep that beside what comes meanwhile."""

    def decide(reader: Reader) -> tuple[int, Sequence[tuple[Episode, Decision]]]:
        return reader.version(ORG), read_period(reader.history(ORG), Scope(), EVER).decided

    version, decided = await store.read(decide)
    await store.write(lambda w: w.keep_decisions(noted(ORG, version, decided)), organization=ORG)


async def test_one_of_two_who_register_an_e_mail_together_learns_that_it_is_taken(
    postgresql: Server,
) -> None:
    with postgresql.database() as location:
        stores = [open_storage(location) for _ in range(2)]
        for number in range(10):
            both = threading.Barrier(2)
            key = f"ada-{number}@example.org"
            found = await asyncio.gather(
                *(store.write(partial(_register, both, key), person=uuid4()) for store in stores),
                return_exceptions=True,
            )
            assert sorted(map(repr, found)) == [repr(ClashError("email")), "None"]
        await asyncio.gather(*(store.close() for store in stores))


def _register(both: threading.Barrier, key: str, writer: Writer) -> None:
    both.wait(60)
    writer.add_user(replace(ADA, id=uuid4(), email=key, email_key=key))


async def test_one_server_leads_and_another_one_when_that_has_gone(postgresql: Server) -> None:
    with postgresql.database() as location:
        stores = [open_storage(location) for _ in range(3)]
        while stores:
            leader = await leader_of(stores)
            assert [store.leads() for store in stores].count(True) == 1
            stores.remove(leader)
            await leader.close()


async def test_a_server_whose_connections_were_cut_leads_or_follows_again(
    postgresql: Server,
) -> None:
    with postgresql.database() as location:
        stores = [open_storage(location) for _ in range(2)]
        await leader_of(stores)
        cut(location)
        await asyncio.to_thread(wait, lambda: not any(store.leads() for store in stores))
        await leader_of(stores)
        assert [store.leads() for store in stores].count(True) == 1
        await asyncio.gather(*(store.close() for store in stores))


async def test_what_another_program_notifies_is_ignored(postgresql: Server) -> None:
    with postgresql.database() as location:
        first, second = open_storage(location), open_storage(location)
        heard = asyncio.Event()
        with closing(connect(location)) as connection:
            connection.command("NOTIFY hwci_events, 'theirs'")
        first.listen(lambda _: heard.set())
        await second.write(append(1))
        await asyncio.wait_for(heard.wait(), 60)
        await asyncio.gather(first.close(), second.close())


async def test_a_lost_run_that_is_heard_while_lost_ones_are_deleted_stays(
    postgresql: Server,
) -> None:
    heard = threading.Event()

    def put(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.add_box(BOX)
        writer.put_live_run(replace(LIVE_RUN, lost=True))
        writer.put_live_tests(ACME.id, LIVE_RUN.id, [RunTest("boot", None, None)])

    with postgresql.database() as location, closing(connect(location)) as connection:

        def hear(writer: Writer) -> None:
            writer.hear_run(ACME.id, LIVE_RUN.id, NOON + timedelta(days=8))
            assert writer.live_run(ACME.id, LIVE_RUN.id)  # with which the update is sent
            heard.set()
            wait(lambda: connection.row(WAITING) == (1,))

        store = open_storage(location)
        await store.write(put)
        heard_of = asyncio.ensure_future(store.write(hear, organization=ACME.id))
        await asyncio.to_thread(heard.wait)
        await store.write(lambda w: w.drop_lost_runs(NOON, 9), person=NOBODY)
        await heard_of
        assert await store.read(lambda r: r.live_tests(ACME.id, LIVE_RUN.id).total) == 1
        kept = await store.read(lambda r: r.live_run(ACME.id, LIVE_RUN.id))
        assert kept is not None
        assert not kept.lost
        await store.close()


async def test_a_few_connections_are_warmed_up_by_the_page_of_an_organization(
    postgresql: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "hwci.server")
    with postgresql.database() as location, closing(connect(location)) as looking:
        store = open_storage(location)
        await store.write(lambda w: w.add_organization(ACME))
        await store.write(partial(_report, REPORT), organization=ORG)
        before = looking.rows(_PIDS)
        await Metrics(store, system_clock).warm_up()

        assert len(looking.rows(_PIDS)) == len(before) + WARM
        assert caplog.records == []
        await store.close()


async def test_warming_up_ends_where_the_database_is_slow_or_away(postgresql: Server) -> None:
    with postgresql.database() as location:
        store = open_storage(location)

        def endless(reader: Reader) -> None:
            while True:
                reader.history(ORG).check_time()

        await asyncio.wait_for(store.warm_up(endless), 60)
        cut(location)
    await store.warm_up(lambda reader: reader.organization(ACME.id))  # it is not there any more
    await store.close()


async def test_a_store_that_ends_does_not_wait_for_the_next_look_at_the_database(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "_LOOK_SECONDS", 3_600.0)
    with postgresql.database() as location:
        store = open_storage(location)
        await asyncio.to_thread(wait, store.leads)  # it has looked

        await asyncio.wait_for(store.close(), 60)


async def test_a_store_goes_on_by_itself_after_its_connections_were_cut(
    postgresql: Server,
) -> None:
    with postgresql.database() as location:
        store = open_storage(location)
        heard = asyncio.Event()
        store.listen(lambda _: heard.set())
        await store.write(lambda w: w.add_organization(ACME))
        await store.read(lambda r: r.organization(ACME.id), short=True)
        cut(location)
        assert await store.read(lambda r: r.organization(ACME.id), short=True) == ACME
        await store.write(append(1))
        await asyncio.wait_for(heard.wait(), 60)
        await store.close()


async def test_a_connection_that_dies_in_a_write_keeps_nothing_of_it_and_may_be_tried_again(
    postgresql: Server,
) -> None:
    with postgresql.database() as location:
        store = open_storage(location)

        def die(writer: Writer) -> None:
            writer.add_organization(ACME)
            cut(location)
            writer.any_user()

        with pytest.raises(StorageBusyError, match="does not answer"):
            await store.write(die)
        assert await store.read(lambda r: r.organization(ACME.id)) is None
        await store.write(lambda w: w.add_organization(ACME))
        await store.close()


class Cutting:
    """Ends a connection of a store at one of the statements that it is about to send. Threads of
    the store send at once: one of them is cut, by a connection of its own.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, location: Location) -> None:
        self._location, self._turn = location, threading.Lock()
        self._left = 0
        self._plain_command = Connection.command
        for name in ("command", "execute", "execute_many"):
            monkeypatch.setattr(Connection, name, self._counted(getattr(Connection, name)))

    @contextmanager
    def at(self, statement: int) -> Iterator[None]:
        self._left = statement
        yield
        self._left = 0

    @property
    def is_done(self) -> bool:
        return self._left <= 0

    def _counted(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def sent(connection: Connection, *given: Any) -> Any:
            if self._counts():
                pid = connection.raw.info.backend_pid
                with closing(connect(self._location)) as beside:
                    self._plain_command(beside, f"SELECT pg_terminate_backend({pid}, 60000)")
            return plain(connection, *given)

        return sent

    def _counts(self) -> bool:
        if threading.current_thread().name.startswith("hwci-hearing"):
            return False
        with self._turn:
            if self._left <= 0:
                return False
            self._left -= 1
            return self._left == 0


async def test_a_connection_that_dies_at_any_statement_leaves_a_report_whole_or_nothing_of_it(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = HistoryDraw(5)
    refused = 0
    with postgresql.database() as location:
        store = open_storage(location)
        cutting = Cutting(monkeypatch, location)
        kept = await _reports(store)
        for statement in rounds(chain(range(1, 8), range(8, 400, 37)), range(1, 400)):
            sent = draw.next_report()
            with cutting.at(statement):
                taken = await _put(store, sent)
                reached = cutting.is_done
            if not taken:
                refused += 1
                assert await _reports(store) == kept, f"statement {statement}"
                assert await _put(store, sent)
            kept = await _reports(store)
            assert sent in kept
            with cutting.at(statement), suppress(StorageBusyError):
                assert await _reports(store) == kept
            if not reached:
                break
        await store.write(lambda w: compare(5, w, w.facts(ORG)), seconds=600)
        await store.close()
    assert refused > 1


async def _put(store: Storage, report: Report) -> bool:
    """Return whether a report was taken."""
    try:
        await store.write(partial(_report, report), organization=ORG)
    except StorageBusyError:
        return False
    return True


async def _reports(store: Storage) -> Sequence[Report]:
    return (await store.read(lambda r: r.facts(ORG))).reports


async def test_a_connection_that_dies_at_any_statement_of_a_request_is_a_503_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []
    kept = 0
    async with running(tmp_path) as server:
        cutting = Cutting(monkeypatch, server.location)
        runs = f"/api/orgs/{server.org_id}/runs"

        def get() -> Reply:
            return ask(server.url, "GET", runs, bearer(server.member_token))

        def post() -> Reply:
            key, body = ci_key(server.ci_key), report(run_id=kept)
            return ask(server.url, "POST", "/api/ci/run-report", key, json_body=body)

        for statement in rounds(chain(range(1, 6), range(6, 400, 29)), range(1, 400)):
            reached = False
            for request, status in ((post, 204), (get, 200)):
                with cutting.at(statement):
                    reply = await asyncio.to_thread(request)
                    reached |= cutting.is_done
                if reply.status != status:
                    assert (reply.status, "retry-after" in reply.headers) == (503, True)
                    refused.append(status)
                    assert (await asyncio.to_thread(get)).json["total"] == kept
                    assert (await asyncio.to_thread(request)).status == status
                kept += request is post
            if not reached:
                break
    assert {*refused} == {200, 204}


async def test_a_server_that_stands_still_in_a_write_holds_up_the_others_for_a_time_only(
    postgresql: Server,
) -> None:
    holds, goes_on = asyncio.Event(), threading.Event()
    with postgresql.database() as location:
        still, other = open_storage(location), open_storage(location)
        loop = asyncio.get_running_loop()

        def stand_still(writer: Writer) -> None:
            writer.add_organization(ACME)
            loop.call_soon_threadsafe(holds.set)
            goes_on.wait()
            writer.any_user()

        standing = asyncio.create_task(still.write(stand_still, seconds=1))
        await holds.wait()
        await other.write(lambda w: w.add_organization(ACME), seconds=60)
        goes_on.set()
        with pytest.raises(OverloadedError):
            await standing
        assert await still.read(lambda r: r.organization(ACME.id)) == ACME
        await asyncio.gather(still.close(), other.close())


def test_the_database_looks_whether_the_machine_of_a_server_is_still_there(
    postgresql: Server,
) -> None:
    with postgresql.database() as location, closing(connect(location)) as connection:
        assert connection.rows(
            "SELECT name, source FROM pg_settings WHERE name LIKE 'tcp_keepalives_%' ORDER BY name"
        ) == [(f"tcp_keepalives_{what}", "session") for what in ("count", "idle", "interval")]


async def test_names_that_no_index_row_holds_are_refused_for_good(postgresql: Server) -> None:
    name = random.Random(1).randbytes(4000).hex()  # too varied to be compressed
    with postgresql.database() as location:
        store = open_storage(location)
        await store.write(lambda w: w.add_organization(ACME))
        report = replace(REPORT, tests=(replace(REPORT.tests[0], id=name),))
        with pytest.raises(TooLongError, match="shorten them"):
            await store.write(lambda w: w.put_report(ACME.id, report, NOON), organization=ACME.id)
        await store.close()


async def test_a_copy_names_the_row_whose_names_no_index_row_holds(
    postgresql: Server, tmp_path: Path
) -> None:
    name = random.Random(1).randbytes(4000).hex()
    tests = (REPORT.tests[0], replace(REPORT.tests[0], id=name))
    file = Location(str(tmp_path / "hwci.db"))
    store = open_storage(file)
    await store.write(lambda w: w.add_organization(ACME))
    await store.write(lambda w: w.put_report(ACME.id, replace(REPORT, tests=tests), NOON))
    await store.close()
    with postgresql.database("template1") as location:
        with pytest.raises(StorageError, match=rf"table test has .*'{name[:60]}…'"):
            copy_storage(file, location, lambda *_: None)
        with pytest.raises(StorageError, match="not whole yet"):
            open_storage(location)


def cut(location: Location) -> None:
    """End every connection to a database but the one that does so."""
    with closing(connect(location)) as connection:
        connection.command(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_the_audit_log_refuses_changes(postgresql: Server) -> None:
    import psycopg

    with postgresql.database() as location, closing(connect(location)) as connection:
        for statement in ("DELETE FROM audit_entry", "TRUNCATE audit_entry"):
            with pytest.raises(psycopg.errors.RaiseException, match=re.escape("only ever")):
                connection.command(statement)
