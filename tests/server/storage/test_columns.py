# SPDX-License-Identifier: Apache-2.0
"""The fields of a value are the columns of its row, and the row is the value again."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import pytest

from hwci.contract.vocabulary import Role
from hwci.engine.facts import Part, StoredReview
from hwci.server.storage.records import Box, Invite, Membership, OpenSession, SignedIn
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of, optional
from tests.server.storage.examples import ACME, ADA, BOX, INVITE, NOON, REVIEW, SESSION, SET_UP

MEMBER = Membership(ACME, Role.OWNER, NOON)


@pytest.mark.parametrize(
    "value",
    [
        ACME,
        ADA,
        BOX,
        replace(BOX, last_seen_at=NOON, key_digest=None),
        OpenSession(SESSION, NOON),
        SignedIn(SESSION, ADA, MEMBER),
        SignedIn(SESSION, ADA, None),
        INVITE,
        SET_UP,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_row_is_read_back_as_the_value_that_it_was_made_of(value: object) -> None:
    columns = columns_of(type(value))

    row = columns.row(value)

    assert columns.read(row) == value
    assert len(row) == len(columns.names)
    assert all(part is None or isinstance(part, str | bytes | int) for part in row)


def test_fields_of_fields_are_columns_in_their_order() -> None:
    invite = columns_of(Invite)

    assert ", ".join(invite.names) == (
        "id, digest, org_id, email_key, role, inviter_id, created_at, expires_at, used_at"
    )
    assert columns_of(Part).of("r") == "r.run_id, r.part, r.parts"
    assert columns_of(Box).named(BOX)["created_at"] == codec.to_micros(NOON)


def test_what_is_kept_elsewhere_is_no_column_and_is_given_by_name() -> None:
    columns = columns_of(StoredReview, elsewhere=("number",))

    assert "number" not in columns.names
    assert columns.read(columns.row(REVIEW), number=7) == replace(REVIEW, number=7)


@dataclass(frozen=True)
class Lent:
    """A value whose names and types do not say all of its columns."""

    box: UUID
    shas: tuple[str, ...]
    until: datetime | None
    part: Part | None = None


LENT = columns_of(
    Lent,
    shas=column("packed", " ".join, lambda text: tuple(text.split())),
    part=optional(columns_of(Part, run_id=column("part_run_id"))),
)


@pytest.mark.parametrize("part", [None, Part(7, 1, 2)])
def test_a_field_may_have_columns_of_its_own(part: Part | None) -> None:
    lent = Lent(BOX.id, ("a", "b"), None, part)

    assert LENT.names == ("box", "packed", "until", "part_run_id", "part", "parts")
    assert LENT.named(lent)["packed"] == "a b"
    assert LENT.read(LENT.row(lent)) == lent


def test_several_values_are_read_from_one_row_one_after_another() -> None:
    box, part = columns_of(Box), columns_of(Part)
    row = iter((*box.row(BOX), *part.row(Part(7, 1, 2)), "left"))

    assert (box.read(row), part.read(row)) == (BOX, Part(7, 1, 2))
    assert list(row) == ["left"]
