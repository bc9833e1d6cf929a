# SPDX-License-Identifier: Apache-2.0
"""Trusts on the wire: which CI jobs may sign in to an organization with the identity that their CI
system signs (contract, "CI jobs without a secret").
"""

from typing import Annotated
from uuid import UUID

from hwci.contract.ci_systems import SigningSystem
from hwci.wire.base import WORD, Address, Answer, Body, Name, NamePattern, Time


class NewTrust(Body):
    """Body of `POST …/ci-trusts`. `issuer`: who signs the tokens; without it that of the system.
    `repository`: its name in these tokens; `repository_id`: its id, without it that of the first
    job. `branch`, `environment`: only of jobs of these.
    """

    system: Annotated[SigningSystem, WORD]
    repository: Name
    issuer: Address | None = None
    repository_id: Name | None = None
    branch: NamePattern | None = None
    environment: NamePattern | None = None


class TrustAnswer(Answer):
    """A trust. `repository_id` and `owner_id`: the ids of the repository and of its owner, null
    before its first job signed in. `last_used_at`: when one did last.
    """

    id: UUID
    system: SigningSystem
    issuer: str
    repository: str
    repository_id: str | None
    owner_id: str | None
    branch: str | None
    environment: str | None
    created_at: Time
    last_used_at: Time | None
