# SPDX-License-Identifier: Apache-2.0
"""The rules by which failures are known, as every storage keeps them."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.server.errors import ClashError
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Organization, known_failure
from tests.server.storage.examples import ACME, KNOWN, NOON, OTHER

LATER = NOON + timedelta(hours=1)


@pytest.fixture(autouse=True)
async def _organizations(storage: Storage) -> None:
    for organization in (ACME, OTHER):
        await storage.write(partial(add, organization))


def add(organization: Organization, writer: Writer) -> None:
    writer.add_organization(organization)


async def rules(storage: Storage, org_id: UUID = ACME.id) -> list[KnownFailure]:
    return [*await storage.read(lambda reader: reader.history(org_id).known_failures())]


async def test_rules_are_listed_as_they_were_made_in_their_organization_alone(
    storage: Storage,
) -> None:
    second = known_failure(ACME.id, (None, "*", "b1"), "FW-8", KNOWN.until, LATER, KNOWN.by)
    elsewhere = replace(KNOWN, ticket="FW-9")

    await storage.write(lambda writer: writer.add_known_failure(ACME.id, second))
    await storage.write(lambda writer: writer.add_known_failure(ACME.id, KNOWN))
    await storage.write(lambda writer: writer.add_known_failure(OTHER.id, elsewhere))

    assert await rules(storage) == [KNOWN, second]
    assert await rules(storage, OTHER.id) == [elsewhere]
    assert await storage.write(lambda w: w.remove_known_failure(ACME.id, KNOWN.id)) == KNOWN
    assert await storage.write(lambda w: w.remove_known_failure(ACME.id, KNOWN.id)) is None
    assert await rules(storage) == [second]
    assert await rules(storage, OTHER.id) == [elsewhere]


async def test_the_same_rule_is_kept_once(storage: Storage) -> None:
    which = (KNOWN.test_id, KNOWN.message, KNOWN.box_key)
    again = known_failure(ACME.id, which, KNOWN.ticket, KNOWN.until, LATER, KNOWN.by)
    longer = known_failure(
        ACME.id, which, KNOWN.ticket, KNOWN.until + timedelta(days=1), NOON, KNOWN.by
    )
    await storage.write(lambda writer: writer.add_known_failure(ACME.id, KNOWN))
    await storage.write(lambda writer: writer.add_known_failure(ACME.id, longer))

    with pytest.raises(ClashError):
        await storage.write(lambda writer: writer.add_known_failure(ACME.id, again))


async def test_answers_have_another_state_with_another_rule(storage: Storage) -> None:
    async def state() -> bytes | None:
        return await storage.read(lambda reader: reader.state(ACME.id))

    before = await state()
    await storage.write(lambda writer: writer.add_known_failure(ACME.id, KNOWN))
    added = await state()
    await storage.write(lambda writer: writer.remove_known_failure(ACME.id, KNOWN.id))
    assert len({before, added, await state()}) == 3


async def test_who_made_rules_is_renamed_in_their_organization_alone(storage: Storage) -> None:
    await storage.write(lambda writer: writer.add_known_failure(ACME.id, KNOWN))
    version = await storage.read(lambda r: r.version(ACME.id))
    nobody = Actor(KNOWN.by.id, "nobody")

    await storage.write(lambda w: w.rename_rule_maker(OTHER.id, nobody))
    await storage.write(lambda w: w.rename_rule_maker(ACME.id, Actor(ACME.id, "nobody")))
    assert await rules(storage) == [KNOWN]
    assert await storage.read(lambda r: r.version(ACME.id)) == version
    await storage.write(lambda w: w.rename_rule_maker(ACME.id, nobody))
    assert await rules(storage) == [replace(KNOWN, by=nobody)]
    assert await storage.read(lambda r: r.version(ACME.id)) > version
