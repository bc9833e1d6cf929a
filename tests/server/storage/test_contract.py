# SPDX-License-Identifier: Apache-2.0
"""What every driver promises, whichever it is: the ports, method by method."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import pytest

from hwci.contract.people import Actor
from hwci.contract.vocabulary import Outcome, ReviewAction, Role
from hwci.engine.facts import Part, Product, Report, StoredReview, failure_id
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.server.errors import ClashError
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Key, Membership
from tests.server.storage.examples import (
    ACME,
    ADA,
    ANNOUNCEMENT,
    BOB,
    CHANGES,
    CONFIG,
    ENTRY,
    FAIL,
    FAILURE,
    KEY,
    NOON,
    OTHER,
    PASS,
    READER_KEY,
    REPORT,
    REVIEW,
    SESSION,
    TOKEN,
)

LATER = NOON + timedelta(hours=1)
ZERO = timedelta(0)
KEYS = [KEY, READER_KEY]


def found(writer: Writer) -> None:
    """Make both organizations and both people."""
    for organization in (ACME, OTHER):
        writer.add_organization(organization)
    for user in (ADA, BOB):
        writer.add_user(user)


def sign_in(writer: Writer) -> None:
    """Make both people, and a sign-in of one of them."""
    found(writer)
    writer.add_session(SESSION)
    writer.add_refresh_token(TOKEN)


def put(first: Report, second: Report, writer: Writer) -> None:
    """Put two reports, one after the other."""
    writer.put_report(ACME.id, first, NOON)
    writer.put_report(ACME.id, second, NOON)


class TestAccounts:
    async def test_a_user_is_found_by_id_and_by_folded_email(self, storage: Storage) -> None:
        await storage.write(found)
        assert await storage.read(lambda r: r.user(ADA.id)) == ADA
        assert await storage.read(lambda r: r.user_by_email("ada@example.org")) == ADA
        assert await storage.read(lambda r: r.user_by_email("Ada@example.org")) is None
        assert await storage.read(lambda r: r.user(ACME.id)) is None

    async def test_a_taken_email_is_a_clash_that_names_it(self, storage: Storage) -> None:
        await storage.write(found)
        twin = replace(BOB, id=UUID(int=13), email_key=ADA.email_key)
        with pytest.raises(ClashError) as clash:
            await storage.write(lambda w: w.add_user(twin))
        assert clash.value.field == "email"

    async def test_a_membership_holds_role_time_and_organization(self, storage: Storage) -> None:
        def join(writer: Writer) -> None:
            found(writer)
            writer.add_membership(ACME.id, ADA.id, Role.OWNER, NOON)
            writer.add_membership(OTHER.id, ADA.id, Role.MEMBER, LATER)

        await storage.write(join)
        owner = Membership(ACME, Role.OWNER, NOON)
        assert await storage.read(lambda r: r.membership(ACME.id, ADA.id)) == owner
        assert await storage.read(lambda r: r.membership(ACME.id, BOB.id)) is None
        mine = await storage.read(lambda r: r.memberships(ADA.id, 0, 10))
        assert [one.organization.name for one in mine.items] == ["Other", "Acme"]
        with pytest.raises(ClashError, match="user"):
            await storage.write(lambda w: w.add_membership(ACME.id, ADA.id, Role.ADMIN, NOON))

    async def test_ci_metrics_are_turned_on_and_off(self, storage: Storage) -> None:
        await storage.write(found)
        assert await storage.write(lambda w: w.set_ci_metrics(ACME.id, enabled=True))
        on = await storage.read(lambda r: r.organization(ACME.id))
        assert on == replace(ACME, ci_metrics_enabled=True)
        assert not await storage.write(lambda w: w.set_ci_metrics(UUID(int=9), enabled=True))


class TestSessions:
    async def test_a_session_ends_once(self, storage: Storage) -> None:
        def sign_in_and_out(writer: Writer) -> None:
            sign_in(writer)
            writer.end_session(UUID(int=9), LATER)
            assert writer.session(SESSION.id) == SESSION
            writer.end_session(SESSION.id, NOON)
            writer.end_session(SESSION.id, LATER)

        await storage.write(sign_in_and_out)
        ended = await storage.read(lambda r: r.session(SESSION.id))
        assert ended == replace(SESSION, ended_at=NOON)
        assert await storage.read(lambda r: r.session(UUID(int=9))) is None

    async def test_all_sessions_of_one_user_end_and_of_no_other(self, storage: Storage) -> None:
        second = replace(SESSION, id=UUID(int=22))
        ended = replace(SESSION, id=UUID(int=23), ended_at=NOON)
        of_bob = replace(SESSION, id=UUID(int=24), user_id=BOB.id)

        def end_all(writer: Writer) -> None:
            sign_in(writer)
            for session in (second, ended, of_bob):
                writer.add_session(session)
            assert writer.end_sessions(ADA.id, LATER) == 2
            assert writer.end_sessions(ADA.id, LATER) == 0

        await storage.write(end_all)
        ids = [one.id for one in (SESSION, second, ended, of_bob)]
        kept = await storage.read(lambda r: [r.session(session_id) for session_id in ids])
        ends = [session.ended_at for session in kept if session is not None]
        assert ends == [LATER, LATER, NOON, None]

    async def test_a_refresh_token_is_used_once_and_stays_known(self, storage: Storage) -> None:
        await storage.write(sign_in)
        assert await storage.read(lambda r: r.refresh_token(b"digest")) == TOKEN
        assert await storage.write(lambda w: w.use_refresh_token(b"digest", NOON))
        assert not await storage.write(lambda w: w.use_refresh_token(b"digest", LATER))
        assert not await storage.write(lambda w: w.use_refresh_token(b"unknown", NOON))
        used = replace(TOKEN, used_at=NOON)
        assert await storage.read(lambda r: r.refresh_token(b"digest")) == used
        assert await storage.read(lambda r: r.refresh_token(b"unknown")) is None

    async def test_one_of_many_simultaneous_uses_of_a_token_wins(self, storage: Storage) -> None:
        await storage.write(sign_in)
        tries = (storage.write(lambda w: w.use_refresh_token(b"digest", NOON)) for _ in range(20))
        assert (await asyncio.gather(*tries)).count(True) == 1

    @pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=-1)])
    async def test_an_expired_token_cannot_be_used(self, storage: Storage, late: timedelta) -> None:
        await storage.write(sign_in)
        at = TOKEN.expires_at + late
        assert await storage.write(lambda w: w.use_refresh_token(b"digest", at)) is (late < ZERO)

    async def test_a_token_of_an_ended_session_cannot_be_used(self, storage: Storage) -> None:
        def leave(writer: Writer) -> None:
            sign_in(writer)
            writer.end_session(SESSION.id, NOON)

        await storage.write(leave)
        assert not await storage.write(lambda w: w.use_refresh_token(b"digest", NOON))
        assert await storage.read(lambda r: r.refresh_token(b"digest")) == TOKEN

    async def test_every_token_of_one_user_can_be_let_expire_used_or_not(
        self, storage: Storage
    ) -> None:
        used = replace(TOKEN, digest=b"used", used_at=NOON)
        of_bob = replace(TOKEN, digest=b"bob", user_id=BOB.id)

        def expire(writer: Writer) -> None:
            sign_in(writer)
            for token in (used, of_bob):
                writer.add_refresh_token(token)
            writer.expire_tokens(ADA.id)

        await storage.write(expire)
        digests = (TOKEN.digest, used.digest, of_bob.digest)
        kept = await storage.read(lambda r: [r.refresh_token(digest) for digest in digests])
        long_ago = datetime(1970, 1, 1, tzinfo=UTC)
        assert kept == [*(replace(token, expires_at=long_ago) for token in (TOKEN, used)), of_bob]


class TestKeysAndAudit:
    @pytest.mark.parametrize("key", KEYS)
    async def test_a_key_is_found_by_digest_and_stays_after_revocation(
        self, storage: Storage, key: Key
    ) -> None:
        def make(writer: Writer) -> None:
            found(writer)
            writer.add_key(key)

        await storage.write(make)
        assert await storage.read(lambda r: r.key_by_digest(type(key), b"key digest")) == (
            key,
            ACME,
        )
        assert await storage.read(lambda r: r.key_by_digest(type(key), b"other")) is None
        revoked = replace(key, revoked_at=NOON)
        assert (
            await storage.write(lambda w: w.revoke_key(type(key), ACME.id, key.id, NOON)) == revoked
        )
        assert (
            await storage.write(lambda w: w.revoke_key(type(key), ACME.id, key.id, LATER))
            == revoked
        )
        known = await storage.read(lambda r: r.key_by_digest(type(key), b"key digest"))
        assert known == (revoked, ACME)

    @pytest.mark.parametrize("key", KEYS)
    async def test_a_key_of_another_organization_is_unknown(
        self, storage: Storage, key: Key
    ) -> None:
        def make(writer: Writer) -> None:
            found(writer)
            writer.add_key(key)
            assert writer.revoke_key(type(key), OTHER.id, key.id, NOON) is None
            writer.touch_key(replace(key, org_id=OTHER.id), NOON)

        await storage.write(make)
        assert await storage.read(lambda r: r.key_by_digest(type(key), b"key digest")) == (
            key,
            ACME,
        )
        assert (await storage.read(lambda r: r.keys(type(key), OTHER.id, 0, 9))).total == 0

    @pytest.mark.parametrize("key", KEYS)
    async def test_last_use_never_moves_back(self, storage: Storage, key: Key) -> None:
        def use(writer: Writer) -> None:
            found(writer)
            writer.add_key(key)
            writer.touch_key(key, LATER)
            writer.touch_key(key, NOON)

        await storage.write(use)
        used = await storage.read(lambda r: r.key_by_digest(type(key), b"key digest"))
        assert used == (replace(key, last_used_at=LATER), ACME)

    @pytest.mark.parametrize("key", KEYS)
    async def test_a_last_use_by_a_wrong_clock_gives_way_to_the_next_one(
        self, storage: Storage, key: Key
    ) -> None:
        def use(writer: Writer) -> None:
            found(writer)
            writer.add_key(key)
            writer.touch_key(key, NOON + timedelta(days=365))
            writer.touch_key(key, NOON)

        await storage.write(use)
        used = await storage.read(lambda r: r.key_by_digest(type(key), b"key digest"))
        assert used == (replace(key, last_used_at=NOON), ACME)

    @pytest.mark.parametrize("key", KEYS)
    async def test_keys_are_listed_newest_first_and_of_equal_times_the_last_added(
        self, storage: Storage, key: Key
    ) -> None:
        def make(writer: Writer) -> None:
            found(writer)
            for number, at in enumerate((NOON, LATER, LATER)):
                digest = bytes([number])
                one = replace(key, id=UUID(int=number), digest=digest, created_at=at)
                writer.add_key(one)

        await storage.write(make)
        listed = await storage.read(lambda r: r.keys(type(key), ACME.id, 0, 2))
        assert ([one.id.int for one in listed.items], listed.total) == ([2, 1], 3)
        rest = await storage.read(lambda r: r.keys(type(key), ACME.id, 2, 2))
        assert [one.id.int for one in rest.items] == [0]

    async def test_the_audit_log_is_newest_first_and_keeps_details(self, storage: Storage) -> None:
        second = replace(ENTRY, id=UUID(int=42), details={})

        def record(writer: Writer) -> None:
            found(writer)
            writer.add_audit(ACME.id, ENTRY)
            writer.add_audit(ACME.id, second)

        await storage.write(record)
        log = await storage.read(lambda r: r.audit_log(ACME.id, 0, 10))
        assert (list(log.items), log.total) == ([second, ENTRY], 2)
        assert (await storage.read(lambda r: r.audit_log(OTHER.id, 0, 10))).total == 0


class TestRecords:
    async def test_the_first_announcement_of_an_identity_stays(self, storage: Storage) -> None:
        named = replace(ANNOUNCEMENT, suite="hil")

        def announce(writer: Writer) -> None:
            writer.announce(ACME.id, ANNOUNCEMENT, NOON)
            writer.announce(ACME.id, replace(ANNOUNCEMENT, branch="other", merged_at=LATER), NOON)
            writer.announce(ACME.id, named, NOON)

        await storage.write(announce)
        facts = await storage.read(lambda r: r.facts(ACME.id))
        assert facts.announcements == (ANNOUNCEMENT, named)

    async def test_a_report_comes_back_whole(self, storage: Storage) -> None:
        odd = replace(
            REPORT,
            run_id=2**63 - 1,
            started_at=datetime(1, 1, 1, tzinfo=UTC),
            ended_at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            tests=(),
            covers_shas=(),
            changes=None,
            part_of=Part(5, 2, 3),
        )
        await storage.write(partial(put, REPORT, odd))
        facts = await storage.read(lambda r: r.facts(ACME.id))
        assert facts.reports == (REPORT, odd)

    async def test_a_report_replaces_one_of_its_identity_whole(self, storage: Storage) -> None:
        second = replace(
            REPORT, suite="smoke", branch="next", sha="ddddddd", started_at=LATER, changes=None
        )
        await storage.write(partial(put, REPORT, second))

        def check(reader: Reader) -> None:
            assert reader.facts(ACME.id).reports == (second,)
            history = reader.history(ACME.id)
            assert history.failure(failure_id(ACME.id, FAILURE)) is None
            assert history.place("fw", "main", "bbbbbbb") is None
            assert not history.changes_listing("fw", "bbbbbbb")
            assert not history.changes_based_on("fw", "aaaaaaa")
            assert [one.product.suite for one in history.products()] == ["smoke"]

        await storage.read(check)

    @pytest.mark.parametrize(
        ("sent_again", "left"),
        [
            (Part(7, 1, 3), [7, 72, 73]),
            (Part(7, 1, 2), [7, 72]),
            (Part(7, 1, 1), [7]),
            (None, [7]),
            (Part(7, 2, 2), [7, 72, 73]),
        ],
    )
    async def test_a_first_part_sent_again_removes_the_parts_beyond(
        self, storage: Storage, sent_again: Part | None, left: list[int]
    ) -> None:
        first = replace(REPORT, part_of=Part(7, 1, 3))
        parts = [replace(REPORT, run_id=70 + k, part_of=Part(7, k, 3)) for k in (2, 3)]
        number = 72 if sent_again is not None and sent_again.part == 2 else 7
        again = replace(REPORT, run_id=number, part_of=sent_again)
        elsewhere = replace(parts[1], box_key="b2")

        def send(writer: Writer) -> None:
            for report in (elsewhere, first, *parts, again):
                writer.put_report(ACME.id, report, NOON)

        await storage.write(send)
        reports = (await storage.read(lambda r: r.facts(ACME.id))).reports
        assert sorted(one.run_id for one in reports if one.box_key == "b1") == left
        assert elsewhere in reports

    async def test_the_last_configuration_of_a_product_counts(self, storage: Storage) -> None:
        second = replace(CONFIG, firmware_paths=(), trigger_paths=None, merge_trigger=False)
        smoke = replace(CONFIG, suite="smoke", trigger_paths=())

        def configure(writer: Writer) -> None:
            writer.put_config(ACME.id, CONFIG, NOON)
            writer.put_config(ACME.id, smoke, LATER)
            writer.put_config(ACME.id, second, NOON)

        await storage.write(configure)
        facts = await storage.read(lambda r: r.facts(ACME.id))
        assert facts.configs == {Product("fw", "hil"): second, Product("fw", "smoke"): smoke}
        listed = await storage.read(lambda r: r.configs(ACME.id, 0, 10))
        assert list(listed.items) == [(smoke, LATER), (second, NOON)]

    async def test_reviews_are_numbered_as_written_and_can_be_dropped(
        self, storage: Storage
    ) -> None:
        other_key = FAILURE._replace(sha="eeeeeee")
        other = StoredReview(
            other_key, replace(REVIEW.review, action=ReviewAction.DISMISS), number=99
        )
        later = StoredReview(FAILURE, replace(REVIEW.review, at=LATER))
        first_id, other_id = (failure_id(ACME.id, key) for key in (FAILURE, other_key))

        def review(writer: Writer) -> None:
            writer.put_review(ACME.id, first_id, REVIEW)
            writer.put_review(ACME.id, other_id, other)
            writer.put_review(ACME.id, first_id, later)

        await storage.write(review)
        kept = await storage.read(lambda r: r.history(ACME.id).reviews())
        assert kept[first_id] == replace(later, number=kept[first_id].number)
        assert kept[other_id] == replace(other, number=kept[other_id].number)
        assert kept[other_id].number < kept[first_id].number
        facts = await storage.read(lambda r: r.facts(ACME.id))
        assert facts.reviews == {review.key: review for review in kept.values()}
        version = await storage.read(lambda r: r.version(ACME.id))
        nobody = Actor(ADA.id, "somebody")
        assert await storage.write(lambda w: w.rename_reviewer(ACME.id, nobody)) == 2
        assert await storage.write(lambda w: w.rename_reviewer(OTHER.id, nobody)) == 0
        assert await storage.write(lambda w: w.rename_reviewer(ACME.id, Actor(BOB.id, "b"))) == 0
        renamed = await storage.read(lambda r: r.history(ACME.id).reviews())
        assert renamed == {
            key: replace(review, review=replace(review.review, by=nobody))
            for key, review in kept.items()
        }
        assert await storage.read(lambda r: r.version(ACME.id)) > version
        await storage.write(lambda w: w.drop_reviews(ACME.id, [first_id, UUID(int=5)]))
        assert set(await storage.read(lambda r: r.history(ACME.id).reviews())) == {other_id}

    async def test_organizations_with_equal_data_never_see_each_other(
        self, storage: Storage
    ) -> None:
        def send(writer: Writer) -> None:
            for org_id in (ACME.id, OTHER.id):
                writer.announce(org_id, ANNOUNCEMENT, NOON)
                writer.put_report(org_id, REPORT, NOON)
                writer.put_config(org_id, CONFIG, NOON)
                writer.put_review(org_id, failure_id(org_id, FAILURE), REVIEW)
            fixed = replace(FAIL, outcome=Outcome.PASS)
            again = replace(REPORT, run_id=8, tests=(PASS, fixed), changes=None)
            writer.put_report(OTHER.id, again, NOON)
            writer.drop_reviews(OTHER.id, [failure_id(OTHER.id, FAILURE)])

        await storage.write(send)

        def check(reader: Reader) -> None:
            day = Period(NOON, NOON)
            acme, other = reader.history(ACME.id), reader.history(OTHER.id)
            assert acme.run_counts(Scope(), day).total == 1
            assert other.run_counts(Scope(), day).total == 2
            assert [one.passed for one in acme.failures(Scope(), day)] == [False]
            assert [one.passed for one in other.failures(Scope(), day)] == [True]
            assert len(acme.changes_listing("fw", "bbbbbbb")) == 1
            assert acme.failure(failure_id(OTHER.id, FAILURE)) is None
            assert len(acme.reviews()) == 1
            assert not other.reviews()
            assert reader.facts(ACME.id).reports == (REPORT,)
            assert reader.facts(UUID(int=3)).reports == ()

        await storage.read(check)

    async def test_changes_are_kept_as_long_as_one_report_carries_them(
        self, storage: Storage
    ) -> None:
        beside = replace(REPORT, box_key="b2")
        await storage.write(partial(put, REPORT, beside))
        await storage.write(lambda w: w.put_report(ACME.id, replace(REPORT, changes=None), NOON))
        listing = await storage.read(lambda r: r.history(ACME.id).changes_listing("fw", "bbbbbbb"))
        assert [(one.order.box_key, one.changes) for one in listing] == [("b2", CHANGES)]
