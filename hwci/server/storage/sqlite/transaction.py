# SPDX-License-Identifier: Apache-2.0
"""One transaction as services see it: everything that is kept, together."""

from hwci.server.storage.sqlite.accounts import AccountRows, KeyRows
from hwci.server.storage.sqlite.audit import AuditRows
from hwci.server.storage.sqlite.boxes import BoxRows
from hwci.server.storage.sqlite.events import EventRows
from hwci.server.storage.sqlite.members import IdentityRows, InviteRows, MemberRows
from hwci.server.storage.sqlite.records import RecordRows
from hwci.server.storage.sqlite.runs import RunRows
from hwci.server.storage.sqlite.sessions import SessionRows


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
