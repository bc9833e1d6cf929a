# SPDX-License-Identifier: Apache-2.0
"""The server as a process: how many files and connections it may have open, what it
reports to systemd, and how it stops.
"""

import asyncio
import logging
import os
import resource
import signal
import socket
import threading
from contextlib import suppress

LOG = logging.getLogger("hwci.server")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOP_SECONDS = 9.0
"""An orderly stop takes less (`http/connections`), unless a thread does not end."""


class Stop:
    """Stops the process on SIGINT or SIGTERM, within `drain_seconds` and `STOP_SECONDS`; at once on
    a second one. What is acknowledged is on the disk by then.
    """

    def __init__(self, drain_seconds: float) -> None:
        self.requested = asyncio.Event()
        self._last_resort = threading.Timer(drain_seconds + STOP_SECONDS, _end)
        self._last_resort.daemon = True

    def listen(self) -> None:
        """Start to handle signals: one sets `requested`, and the process stops in time."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._request)

    def done(self) -> None:
        """Note that everything has ended by itself."""
        self._last_resort.cancel()

    def _request(self) -> None:
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        self._last_resort.start()
        self.requested.set()


def _end() -> None:
    LOG.error("The server stops although some work has not ended; nothing acknowledged is lost")
    os._exit(0)  # threads that do not end would be waited for


FILES_MOST = 65_536
CONNECTIONS_MOST = 4_096
"""Connections of a server; fewer where the system allows few open files. More would use more
memory than the server should.
"""
KEPT = 256
"""Descriptors kept for the database, its backup, the log, operators and other services, as without
them the server could not even read its database; at most half of all.
"""


def raise_limit() -> None:
    """Raise the limit of descriptors to what the system allows, up to `FILES_MOST`."""
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


READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(state: str) -> None:
    """Send a state to systemd, at the socket that `NOTIFY_SOCKET` names, if any."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    if path.startswith("@"):  # a name without a file
        path = "\0" + path[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.sendto(state.encode(), path)
