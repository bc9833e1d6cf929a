# SPDX-License-Identifier: Apache-2.0
"""One transaction as services see it, over all tables."""

from hwci.server.storage.sql.accounts.audit import AuditRows
from hwci.server.storage.sql.accounts.boxes import BoxRows
from hwci.server.storage.sql.accounts.members import IdentityRows, InviteRows, MemberRows
from hwci.server.storage.sql.accounts.organizations import OrganizationRows
from hwci.server.storage.sql.accounts.sessions import SessionRows
from hwci.server.storage.sql.accounts.trusts import TrustRows
from hwci.server.storage.sql.accounts.users import AccountRows, KeyRows
from hwci.server.storage.sql.records import RecordRows
from hwci.server.storage.sql.runs.events import EventRows
from hwci.server.storage.sql.runs.runs import RunRows
from hwci.server.storage.sql.webhooks import WebhookRows


class Transaction(
    AccountRows,
    OrganizationRows,
    SessionRows,
    MemberRows,
    IdentityRows,
    InviteRows,
    KeyRows,
    TrustRows,
    BoxRows,
    RunRows,
    EventRows,
    AuditRows,
    RecordRows,
    WebhookRows,
):
    """A `Writer` over one connection; on a connection that refuses to write, a `Reader`."""
