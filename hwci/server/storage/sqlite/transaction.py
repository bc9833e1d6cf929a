# SPDX-License-Identifier: Apache-2.0
"""One transaction as services see it: accounts, keys, audit log and records together."""

from hwci.server.storage.sqlite.accounts import AccountRows, AuditRows, KeyRows
from hwci.server.storage.sqlite.records import RecordRows


class Transaction(AccountRows, KeyRows, AuditRows, RecordRows):
    """A `Writer` over one connection; on a connection that refuses to write, a `Reader`."""
