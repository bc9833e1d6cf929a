# SPDX-License-Identifier: Apache-2.0
"""One transaction as services see it, over all tables."""

from hwci.server.storage.sql.accounts import AccountRows, KeyRows
from hwci.server.storage.sql.audit import AuditRows
from hwci.server.storage.sql.boxes import BoxRows
from hwci.server.storage.sql.events import EventRows
from hwci.server.storage.sql.members import IdentityRows, InviteRows, MemberRows
from hwci.server.storage.sql.records import RecordRows
from hwci.server.storage.sql.runs import RunRows
from hwci.server.storage.sql.sessions import SessionRows


class Transaction(
    AccountRows,
    SessionRows,
    MemberRows,
    IdentityRows,
    InviteRows,
    KeyRows,
    BoxRows,
    RunRows,
    EventRows,
    AuditRows,
    RecordRows,
):
    """A `Writer` over one connection; on a connection that refuses to write, a `Reader`."""
