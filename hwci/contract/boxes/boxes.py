# SPDX-License-Identifier: Apache-2.0
"""Boxes, and notes about them (contract, "Boxes"). Their keys are not here."""

from datetime import datetime
from uuid import UUID

from hwci.contract.people import Actor
from hwci.contract.shape import Open, sent, shape
from hwci.contract.vocabulary import BoxStatus


@shape
class Box:
    """A box of the list. `last_report_at`: the latest start among the reports of its name. One that
    was never created has no id and no time of its creation.
    """

    id: UUID | None
    name: str
    status: Open[BoxStatus]
    last_seen_at: datetime | None
    last_report_at: datetime | None
    created_at: datetime | None


@sent
class BoxNote:
    """What a person did to the box of this name, and when. It stays when the box is removed."""

    id: UUID
    box_key: str
    at: datetime
    text: str
    by: Actor
