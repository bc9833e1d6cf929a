# SPDX-License-Identifier: Apache-2.0
"""A server whose PostgreSQL is behind a real PgBouncer, in each of its modes."""

import asyncio
import logging
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from hwci.server.app import ListOrganizations, copy, serving
from hwci.server.errors import StorageBusyError, StorageError, StorageLockedError
from hwci.server.storage.location import Location
from hwci.server.storage.opening import (
    check_storage,
    copy_storage,
    missing_steps,
    open_storage,
)
from hwci.server.storage.ports import Storage
from hwci.server.storage.postgresql import hearing, sessions, whole
from hwci.server.storage.postgresql.sessions import require_session
from tests.server.storage.examples import ACME
from tests.server.storage.hearing import hearing_of_each_other
from tests.server.storage.waiting import leader_of, wait
from tests.support.asking import ask, ci_key
from tests.support.databases import Server, connect, new_location, only_where_wanted
from tests.support.distance import distant
from tests.support.held_port import held_port
from tests.support.pooler import at_port, pooler, version, with_pgbouncer
from tests.support.running import (
    EMAIL,
    create_key,
    new_organization,
    operate_on,
    report,
    settings_of,
    sign_in,
)

pytestmark = [only_where_wanted, with_pgbouncer]

SENDERS, REPORTS = 8, 25
"""So many send so many, each: enough to prepare each statement, and to be lent each connection."""
FEW = "default_pool_size = 3"
TRANSACTION = [
    FEW,
    f"{FEW}\nserver_round_robin = 1",
    *(
        pytest.param(
            f"{FEW}\nmax_prepared_statements = {number}",
            marks=pytest.mark.skipif(
                version() < (1, 21), reason="PgBouncer keeps prepared statements since 1.21"
            ),
        )
        for number in (0, 100)
    ),
]
"""Settings of a pool that lends a connection for one transaction."""


async def test_reports_of_many_senders_come_through_a_pool_of_transactions(tmp_path: Path) -> None:
    with new_location(tmp_path) as near, pooler(near, "transaction", FEW) as pooled:
        org_id = await asyncio.to_thread(new_organization, pooled)
        settings = replace(
            settings_of(pooled, rate_limit="off", auth_rate_limit="off"),
            database_session=near.written,
        )
        async with serving(settings) as server:
            token = await sign_in(server.url, EMAIL)
            key = await create_key(server.url, org_id, token)

            def send(sender: int) -> list[int]:
                path = "/api/ci/run-report"
                bodies = [report(run_id=sender * REPORTS + number) for number in range(REPORTS)]
                return [
                    ask(server.url, "POST", path, ci_key(key), json_body=body).status
                    for body in bodies
                ]

            answers = await asyncio.gather(
                *(asyncio.to_thread(send, sender) for sender in range(SENDERS))
            )
            assert Counter(chain.from_iterable(answers)) == {204: SENDERS * REPORTS}
            assert (await asyncio.to_thread(ask, server.url, "GET", "/readyz")).status == 200


async def test_servers_behind_a_pool_of_transactions_hear_of_each_other_and_one_leads(
    postgresql: Server,
) -> None:
    with postgresql.database() as near, pooler(near, "transaction", FEW) as pooled:
        location = replace(pooled, session_address=near.written)
        await _hear_of_each_other(location)


async def test_a_pool_of_sessions_needs_no_address_of_its_own(postgresql: Server) -> None:
    with postgresql.database() as near, pooler(near, "session") as pooled:
        await _hear_of_each_other(pooled)


async def _hear_of_each_other(location: Location) -> None:
    async with hearing_of_each_other(location) as stores:
        assert await leader_of(stores)
        assert [store.leads() for store in stores].count(True) == 1


@pytest.mark.parametrize("has_address", [True, False])
def test_a_pool_of_one_connection_is_refused_at_the_start(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, *, has_address: bool
) -> None:
    monkeypatch.setattr(sessions, "_SECOND_SECONDS", 0.2)
    others = "default_pool_size = 1\nquery_wait_timeout = 20"
    with postgresql.database() as near, pooler(near, "session", others) as pooled:
        address = pooled.written if has_address else None
        location = replace(near if has_address else pooled, session_address=address)
        with pytest.raises(StorageError, match="lends no second connection") as refused:
            open_storage(location)
        assert "default_pool_size" in refused.value.fix


@pytest.mark.parametrize("others", TRANSACTION)
def test_a_pool_of_transactions_alone_is_refused_at_the_start_and_nothing_is_written(
    others: str, postgresql: Server
) -> None:
    with postgresql.database("template1") as near, pooler(near, "transaction", others) as pooled:
        with ExitStack() as stack:  # the pool has connections that rest
            for connection in [stack.enter_context(closing(connect(pooled))) for _ in range(3)]:
                connection.command("BEGIN")
        for _ in range(3):
            with pytest.raises(StorageError, match="lends a connection for one transac") as refused:
                open_storage(pooled)
            assert "set HWCI_DATABASE_SESSION" in refused.value.fix
        assert missing_steps(near.written)


@pytest.mark.parametrize(("mode", "refused"), [("transaction", 20), ("session", 0)])
def test_a_pool_is_told_from_one_of_the_other_mode_while_others_use_it(
    mode: str, refused: int, postgresql: Server
) -> None:
    done = threading.Event()

    def use(location: Location) -> None:
        with closing(connect(location)) as connection:
            while not done.is_set():
                connection.command("BEGIN; SELECT pg_sleep(0.0005)")
                connection.command("COMMIT")

    def is_refused(location: Location) -> bool:
        with closing(connect(location)) as connection:
            try:
                require_session(connection, location)
            except StorageError:
                return True
        return False

    with (
        postgresql.database() as near,
        pooler(near, mode) as pooled,
        ThreadPoolExecutor(8) as threads,
    ):
        users = [threads.submit(use, pooled) for _ in range(8)]
        try:
            refusals = [is_refused(pooled) for _ in range(20)]
        finally:
            done.set()
        for user in users:
            user.result()
    assert refusals.count(True) == refused


def test_a_pool_of_statements_is_refused_at_the_start(postgresql: Server) -> None:
    with postgresql.database("template1") as near, pooler(near, "statement") as pooled:
        for location in (pooled, replace(pooled, session_address=near.written)):
            with pytest.raises(StorageError, match="takes no transactions") as refused:
                open_storage(location)
            assert "pool_mode = transaction" in refused.value.fix


def test_an_address_with_sessions_has_to_have_them_and_be_of_the_same_database(
    postgresql: Server,
) -> None:
    with (
        postgresql.database() as near,
        postgresql.database() as another,
        pooler(near, "transaction", FEW) as pooled,
    ):
        for address, cause in (
            (pooled.written, "lends a connection for one transaction"),
            (another.written, "is not the database of HWCI_DATABASE"),
            ("postgresql://ada:hunter2@127.0.0.1:1/hwci", r"127.0.0.1:1/hwci does not answer"),
        ):
            with pytest.raises(StorageError, match=cause) as refused:
                open_storage(replace(pooled, session_address=address))
            assert "hunter2" not in str(refused.value)


async def test_a_pooler_that_comes_between_stops_no_write_and_is_logged_once(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hearing, "_AGAIN_SECONDS", 0.01)
    with postgresql.database() as near, held_port() as port:
        async with distant(near, 0, port):
            store = await asyncio.to_thread(open_storage, at_port(near, port))
            await leader_of([store])
            for _ in range(10):  # statements are prepared
                await store.read(lambda r: r.organization(ACME.id))
        with pooler(near, "transaction", FEW, port):
            caplog.set_level(logging.CRITICAL)
            await store.write(lambda w: w.add_organization(ACME))
            for _ in range(10):
                assert await asyncio.gather(*(_organization(store) for _ in range(4)))
            await asyncio.to_thread(wait, lambda: "hears no event" in caplog.text)
            await asyncio.sleep(0.1)  # it is tried again
            assert caplog.text.count("hears no event") == 1
            assert not store.leads()
        async with distant(near, 0, port):
            await leader_of([store])
            await store.close()


async def test_a_pool_that_has_no_connection_left_is_503_and_works_again(
    postgresql: Server,
) -> None:
    others = "default_pool_size = 1\nquery_wait_timeout = 1"
    with postgresql.database() as near, pooler(near, "transaction", others) as pooled:
        store = await asyncio.to_thread(open_storage, replace(pooled, session_address=near.written))
        with closing(connect(pooled)) as other:
            other.command("BEGIN")
            with pytest.raises(StorageBusyError, match="does not answer: query_wait_timeout"):
                await store.write(lambda w: w.add_organization(ACME))
        await store.write(lambda w: w.add_organization(ACME))
        assert await _organization(store) == ACME
        await store.close()


async def test_a_copy_waits_for_the_idle_connections_of_a_pool(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Location(str(tmp_path / "to.db"), tmp_path / "secret.key")
    with postgresql.database() as near:
        with pooler(near, "transaction", FEW) as pooled:
            store = open_storage(replace(pooled, session_address=near.written))
            await store.write(lambda w: w.add_organization(ACME))
            await store.close()
            with monkeypatch.context() as quick, closing(connect(pooled)) as client:
                client.rows("SELECT 1")  # what closed in a hurry may have left the pool none
                quick.setattr(whole, "_ENDING_SECONDS", 0.1)
                with pytest.raises(StorageLockedError, match="is in use") as refused:
                    copy_storage(near, target, lambda *_: None)
            assert "a pooler (PgBouncer) has to close its idle connections" in refused.value.fix
        assert copy_storage(near, target, lambda *_: None) > 0


async def _organization(store: Storage) -> object:
    return await store.read(lambda r: r.organization(ACME.id))


def test_nothing_is_left_in_a_session_that_a_pool_lends_on(postgresql: Server) -> None:
    with (
        postgresql.database() as near,
        pooler(near, "transaction", "default_pool_size = 1") as pooled,
        closing(connect(near)) as direct,
        closing(connect(pooled)) as connection,
    ):
        assert (direct.pooled, connection.pooled) == (False, True)
        for _ in range(10):
            connection.rows("SELECT id FROM organization WHERE id = ?", (b"",))
        connection.execute_many("UPDATE organization SET name = ? WHERE id = ?", [("", b"")] * 10)
        assert connection.rows("SELECT count(*) FROM pg_prepared_statements") == [(0,)]
        assert connection.rows(
            "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name LIKE 'tcp%'"
        ) == [(0,)]


def test_commands_of_an_operator_go_through_a_pool_of_transactions(tmp_path: Path) -> None:
    with new_location(tmp_path) as near, pooler(near, "transaction", FEW) as pooled:
        org_id = new_organization(pooled)
        assert operate_on(pooled, ListOrganizations()).org_ids == [org_id]
        assert check_storage(pooled.written).damage == ()
        with pytest.raises(StorageError, match="lends a connection") as refused:
            copy(pooled.written, str(tmp_path / "to.db"), settings=settings_of(pooled))
        assert refused.value.fix == "name an address of PostgreSQL itself"


@pytest.mark.parametrize("is_source", [True, False])
def test_a_copy_goes_over_the_address_with_sessions(tmp_path: Path, *, is_source: bool) -> None:
    file = str(tmp_path / "hwci.db")
    with new_location(tmp_path) as near:
        org_id = new_organization(near if is_source else Location(file))
        with pooler(near, "transaction", FEW) as pooled:
            settings = settings_of(pooled, database_session=near.written)
            ends = (pooled.written, file) if is_source else (file, pooled.written)
            assert copy(*ends, settings=settings) > 0
        target = Location(file, near.secret_key_file) if is_source else near
        assert operate_on(target, ListOrganizations()).org_ids == [org_id]
