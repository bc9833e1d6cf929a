# SPDX-License-Identifier: Apache-2.0
"""Who did something, as answers name them."""

from uuid import UUID

from hwci.contract.shape import sent


@sent
class Actor:
    """The person who did something."""

    id: UUID
    name: str
