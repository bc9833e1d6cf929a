# SPDX-License-Identifier: Apache-2.0
"""Known failures: rules that people made, and what they say of a failure (contract, "Known
failures").
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.people import Actor
from hwci.contract.scope import TestName
from hwci.contract.shape import sent, shape
from hwci.contract.statements import Statement


@sent
class KnownFailure:
    """A rule: failures of the tests that `testId` matches, whose message has `message`, on `boxKey`
    are known by `ticket`, if they began before `until`. Null: any. A `*` in the first two stands
    for any characters.
    """

    id: UUID
    test_id: str | None
    message: str | None
    box_key: str | None
    ticket: str
    until: datetime
    created_at: datetime
    by: Actor


@shape
class KnownBy:
    """The rule by which a failure is known. `says`: the same in words."""

    id: UUID
    ticket: str
    until: datetime
    says: str


@shape
class KnownTest(TestName):
    """A test with known failures in the period, of a rule that has not ended, and how many they
    are. `says`: what its runs suggest, `statement` the same as data. `leftOut`: why it is not to be
    put into quarantine; null: it may be.
    """

    known: KnownBy
    failures: int
    statement: Statement
    says: str
    left_out: str | None
