# SPDX-License-Identifier: Apache-2.0
"""How many files and connections the process may have open, and how many of them are connections.

A process without a free file descriptor can neither answer nor read its database: a part of them is
kept from connections.
"""

import resource
from contextlib import suppress

FILES_MOST = 65_536
CONNECTIONS_MOST = 4_096
"""More would hold more memory than the server should."""
KEPT = 256
"""Descriptors for the database, its backup, the log, operators and other services; of a process
that may have few, half.
"""


def raise_limit() -> None:
    """Take as many descriptors as the system allows the process, within reason."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_MOST if hard == resource.RLIM_INFINITY else min(hard, FILES_MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections_most() -> int:
    """Return how many connections the process may hold."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS_MOST
    return min(files - min(KEPT, files // 2), CONNECTIONS_MOST)
