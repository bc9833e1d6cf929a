# SPDX-License-Identifier: Apache-2.0
"""What a reviewer sends about a failure (contract, "CI metrics")."""

from hwci.wire.base import Address, Body, Note


class ReviewNote(Body):
    """Body of Confirm, Dismiss and Reset: why, and the address of an issue. It may be left out."""

    note: Note | None = None
    issue: Address | None = None
