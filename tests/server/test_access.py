# SPDX-License-Identifier: Apache-2.0
"""Who is let in, asked of the services themselves: what no request can bring about in a test."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import pytest

from hwci.contract.vocabulary import Role
from hwci.server.clock import system_clock
from hwci.server.errors import (
    ForbiddenError,
    NotFoundError,
    StorageError,
    UnauthenticatedError,
)
from hwci.server.security.api_keys import key_digest, new_api_key
from hwci.server.security.passwords import Passwords
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens, Claims, token_digest
from hwci.server.services.access import MEMBERS, Access, Member, may_give
from hwci.server.services.boxes import Boxes
from hwci.server.services.ci_metrics.reviews import Reviews
from hwci.server.services.keys import Keys
from hwci.server.services.people.accounts import Accounts
from hwci.server.settings import Registration
from hwci.server.storage.location import MEMORY
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import (
    Box,
    CiKey,
    Membership,
    Organization,
    ReaderKey,
    RefreshToken,
    Session,
    User,
)
from hwci.server.storage.sqlite.store import READERS, SqliteStorage
from hwci.wire import limits
from hwci.wire.accounts import NewCiKey
from hwci.wire.boxes import NewBox
from hwci.wire.failures import ReviewNote

NOW = system_clock()
USER = User(UUID(int=2), "ada@example.org", "ada@example.org", "Ada", "hash", NOW)
ORGANIZATION = Organization(UUID(int=4), "Acme", ci_metrics_enabled=True, created_at=NOW)
TOKENS = AccessTokens(Signer(b"k" * 32, system_clock))


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    opened = open_storage(MEMORY)
    yield opened
    await opened.close()


def allow_orphans(storage: Storage) -> None:
    """Let rows refer to what is not there, as a damaged file may."""
    assert isinstance(storage, SqliteStorage)
    storage._writer.execute("PRAGMA foreign_keys = OFF")


async def test_a_key_of_an_organization_that_is_gone_opens_nothing(storage: Storage) -> None:
    allow_orphans(storage)
    value = new_api_key()
    digest = key_digest(value)
    assert digest is not None
    key = CiKey(UUID(int=1), UUID(int=2), "orphan", digest, NOW)
    await storage.write(lambda writer: writer.add_key(key))

    with pytest.raises(UnauthenticatedError, match="not a CI key that works"):
        await Access(storage, system_clock, TOKENS).ci_key(value)


@pytest.mark.parametrize("text", ["", "svc_", "svc_" + "A" * 64, "svc_" + "a" * 65, "x" * 68])
async def test_text_that_cannot_be_a_key_is_refused_unasked(storage: Storage, text: str) -> None:
    access = Access(storage, system_clock, TOKENS)
    await storage.close()

    with pytest.raises(UnauthenticatedError, match="not a CI key that works"):
        await access.ci_key(text)
    with pytest.raises(StorageError, match="closed"):
        await access.ci_key(new_api_key())


async def test_text_that_cannot_be_a_box_key_is_refused_by_that_name(storage: Storage) -> None:
    with pytest.raises(UnauthenticatedError, match="not a box key that works; install"):
        await Access(storage, system_clock, TOKENS).box("svc_")


async def test_a_session_whose_user_is_gone_has_ended(storage: Storage) -> None:
    allow_orphans(storage)
    session = Session(UUID(int=3), USER.id, NOW, "Firefox")
    await storage.write(lambda writer: writer.add_session(session))

    with pytest.raises(UnauthenticatedError, match=r"^The session has ended; sign in again$"):
        await Access(storage, system_clock, TOKENS).person(
            TOKENS.issue(Claims(USER.id, session.id))
        )


def test_only_an_owner_gives_or_takes_the_role_of_an_owner() -> None:
    given = {own: [role for role in Role if may_give(own, role)] for own in Role}

    assert given == {
        Role.OWNER: [Role.OWNER, Role.ADMIN, Role.MEMBER],
        Role.ADMIN: [Role.ADMIN, Role.MEMBER],
        Role.MEMBER: [],
    }


@asynccontextmanager
async def busy_readers(storage: Storage) -> AsyncIterator[None]:
    """Keep all readers of a store busy for the block."""
    begun, go_on = threading.Barrier(READERS[0] + 1), threading.Event()

    def wait(_: Reader) -> bool:
        begun.wait(30)
        return go_on.wait(30)

    held = [asyncio.ensure_future(storage.read(wait)) for _ in range(READERS[0])]
    await asyncio.to_thread(begun.wait, 30)
    try:
        yield
        assert not any(one.done() for one in held)
    finally:
        go_on.set()
        await asyncio.gather(*held)


async def test_credentials_are_checked_while_all_readers_are_busy(storage: Storage) -> None:
    value = new_api_key()
    digest = key_digest(value)
    assert digest is not None
    key = CiKey(UUID(int=1), ORGANIZATION.id, "ci", digest, NOW)
    session = Session(UUID(int=3), USER.id, NOW, "Firefox")
    reading = new_api_key(limits.READER_KEY_PREFIX)
    digest = key_digest(reading, limits.READER_KEY_PREFIX)
    assert digest is not None
    reader_key = ReaderKey(UUID(int=6), ORGANIZATION.id, "wall display", digest, NOW)
    box_key = new_api_key()
    box = Box(UUID(int=5), ORGANIZATION.id, "bench-1", NOW, key_digest=key_digest(box_key))

    def found(writer: Writer) -> None:
        writer.add_user(USER)
        writer.add_organization(ORGANIZATION)
        writer.add_membership(ORGANIZATION.id, USER.id, Role.MEMBER, NOW)
        writer.add_session(session)
        writer.add_key(key)
        writer.add_key(reader_key)
        writer.add_box(box)

    await storage.write(found)
    access, token = Access(storage, system_clock, TOKENS), TOKENS.issue(Claims(USER.id, session.id))
    async with busy_readers(storage):
        assert await access.ci_key(value) == key
        assert await access.box(box_key) == box
        assert await access.reader_key(reading, ORGANIZATION.id, metrics=True) == reader_key
        assert await access.own_reader_key(reading) == reader_key
        assert (await access.person(token)).user == USER
        member = await access.member(token, ORGANIZATION.id, MEMBERS, metrics=True)
        assert member.user == USER
        await access.check_viewer(member)


DEEDS: dict[str, Callable[[Storage, Member], Awaitable[object]]] = {
    "a key is made": lambda storage, by: Keys(storage, system_clock).create_ci_key(
        by, NewCiKey(name="ci")
    ),
    "a key is revoked": lambda storage, by: Keys(storage, system_clock).revoke_ci_key(
        by, UUID(int=1)
    ),
    "a box is made": lambda storage, by: Boxes(storage, system_clock).create(
        by, NewBox(name="bench-1")
    ),
    "an install token is made": lambda storage, by: Boxes(storage, system_clock).install_token(
        by, UUID(int=1)
    ),
    "a failure is reviewed": lambda storage, by: Reviews(storage, system_clock).review(
        by, UUID(int=1), None, ReviewNote()
    ),
}


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("role", [Role.MEMBER, None])
async def test_a_person_who_is_no_longer_an_admin_when_it_is_written_changes_nothing(
    storage: Storage, deed: str, role: Role | None
) -> None:
    membership = Membership(ORGANIZATION, Role.ADMIN, NOW)
    let_in = Member(USER, membership, Claims(USER.id, UUID(int=3)))

    def meanwhile(writer: Writer) -> None:
        writer.add_user(USER)
        writer.add_organization(ORGANIZATION)
        if role is not None:
            writer.add_membership(ORGANIZATION.id, USER.id, role, NOW)

    await storage.write(meanwhile)

    with pytest.raises(
        ForbiddenError if role else NotFoundError,
        match="needs the role" if role else "Organization not found",
    ):
        await DEEDS[deed](storage, let_in)
    assert (await storage.read(lambda reader: reader.audit_log(ORGANIZATION.id, 0, 9))).total == 0


async def test_a_token_that_ends_nothing_does_not_wait_for_the_writer(storage: Storage) -> None:
    passwords = Passwords()
    accounts = Accounts(storage, system_clock, passwords, TOKENS, Registration.CLOSED)
    ended = Session(UUID(int=1), USER.id, NOW, "Firefox", ended_at=NOW)
    token = RefreshToken(token_digest("ended"), ended.id, USER.id, NOW + timedelta(days=7))

    def sign_out(writer: Writer) -> None:
        writer.add_user(USER)
        writer.add_session(ended)
        writer.add_refresh_token(token)

    await storage.write(sign_out)
    go_on = threading.Event()
    held = asyncio.ensure_future(storage.write(lambda _: go_on.wait(30)))
    try:
        for text in ("unknown", "ended"):
            await accounts.logout(text)
        with pytest.raises(UnauthenticatedError):
            await accounts.refresh("unknown")
        assert not held.done()
    finally:
        go_on.set()
        await held
        passwords.close()
