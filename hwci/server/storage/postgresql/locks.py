# SPDX-License-Identifier: Apache-2.0
"""The locks that writes take before they read, in every server alike.

A write of one organization or one person holds the lock of all, shared, then its own; any other
write, such as an operator's, holds the lock of all for itself. So what a write decides cannot be
overtaken. Writes of two do not wait for each other; one of nobody's waits for all that run, and all
that come after it wait for it. The locks end with their transaction. Entries of the audit log,
which is one chain, have a lock of their own, taken last.
"""

from hashlib import blake2b
from uuid import UUID

_ALL = "all"


def lock(name: str = _ALL, *, shared: bool = False) -> str:
    """Return the statement that takes the lock of this name, else of all, until the transaction
    ends.
    """
    return f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}({_key(name)})"


def try_lock(name: str) -> str:
    """Return the query that takes the lock of this name until the transaction ends, if it is free
    now.
    """
    return f"SELECT pg_try_advisory_xact_lock({_key(name)})"


def hold(name: str = _ALL) -> str:
    """Return the query that takes the lock of this name, else of all, until the connection ends, if
    it is free now.
    """
    return f"SELECT pg_try_advisory_lock({_key(name)})"


def let_go(name: str) -> str:
    """Return the query that ends what `hold` took."""
    return f"SELECT pg_advisory_unlock({_key(name)})"


def _key(name: str) -> int:
    return int.from_bytes(blake2b(f"hwci {name}".encode(), digest_size=8).digest(), signed=True)


def locks_of(whose: UUID | None) -> str:
    """Return the statements that take the locks of a write of an organization or a person."""
    if whose is None:
        return lock()
    return f"{lock(shared=True)}; {lock(whose.hex)}"
