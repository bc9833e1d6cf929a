# SPDX-License-Identifier: Apache-2.0
"""A server of the version before beside a database that a newer hwci has changed."""

import asyncio
import logging
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from hwci.server.errors import NotReadyError
from hwci.server.storage.location import Location
from hwci.server.storage.opening import missing_steps, open_storage
from hwci.server.storage.ports import Writer
from hwci.server.storage.postgresql import schema
from tests.server.storage.examples import ACME
from tests.server.storage.waiting import WAITING, leader_of, wait
from tests.support.asking import ask, bearer, ci_key
from tests.support.databases import Server, connect, only_where_wanted
from tests.support.running import EMAIL, PASSWORD, report, running_in_thread

pytestmark = only_where_wanted

LATER = "0999_later"
OTHER = replace(ACME, id=uuid4())


def learn_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this program one of a later version, until `monkeypatch.undo`."""
    monkeypatch.setattr(schema, "STEPS", {LATER: "CREATE TABLE later (id BIGINT)"})


def migrate(location: Location) -> None:
    with closing(connect(location)) as connection:
        schema.migrate(connection)


async def test_a_step_waits_for_writes_that_run_and_then_refuses_those_of_older_servers(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    began = threading.Event()

    def write_slowly(writer: Writer) -> None:
        began.set()
        with closing(connect(location)) as connection:
            wait(lambda: connection.row(WAITING) == (1,))
        writer.add_organization(ACME)

    with postgresql.database() as location, caplog.at_level(logging.CRITICAL):
        older = open_storage(location)
        await leader_of([older])
        learn_step(monkeypatch)
        slow = asyncio.ensure_future(older.write(write_slowly, organization=ACME.id, seconds=60))
        await asyncio.to_thread(began.wait)
        migrating = asyncio.to_thread(migrate, location)
        await asyncio.gather(slow, migrating)
        newer = open_storage(location)
        for whose in (ACME.id, None):
            with pytest.raises(NotReadyError, match="start the new version here"):
                await older.write(lambda w: w.add_organization(OTHER), organization=whose)
        with pytest.raises(NotReadyError, match="start the new version here"):
            await older.ready()
        await newer.ready()
        await leader_of([newer])
        assert not older.leads()
        await newer.write(lambda w: w.add_organization(OTHER))
        assert await older.read(lambda r: r.organization(ACME.id)) == ACME
        assert await older.read(lambda r: r.organization(OTHER.id)) == OTHER
        await asyncio.gather(older.close(), newer.close())
    said = [one.getMessage() for one in caplog.records]
    assert len(said) == 1
    assert f"(step {LATER}): this server writes nothing any more; stop it, and start" in said[0]


def test_requests_that_write_are_told_to_come_again_and_the_operator_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_in_thread(tmp_path) as server:
        learn_step(monkeypatch)
        migrate(server.location)
        assert missing_steps(server.location.written) == []
        refused = [
            ask(server.url, "GET", "/readyz"),
            ask(
                server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=report()
            ),
            ask(
                server.url,
                "POST",
                "/api/auth/login",
                json_body={"email": EMAIL, "password": PASSWORD},
            ),
        ]
        assert [one.status for one in refused] == [503] * 3
        for one in refused:
            assert one.headers["retry-after"] == "5"
            assert "start the new version here" in one.error[1]
        page = ask(server.url, "GET", f"/api/orgs/{server.org_id}/boxes", bearer(server.token))
        assert page.status == 200
