# SPDX-License-Identifier: Apache-2.0
"""A check of a database on PostgreSQL, beside a server that uses it."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from hwci.engine.history import Scope
from hwci.server.errors import StorageError
from hwci.server.storage.opening import check_storage, open_storage
from hwci.server.storage.ports import Writer
from tests.server.storage.filled import fill
from tests.server.storage.histories import EVER, ORG
from tests.support.commands import hwci
from tests.support.databases import Server, connect, only_where_wanted
from tests.support.reading import noted, read_period

pytestmark = only_where_wanted

STALE = (
    "UPDATE day_run SET runs = runs + 1",
    "UPDATE episode SET verdict = 7",
    "DELETE FROM failure WHERE id = (SELECT min(id) FROM failure)",
)


def decide(writer: Writer) -> None:
    found = read_period(writer.history(ORG), Scope(), EVER).decided
    writer.keep_decisions(noted(ORG, writer.version(ORG), found))


async def test_a_check_beside_a_server_names_what_is_wrong_and_changes_nothing(
    postgresql: Server, tmp_path: Path
) -> None:
    with postgresql.database() as location, closing(connect(location)) as connection:
        server = open_storage(location)
        await fill(server)
        await server.write(decide)
        found = check_storage(location.written)
        assert (found.damage, found.stale) == ((), ())
        assert found.reports > 20

        def check(*flags: str) -> tuple[int, str, str]:
            ran = hwci(tmp_path, "admin", "check", "--database", location.written, *flags)
            return ran.returncode, ran.stdout, ran.stderr

        assert check()[0] == 0
        for statement in STALE:
            connection.command(statement)
        code, out, _ = check("--json")
        assert code == 1
        shown = json.loads(out)
        assert shown["damage"] == []
        assert [line.partition(" ")[0] for line in shown["stale"]] == [
            *("failure", "episode", "day_run")
        ]
        assert connection.row("SELECT count(*) FROM episode WHERE verdict <> 7") == (0,)

        connection.command("UPDATE review SET by_name = 'another'")
        code, out, said = check()
        assert code == 1
        assert "damaged: A row of table review" in out
        assert "stop all servers, then put back a dump by `pg_restore`" in said
        await server.close()


def test_a_database_that_lacks_steps_is_not_checked(postgresql: Server) -> None:
    with (
        postgresql.database("template1") as location,
        pytest.raises(StorageError, match="lacks steps"),
    ):
        check_storage(location.written)
