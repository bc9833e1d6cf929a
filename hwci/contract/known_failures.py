# SPDX-License-Identifier: Apache-2.0
"""Known failures: rules that people made, and what they say of a failure (contract, "Known
failures").
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.people import Actor
from hwci.contract.shape import sent, shape


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
