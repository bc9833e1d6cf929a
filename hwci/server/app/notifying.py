# SPDX-License-Identifier: Apache-2.0
"""Tells systemd, when it asks to be told, that the server is ready or stops."""

import os
import socket
from contextlib import suppress

READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(state: str) -> None:
    """Say it at the socket that `NOTIFY_SOCKET` names, if any; who does not listen misses it."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    if path.startswith("@"):  # a name without a file
        path = "\0" + path[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.sendto(state.encode(), path)
