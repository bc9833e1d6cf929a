# SPDX-License-Identifier: Apache-2.0
"""The part of the storage port for CI jobs that sign in without a secret. `ports.py` explains
transactions, and which organization a query is about.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.records import JobKey, Organization, Trust


class Trusts(Protocol):
    """Trusts and keys of jobs, for reading."""

    def trusts(self, org_id: UUID, offset: int, limit: int) -> Listing[Trust]:
        """List an organization's trusts, newest first."""

    def trusts_in(self, org_id: UUID, issuer: str) -> Sequence[Trust]:
        """Return an organization's trusts in an issuer, oldest first."""

    def is_trusted(self, issuer: str) -> bool:
        """Return whether any organization trusts an issuer."""

    def job_key(self, digest: bytes) -> tuple[JobKey, Organization] | None:
        """Return the key of a job, ended or not, by the digest of its value, and its organization;
        None if there is none, or its trust was removed.
        """


class TrustsWriter(Trusts, Protocol):
    """Trusts and keys of jobs, for writing."""

    def put_trust(self, trust: Trust) -> None:
        """Keep a trust, in place of one with the same id."""

    def remove_trust(self, org_id: UUID, trust_id: UUID) -> Trust | None:
        """Delete a trust, and return it; None if there is none."""

    def add_job_key(self, key: JobKey) -> bool:
        """Keep a new key; False if its token was exchanged before, by whichever organization."""

    def drop_job_keys(self, before: datetime, most: int) -> int:
        """Delete keys of all organizations that are not kept any more, up to a number; return how
        many.
        """
