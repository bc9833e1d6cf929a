# SPDX-License-Identifier: Apache-2.0
"""On PostgreSQL a long write holds up its own organization or person, and nobody else."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from hwci.server.app import BeginImport, CreateUser, Export, Rebuild, ResetPassword, SetUserEnabled
from hwci.server.storage.ports import Writer
from tests.support.asking import ask, bearer
from tests.support.benches import Benches
from tests.support.databases import only_where_wanted
from tests.support.running import (
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    new_organization,
    running_in_thread,
)

pytestmark = only_where_wanted

OTHER = "other@example.org"


@contextmanager
def held_open(
    server: RunningServer, *, organization: UUID | None = None, person: UUID | None = None
) -> Iterator[None]:
    """Hold a write open, as another server of the database would that is slow."""
    begun, may_end = threading.Event(), threading.Event()

    async def write() -> None:
        def work(_: Writer) -> None:
            begun.set()
            may_end.wait()

        storage = server.open_storage()
        try:
            await storage.write(work, organization=organization, person=person, seconds=600)
        finally:
            await storage.close()

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(asyncio.run, write())
        try:
            assert begun.wait(60)
            yield
        finally:
            may_end.set()
            writing.result()


def sign_in(server: RunningServer, email: str) -> Any:
    body = {"email": email, "password": PASSWORD}
    return ask(server.url, "POST", "/api/auth/login", json_body=body)


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    folder: Path = tmp_path_factory.mktemp("held")
    with running_in_thread(folder) as server:
        yield Benches(server, Hands())


def test_the_write_of_one_organization_holds_up_no_other(benches: Benches) -> None:
    server = benches.server
    box = benches.installed("bench-1")
    another = new_organization(server.location, OTHER)
    with held_open(server, organization=another):
        assert sign_in(server, OTHER).status == 200, "not even its own people"
        signed_in = sign_in(server, EMAIL).json
        assert benches.report(run_id=1).status == 204
        assert benches.beat(box).status == 204
        assert benches.open(box, run_id=2).status == 201
        assert benches.member("POST", "ci-keys", {"name": "nightly"}).status == 201
        invited = {"email": "new@example.org", "role": "member"}
        assert benches.member("POST", "invites", invited).status == 201
        assert benches.installed("bench-2")
        tokens = {"refreshToken": signed_in["refreshToken"]}
        renewed = ask(server.url, "POST", "/api/auth/refresh", json_body=tokens)
        assert renewed.status == 200
        ended = ask(
            server.url,
            "POST",
            "/api/auth/logout",
            json_body={"refreshToken": renewed.json["refreshToken"]},
        )
        assert ended.status == 204
        made = ask(
            server.url,
            "POST",
            "/api/orgs",
            bearer(server.member_token),
            json_body={"name": "Third"},
        )
        assert made.status == 201
        newcomer = {"email": "newcomer@example.org", "password": PASSWORD}
        assert ask(server.url, "POST", "/api/auth/register", json_body=newcomer).status == 201
        assert server.operate(Rebuild(org_id=server.org_id)).org_id == server.org_id


def test_an_operator_waits_for_no_organization_but_the_one_that_a_command_is_about(
    benches: Benches, tmp_path: Path
) -> None:
    server = benches.server
    another = new_organization(server.location, "another@example.org")
    with held_open(server, organization=another):
        made = server.operate(CreateUser(email="made@example.org", password=PASSWORD))
        for enabled in (False, True):
            changed = server.operate(SetUserEnabled(email="made@example.org", enabled=enabled))
            assert changed.user_id == made.user_id
        assert server.operate(ResetPassword(email="made@example.org")).reset_token
        exported = server.operate(Export(org_id=server.org_id, to=tmp_path / "acme.db"))
        assert exported.org_id == server.org_id
        for org_id, owner in ((server.org_id, None), (uuid4(), "made@example.org")):
            begin = BeginImport(exported_id=org_id, exported_name="Elsewhere", owner=owner)
            assert server.operate(begin).org_id == org_id


def test_the_sign_in_of_one_person_holds_up_nobody_else(benches: Benches) -> None:
    server = benches.server
    me = ask(server.url, "GET", "/api/auth/me", bearer(server.token)).json
    with held_open(server, person=UUID(me["user"]["id"])):
        assert sign_in(server, MEMBER_EMAIL).status == 200
        assert benches.report(run_id=3).status == 204


def test_a_server_starts_while_a_write_takes_long(benches: Benches) -> None:
    server = benches.server
    with held_open(server, organization=server.org_id), held_open(server, person=UUID(int=7)):
        pass  # the second is written by a server that has started meanwhile
