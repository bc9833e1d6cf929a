# SPDX-License-Identifier: Apache-2.0
"""The chain of the audit log, one for all organizations: the `link` of a row is a digest of its
content and of the link before. So the link of the last row, noted outside the database, proves all
rows up to it.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

BEFORE_ALL = -(2**63)
"""A number before that of any row, even of one inserted before the first."""


class AuditRow(NamedTuple):
    """An entry in the chain. `content`: its other columns in their order, first its organization.
    Text is read as bytes: what another program wrote need not be text.
    """

    number: int
    content: Sequence[bytes | str | int]
    link: bytes


def link_of(before: bytes, number: int, content: Sequence[bytes | str | int]) -> bytes:
    """Return the link of a row: a digest of each part with its length, so that borders count."""
    digest = hashlib.sha256()
    for part in (before, number, *content):
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
