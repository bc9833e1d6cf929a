# SPDX-License-Identifier: Apache-2.0
"""Trusts, and keys of the jobs that signed in by them, on every database."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from hwci.server.clock import Evenness
from hwci.server.services.retention import Retention
from hwci.server.storage.ports import Reader, Storage, Writer
from tests.server.storage.examples import ACME, JOB_KEY, NOON, OTHER, TRUST
from tests.support.running import Hands


def begin(writer: Writer) -> None:
    writer.add_organization(ACME)
    writer.add_organization(OTHER)
    writer.put_trust(TRUST)


async def test_trusts_are_kept_changed_and_removed(storage: Storage) -> None:
    newer = replace(TRUST, id=UUID(int=35), created_at=NOON + timedelta(hours=1), branch=None)
    bound = replace(TRUST, owner_id="65", last_used_at=NOON)

    def work(writer: Writer) -> None:
        begin(writer)
        writer.put_trust(newer)
        writer.put_trust(bound)

    await storage.write(work)

    def look(reader: Reader) -> None:
        assert reader.trusts(ACME.id, 0, 9).items == [newer, bound]
        assert list(reader.trusts_in(ACME.id, TRUST.issuer)) == [bound, newer]
        assert not reader.trusts_in(ACME.id, "https://gitlab.com")
        assert not reader.trusts_in(OTHER.id, TRUST.issuer)
        assert reader.is_trusted(TRUST.issuer)
        assert not reader.is_trusted("https://gitlab.com")

    await storage.read(look)
    assert await storage.write(lambda w: w.remove_trust(OTHER.id, TRUST.id)) is None
    assert await storage.write(lambda w: w.remove_trust(ACME.id, TRUST.id)) == bound
    assert await storage.write(lambda w: w.remove_trust(ACME.id, TRUST.id)) is None
    assert await storage.read(lambda r: r.trusts(ACME.id, 0, 9).total) == 1


async def test_a_token_is_taken_once_by_whichever_organization(storage: Storage) -> None:
    again = replace(JOB_KEY, id=UUID(int=36), digest=b"another", org_id=OTHER.id)

    await storage.write(begin)
    assert await storage.write(lambda w: w.add_job_key(JOB_KEY))
    assert not await storage.write(lambda w: w.add_job_key(again))
    assert await storage.read(lambda r: r.job_key(JOB_KEY.digest)) == (JOB_KEY, ACME)
    assert await storage.read(lambda r: r.job_key(b"another")) is None


async def test_a_key_goes_with_its_trust_and_its_token_stays_used(storage: Storage) -> None:
    await storage.write(begin)
    await storage.write(lambda w: w.add_job_key(JOB_KEY))
    await storage.write(lambda w: w.remove_trust(ACME.id, TRUST.id))

    assert await storage.read(lambda r: r.job_key(JOB_KEY.digest)) is None
    assert not await storage.write(lambda w: w.add_job_key(replace(JOB_KEY, digest=b"new")))


async def test_keys_are_dropped_when_their_token_cannot_come_again(storage: Storage) -> None:
    later = replace(
        JOB_KEY,
        id=UUID(int=36),
        digest=b"later",
        token=b"later",
        kept_until=NOON + timedelta(days=2),
    )

    await storage.write(begin)
    await storage.write(lambda w: w.add_job_key(JOB_KEY) and w.add_job_key(later))
    at = JOB_KEY.kept_until
    assert await storage.write(lambda w: w.drop_job_keys(at, 9)) == 0
    assert await storage.write(lambda w: w.drop_job_keys(at + timedelta(seconds=1), 9)) == 1
    assert await storage.read(lambda r: r.job_key(JOB_KEY.digest)) is None
    assert await storage.read(lambda r: r.job_key(later.digest)) == (later, ACME)


class At(Evenness):
    """A clock that is never wrong."""

    def look(self) -> datetime:
        return self._clock()


async def test_the_sweep_drops_them(storage: Storage) -> None:
    await storage.write(begin)
    await storage.write(lambda w: w.add_job_key(JOB_KEY))
    hands = Hands(JOB_KEY.kept_until)
    retention = Retention(storage, At(hands))

    await retention.sweep()
    assert await storage.read(lambda r: r.job_key(JOB_KEY.digest)) is not None
    hands.move(seconds=1)
    await retention.sweep()
    assert await storage.read(lambda r: r.job_key(JOB_KEY.digest)) is None
