# SPDX-License-Identifier: Apache-2.0
"""All services of one server, made from what they need. It decides nothing else."""

from dataclasses import dataclass

from hwci.server.clock import Clock
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import AccessTokens
from hwci.server.services.access import Access
from hwci.server.services.accounts import Accounts
from hwci.server.services.audit import AuditLog
from hwci.server.services.ci_keys import CiKeys
from hwci.server.services.health import Health
from hwci.server.services.ingest import Ingest
from hwci.server.services.metrics import Metrics
from hwci.server.services.organizations import Organizations
from hwci.server.services.reviews import Reviews
from hwci.server.settings import Registration
from hwci.server.storage.ports import Storage


@dataclass(frozen=True, slots=True)
class Services:
    """What handlers may call."""

    access: Access
    accounts: Accounts
    audit: AuditLog
    ci_keys: CiKeys
    health: Health
    ingest: Ingest
    metrics: Metrics
    organizations: Organizations
    reviews: Reviews


def make_services(
    storage: Storage, clock: Clock, passwords: Passwords, key: bytes, policy: Registration
) -> Services:
    """Wire the services together."""
    tokens = AccessTokens(key, clock)
    return Services(
        access=Access(storage, tokens),
        accounts=Accounts(storage, clock, passwords, tokens, policy),
        audit=AuditLog(storage),
        ci_keys=CiKeys(storage, clock),
        health=Health(storage),
        ingest=Ingest(storage, clock),
        metrics=Metrics(storage, clock),
        organizations=Organizations(storage, clock),
        reviews=Reviews(storage, clock),
    )
