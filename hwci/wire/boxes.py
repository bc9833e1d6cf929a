# SPDX-License-Identifier: Apache-2.0
"""Boxes on the wire: their list, how a box comes by its key, and notes about them (contract,
"Boxes").
"""

from uuid import UUID

from hwci.wire.accounts import HeldToken, Secret
from hwci.wire.base import Answer, Body, Name, Note, Time


class NewBox(Body):
    """Body of `POST …/boxes`."""

    name: Name


class BoxChange(Body):
    """Body of `PATCH …/boxes/{boxId}`."""

    name: Name


class BoxInstallAnswer(Answer):
    """The only answer that ever holds the install token, which works once."""

    id: UUID
    name: str
    install_token: Secret
    expires_at: Time


class InstallBox(Body):
    """Body of `POST /api/boxes/install`, sent by the box."""

    install_token: HeldToken


class InstalledBox(Answer):
    """The only answer that ever holds the box's key."""

    box_id: UUID
    name: str
    org_id: UUID
    api_key: Secret


class NewBoxNote(Body):
    """Body of `POST …/box-notes`. `at`: when it was done; now, if left out."""

    box_key: Name
    text: Note
    at: Time | None = None
