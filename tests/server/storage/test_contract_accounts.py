# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of members, invitations, identities and ended sign-ins."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from hwci.contract.vocabulary import Role
from hwci.server.errors import ClashError
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Invite, OrganizationMember, RefreshToken, Usage
from tests.server.storage.examples import (
    ACME,
    ADA,
    BOB,
    IDENTITY,
    INVITE,
    NOON,
    OFFER,
    OTHER,
    SESSION,
    SET_UP,
    TOKEN,
)

LATER = NOON + timedelta(hours=1)
WEEK = timedelta(days=7)


def found(writer: Writer) -> None:
    for organization in (ACME, OTHER):
        writer.add_organization(organization)
    for user in (ADA, BOB):
        writer.add_user(user)


def staffed(writer: Writer) -> None:
    """Make Ada an owner of both organizations and Bob a member of one."""
    found(writer)
    writer.add_membership(ACME.id, ADA.id, Role.OWNER, NOON)
    writer.add_membership(OTHER.id, ADA.id, Role.OWNER, NOON)
    writer.add_membership(ACME.id, BOB.id, Role.MEMBER, LATER)


async def test_there_is_a_user_once_one_is_kept(storage: Storage) -> None:
    assert not await storage.read(lambda r: r.any_user())
    await storage.write(lambda w: w.add_user(ADA))
    assert await storage.read(lambda r: r.any_user())


async def test_a_user_may_have_no_password(storage: Storage) -> None:
    without = replace(ADA, password_hash=None)
    await storage.write(lambda w: w.add_user(without))
    assert await storage.read(lambda r: r.user(ADA.id)) == without


async def test_all_organizations_are_known_by_id(storage: Storage) -> None:
    await storage.write(found)
    assert set(await storage.read(lambda r: r.organization_ids())) == {ACME.id, OTHER.id}


def sent(writer: Writer, hour: int, size: int) -> Usage:
    return writer.add_usage(ACME.id, hour, size)


async def test_usage_is_summed_in_all_and_begins_anew_with_each_hour(storage: Storage) -> None:
    await storage.write(found)
    sums = [
        await storage.write(partial(sent, hour=hour, size=size))
        for hour, size in ((7, 5), (7, 3), (8, 2), (7, 1))
    ]
    assert sums == [Usage(7, 5, 5), Usage(7, 8, 8), Usage(8, 2, 10), Usage(7, 1, 11)]
    assert await storage.read(lambda r: r.usage(ACME.id)) == sums[-1]
    assert await storage.read(lambda r: r.usage(OTHER.id)) is None


class TestMembers:
    async def test_members_are_listed_newest_first_by_pages(self, storage: Storage) -> None:
        await storage.write(staffed)
        ada = OrganizationMember(ADA, Role.OWNER, NOON)
        bob = OrganizationMember(BOB, Role.MEMBER, LATER)
        whole = await storage.read(lambda r: r.members(ACME.id, 0, 10))
        assert (list(whole.items), whole.total) == ([bob, ada], 2)
        second = await storage.read(lambda r: r.members(ACME.id, 1, 1))
        assert (list(second.items), second.total) == ([ada], 2)
        assert list((await storage.read(lambda r: r.members(OTHER.id, 0, 10))).items) == [ada]

    async def test_a_role_changes_in_one_organization_and_the_time_stays(
        self, storage: Storage
    ) -> None:
        await storage.write(staffed)
        assert await storage.write(lambda w: w.set_role(ACME.id, ADA.id, Role.ADMIN))
        assert not await storage.write(lambda w: w.set_role(OTHER.id, BOB.id, Role.OWNER))
        changed = await storage.read(lambda r: r.membership(ACME.id, ADA.id))
        other = await storage.read(lambda r: r.membership(OTHER.id, ADA.id))
        assert changed is not None
        assert (changed.role, changed.joined_at) == (Role.ADMIN, NOON)
        assert other is not None
        assert other.role is Role.OWNER

    async def test_owners_are_counted_in_one_organization(self, storage: Storage) -> None:
        await storage.write(staffed)
        assert await storage.read(lambda r: r.owners(ACME.id)) == 1
        await storage.write(lambda w: w.set_role(ACME.id, BOB.id, Role.OWNER))
        assert await storage.read(lambda r: (r.owners(ACME.id), r.owners(OTHER.id))) == (2, 1)

    async def test_a_person_who_is_removed_is_a_stranger_there_and_a_member_elsewhere(
        self, storage: Storage
    ) -> None:
        await storage.write(staffed)
        assert await storage.write(lambda w: w.remove_membership(ACME.id, ADA.id))
        assert not await storage.write(lambda w: w.remove_membership(ACME.id, ADA.id))
        assert await storage.read(lambda r: r.membership(ACME.id, ADA.id)) is None
        assert await storage.read(lambda r: r.membership(OTHER.id, ADA.id)) is not None


class TestIdentities:
    async def test_a_user_is_found_by_issuer_and_subject(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_identity(IDENTITY))
        subject = IDENTITY.subject
        assert await storage.read(lambda r: r.user_by_identity(IDENTITY.issuer, subject)) == ADA
        assert await storage.read(lambda r: r.user_by_identity("https://other", subject)) is None
        assert await storage.read(lambda r: r.user_by_identity(IDENTITY.issuer, "1")) is None

    async def test_a_linked_identity_is_a_clash_that_names_it(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_identity(IDENTITY))
        with pytest.raises(ClashError) as clash:
            await storage.write(lambda w: w.add_identity(replace(IDENTITY, user_id=BOB.id)))
        assert clash.value.field == "identity"

    async def test_it_is_known_who_has_one(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_identity(IDENTITY))
        assert await storage.read(lambda r: (r.has_identity(ADA.id), r.has_identity(BOB.id))) == (
            True,
            False,
        )


def another(digest: bytes, **differing: Any) -> Invite:
    """Return an invitation like `INVITE`, with a token and an id of its own."""
    return replace(INVITE, id=uuid4(), digest=digest, **differing)


class TestInvites:
    async def test_an_invitation_is_used_once_and_stays_known(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_invite(INVITE))
        assert await storage.read(lambda r: r.invite(b"invite")) == INVITE
        tries = (storage.write(lambda w: w.use_invite(b"invite", LATER)) for _ in range(10))
        assert (await asyncio.gather(*tries)).count(True) == 1
        used = replace(INVITE, used_at=LATER)
        assert await storage.read(lambda r: r.invite(b"invite")) == used
        assert await storage.read(lambda r: r.invite(b"other")) is None
        assert not await storage.write(lambda w: w.use_invite(b"other", LATER))

    @pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=-1)])
    async def test_an_invitation_works_until_it_expires(
        self, storage: Storage, late: timedelta
    ) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_invite(INVITE))
        at = INVITE.expires_at + late
        assert await storage.write(lambda w: w.use_invite(b"invite", at)) is (late < timedelta(0))

    async def test_open_invitations_are_found_by_e_mail_and_organization_newest_first(
        self, storage: Storage
    ) -> None:
        elsewhere = another(b"elsewhere", offer=replace(OFFER, org_id=OTHER.id), created_at=LATER)
        stranger = another(b"stranger", offer=replace(OFFER, email_key="other@example.org"))
        ended = (another(b"used", used_at=NOON), another(b"expired", expires_at=LATER))

        def invite(writer: Writer) -> None:
            found(writer)
            for one in (elsewhere, INVITE, *ended, stranger, SET_UP):
                writer.add_invite(one)

        await storage.write(invite)
        to_new = await storage.read(lambda r: r.open_invites(OFFER.email_key, LATER, 0, 9))
        assert (list(to_new.items), to_new.total) == ([elsewhere, INVITE], 2)
        second = await storage.read(lambda r: r.open_invites(OFFER.email_key, LATER, 1, 1))
        assert (list(second.items), second.total) == ([INVITE], 2)
        to_acme = await storage.read(lambda r: r.invites_of(ACME.id, LATER, 0, 9))
        assert (list(to_acme.items), to_acme.total) == ([stranger, INVITE], 2)
        of_each = await storage.read(
            lambda r: [r.open_invite(one.id, OFFER.email_key, LATER) for one in (ACME, OTHER)]
        )
        assert of_each == [INVITE, elsewhere]

    async def test_an_invitation_is_found_by_its_id_used_or_not(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.add_invite(INVITE))
        await storage.write(lambda w: w.use_invite(INVITE.digest, LATER))
        used = replace(INVITE, used_at=LATER)
        assert await storage.read(lambda r: r.invite_by_id(INVITE.id)) == used
        assert await storage.read(lambda r: r.invite_by_id(SET_UP.id)) is None

    async def test_what_is_withdrawn_is_used_up_for_one_e_mail_in_one_organization(
        self, storage: Storage
    ) -> None:
        elsewhere = another(b"elsewhere", offer=replace(OFFER, org_id=OTHER.id))
        stranger = another(b"stranger", offer=replace(OFFER, email_key="other@example.org"))
        used, twice = another(b"used", used_at=NOON), another(b"twice")

        def withdraw(writer: Writer) -> None:
            found(writer)
            for one in (INVITE, elsewhere, stranger, used, twice, SET_UP):
                writer.add_invite(one)
            writer.withdraw_invites(ACME.id, OFFER.email_key, NOON)

        await storage.write(withdraw)
        digests = (b"invite", b"twice", b"elsewhere", b"stranger", b"used", b"set-up")
        kept = await storage.read(lambda r: [r.invite(digest) for digest in digests])
        over = [replace(invite, used_at=NOON) for invite in (INVITE, twice)]
        assert kept == [*over, elsewhere, stranger, used, SET_UP]

    async def test_a_new_set_up_token_takes_the_place_of_the_earlier_and_of_nothing_else(
        self, storage: Storage
    ) -> None:
        newer = replace(SET_UP, id=UUID(int=73), digest=b"newer")

        def begin(writer: Writer) -> None:
            found(writer)
            for one in (INVITE, SET_UP, newer):
                writer.add_invite(one)

        await storage.write(begin)
        digests = (b"invite", b"set-up", b"newer")
        kept = await storage.read(lambda r: [r.invite(digest) for digest in digests])
        assert kept == [INVITE, None, newer]


class TestResets:
    async def test_a_reset_link_works_until_it_expires(self, storage: Storage) -> None:
        await storage.write(found)
        await storage.write(lambda w: w.set_reset(ADA.id, b"reset", LATER))
        early = LATER - timedelta(microseconds=1)
        assert await storage.read(lambda r: r.user_by_reset(b"reset", early)) == ADA
        assert await storage.read(lambda r: r.user_by_reset(b"reset", LATER)) is None
        assert await storage.read(lambda r: r.user_by_reset(b"other", early)) is None

    async def test_a_new_link_takes_the_place_of_the_users_earlier_one_alone(
        self, storage: Storage
    ) -> None:
        def make(writer: Writer) -> None:
            found(writer)
            writer.set_reset(ADA.id, b"first", LATER)
            writer.set_reset(BOB.id, b"bob", LATER)
            writer.set_reset(ADA.id, b"second", LATER)

        await storage.write(make)
        links = (b"first", b"second", b"bob")
        whose = await storage.read(lambda r: [r.user_by_reset(one, NOON) for one in links])
        assert whose == [None, ADA, BOB]

    async def test_a_new_password_and_a_disabling_end_the_users_link_alone(
        self, storage: Storage
    ) -> None:
        def make(writer: Writer) -> None:
            found(writer)
            writer.set_reset(ADA.id, b"ada", LATER)
            writer.set_reset(BOB.id, b"bob", LATER)
            writer.set_password(ADA.id, "$argon2id$new")

        await storage.write(make)
        kept = await storage.read(
            lambda r: [r.user_by_reset(one, NOON) for one in (b"ada", b"bob")]
        )
        assert kept == [None, BOB]
        assert await storage.read(lambda r: r.user(ADA.id)) == replace(
            ADA, password_hash="$argon2id$new"
        )
        await storage.write(lambda w: w.set_disabled(BOB.id, LATER))
        assert await storage.read(lambda r: r.user_by_reset(b"bob", NOON)) is None

    async def test_a_user_is_disabled_and_enabled_again(self, storage: Storage) -> None:
        await storage.write(staffed)
        await storage.write(lambda w: w.set_disabled(BOB.id, LATER))
        disabled = replace(BOB, disabled_at=LATER)
        assert await storage.read(lambda r: r.user(BOB.id)) == disabled
        assert await storage.read(lambda r: r.user_by_email(BOB.email_key)) == disabled
        listed = await storage.read(lambda r: r.members(ACME.id, 0, 10))
        assert [one.user for one in listed.items] == [disabled, ADA]
        await storage.write(lambda w: w.set_disabled(BOB.id, None))
        assert await storage.read(lambda r: r.user(BOB.id)) == BOB

    async def test_a_user_is_erased_with_all_that_is_theirs_alone(self, storage: Storage) -> None:
        theirs = replace(INVITE, offer=replace(OFFER, email_key=ADA.email_key, inviter_id=BOB.id))
        sent = replace(INVITE, id=uuid4(), digest=b"sent")
        of_bob = replace(sent, id=uuid4(), digest=b"bob", offer=replace(OFFER, inviter_id=BOB.id))

        def make(writer: Writer) -> None:
            found(writer)
            writer.add_session(SESSION)
            writer.add_refresh_token(TOKEN)
            writer.add_identity(IDENTITY)
            for invite in (theirs, sent, of_bob):
                writer.add_invite(invite)
            writer.erase_user(ADA)

        await storage.write(make)
        assert await storage.read(lambda r: [r.user(ADA.id), r.user(BOB.id)]) == [None, BOB]
        assert await storage.read(lambda r: r.user_by_email(ADA.email_key)) is None
        assert await storage.read(lambda r: r.session(SESSION.id)) is None
        assert await storage.read(lambda r: r.refresh_token(TOKEN.digest)) is None
        assert await storage.read(lambda r: r.has_identity(ADA.id)) is False
        digests = [invite.digest for invite in (theirs, sent, of_bob)]
        kept = await storage.read(lambda r: [r.invite(digest) for digest in digests])
        assert kept == [None, None, of_bob]


class TestOpenSessions:
    async def test_sign_ins_that_can_be_renewed_are_listed_newest_first_by_pages(
        self, storage: Storage
    ) -> None:
        new = replace(SESSION, id=UUID(int=22), created_at=LATER, client="Firefox on Linux")
        ended = replace(SESSION, id=UUID(int=23), ended_at=LATER)
        expired = replace(SESSION, id=UUID(int=24))
        of_bob = replace(SESSION, id=UUID(int=25), user_id=BOB.id)

        def begin(writer: Writer) -> None:
            found(writer)
            for number, session in enumerate((SESSION, new, ended, expired, of_bob)):
                writer.add_session(session)
                for turn in (0, 1):
                    expires_at = NOON if session is expired else TOKEN.expires_at + turn * WEEK
                    digest = bytes([number, turn])
                    writer.add_refresh_token(
                        RefreshToken(digest, session.id, session.user_id, expires_at)
                    )
                writer.use_refresh_token(bytes([number, 0]), NOON)

        await storage.write(begin)
        whole = await storage.read(lambda r: r.open_sessions(ADA.id, NOON, 0, 10))
        until = TOKEN.expires_at + WEEK
        listed = [(one.session, one.expires_at) for one in whole.items]
        assert (listed, whole.total) == ([(new, until), (SESSION, until)], 2)
        second = await storage.read(lambda r: r.open_sessions(ADA.id, NOON, 1, 1))
        assert ([one.session for one in second.items], second.total) == ([SESSION], 2)
        later = await storage.read(lambda r: r.open_sessions(ADA.id, until, 0, 10))
        assert later.total == 0

    async def test_all_sign_ins_of_a_user_end_but_the_one_that_stays(
        self, storage: Storage
    ) -> None:
        other, of_bob = (
            replace(SESSION, id=UUID(int=22)),
            replace(SESSION, id=UUID(int=25), user_id=BOB.id),
        )

        def begin(writer: Writer) -> int:
            found(writer)
            for session in (SESSION, other, of_bob):
                writer.add_session(session)
            return writer.end_sessions(ADA.id, LATER, but=SESSION.id)

        assert await storage.write(begin) == 1
        ids = (SESSION.id, other.id, of_bob.id)
        kept = await storage.read(lambda r: [r.session(one) for one in ids])
        assert kept == [SESSION, replace(other, ended_at=LATER), of_bob]
        assert await storage.write(lambda w: w.end_sessions(ADA.id, LATER)) == 1


class TestExpiredSessions:
    async def test_a_sign_in_goes_with_its_last_token_and_others_stay(
        self, storage: Storage
    ) -> None:
        fresh = replace(TOKEN, digest=b"fresh", expires_at=TOKEN.expires_at + WEEK)
        new, of_bob = replace(SESSION, id=UUID(int=22)), UUID(int=23)

        def forget(writer: Writer) -> None:
            found(writer)
            for session in (SESSION, new, replace(SESSION, id=of_bob, user_id=BOB.id)):
                writer.add_session(session)
            writer.add_refresh_token(TOKEN)
            writer.add_refresh_token(replace(TOKEN, digest=b"second"))
            writer.add_refresh_token(
                replace(TOKEN, digest=b"bob", session_id=of_bob, user_id=BOB.id)
            )
            writer.add_refresh_token(replace(fresh, session_id=new.id))
            assert writer.drop_refresh_tokens(TOKEN.expires_at, 9)

        await storage.write(forget)
        ids = (SESSION.id, new.id, of_bob)
        kept = await storage.read(lambda r: [r.session(one) is not None for one in ids])
        assert kept == [False, True, False]

    async def test_a_sign_in_with_a_token_left_stays(self, storage: Storage) -> None:
        def forget(writer: Writer) -> None:
            found(writer)
            writer.add_session(SESSION)
            writer.add_refresh_token(TOKEN)
            writer.add_refresh_token(replace(TOKEN, digest=b"next", expires_at=NOON + 2 * WEEK))
            assert writer.drop_refresh_tokens(TOKEN.expires_at, 9)

        await storage.write(forget)
        assert await storage.read(lambda r: r.session(SESSION.id)) == SESSION

    async def test_tokens_of_all_users_go_a_few_at_a_time_each_last_with_its_sign_in(
        self, storage: Storage
    ) -> None:
        of_bob = replace(SESSION, id=UUID(int=23), user_id=BOB.id)
        ends = TOKEN.expires_at

        def begin(writer: Writer) -> None:
            found(writer)
            for session in (SESSION, of_bob):
                writer.add_session(session)
            for digest, owner, expires_at in (
                (b"1", SESSION, ends),
                (b"2", of_bob, ends),
                (b"3", of_bob, ends - WEEK),
                (b"4", SESSION, ends + WEEK),
            ):
                token = RefreshToken(digest, owner.id, owner.user_id, expires_at)
                writer.add_refresh_token(token)

        await storage.write(begin)
        drop = partial(storage.write, lambda w: w.drop_refresh_tokens(ends, 2))
        assert [await drop() for _ in range(3)] == [2, 1, 0]
        kept = await storage.read(lambda r: (r.session(SESSION.id), r.session(of_bob.id)))
        assert kept == (SESSION, None)
        assert await storage.read(lambda r: r.refresh_token(b"4")) is not None


class TestForgottenInvites:
    async def test_an_invitation_goes_by_its_use_or_else_by_its_end_a_few_at_a_time(
        self, storage: Storage
    ) -> None:
        ends = INVITE.expires_at
        used = another(b"used", used_at=NOON)
        later = another(b"later", expires_at=ends + WEEK)
        set_up = replace(SET_UP, expires_at=ends)

        def begin(writer: Writer) -> None:
            found(writer)
            for one in (INVITE, used, later, set_up):
                writer.add_invite(one)

        await storage.write(begin)
        assert await storage.write(lambda w: w.drop_invites(NOON, 9)) == 1
        assert await storage.read(lambda r: r.invite(used.digest)) is None
        drop = partial(storage.write, lambda w: w.drop_invites(ends, 1))
        assert [await drop() for _ in range(3)] == [1, 1, 0]
        assert await storage.read(lambda r: r.invite(later.digest)) == later
