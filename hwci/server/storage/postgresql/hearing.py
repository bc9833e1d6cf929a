# SPDX-License-Identifier: Apache-2.0
"""How servers on one database learn of each other: of events by LISTEN and NOTIFY, and by a lock
which of them leads, that is, does the housekeeping.

A server notifies its own listeners itself. When the connection that hears was lost, every
organization may have events that nobody heard of: its listeners are called for each. They read what
is new by its number, so nothing is missed and nothing comes twice. The lock is one of the
connection: it ends with it, and another server has it at its next look. A server that is older than
the database does not lead: it could not write. The connection has a session for itself: a pooler
that begins to lend it for transactions only is logged, and asked again until it does no more.
"""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from selectors import EVENT_READ, DefaultSelector
from socket import socketpair
from time import monotonic
from uuid import UUID

import psycopg

from hwci.server.clock import Clock
from hwci.server.errors import StorageError
from hwci.server.storage.listening import Listeners
from hwci.server.storage.location import Location
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.postgresql.locks import hold, let_go
from hwci.server.storage.postgresql.schema import LAST_TAKEN
from hwci.server.storage.postgresql.sessions import require_session

LOG = logging.getLogger("hwci.server")

_CHANNEL = "hwci_events"
_LEADER = "leader"
_NOW = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)"
_APART_SECONDS = 30.0
_LOOK_SECONDS = 0.5
_AGAIN_SECONDS = 1


def notify(connection: Connection, sender: UUID, org_ids: Iterable[UUID]) -> None:
    """Notify the other servers, once this transaction is committed, of new events."""
    for org_id in org_ids:
        connection.execute(f"SELECT pg_notify('{_CHANNEL}', ?)", (f"{sender.hex} {org_id.hex}",))


class Hearing:
    """A thread that hears of the events of other servers, and tells the listeners of this one."""

    def __init__(
        self, location: Location, me: UUID, listeners: Listeners, known: str, clock: Clock
    ) -> None:
        """Begin to hear. `known`: the last step of the schema that this server knows.

        Raises `psycopg.Error`.
        """
        self._location = location
        self._me = me.hex
        self._listeners = listeners
        self._known = known
        self._clock = clock
        self._is_older = False
        self._is_refused = False
        self._ended = threading.Event()
        self.leads = False
        """Whether this server leads. Two may for a moment, until a lost connection is noticed."""
        self._thread = threading.Thread(
            target=self._hear, args=(self._connect(),), name="hwci-hearing", daemon=True
        )
        self._end, self._wakes = socketpair()
        self._thread.start()

    def close(self) -> None:
        """End, at once."""
        self._ended.set()
        self._end.close()
        self._thread.join()
        self._wakes.close()

    def _connect(self) -> Connection:
        connection = Connection(self._location)
        try:
            require_session(connection, self._location)
            connection.command(f"LISTEN {_CHANNEL}")
            self._compare_clocks(connection)
        except BaseException:
            connection.close()
            raise
        self._is_refused = False
        return connection

    def _compare_clocks(self, connection: Connection) -> None:
        """Log if this server's clock is far from the database's, and so from other servers'."""
        ((now,),) = connection.rows(_NOW)
        ahead = self._clock().timestamp() - now
        if abs(ahead) > _APART_SECONDS:
            LOG.warning(
                "The clock of this server is %d seconds %s that of %s: set both right (NTP). Until"
                " then what ends by time ends early or late by that",
                abs(ahead),
                "ahead of" if ahead > 0 else "behind",
                connection.name,
            )

    def _hear(self, connection: Connection) -> None:
        heard = self._hear_on
        while True:
            with suppress(psycopg.Error), closing(connection):
                heard(connection)
            self.leads = False
            again = self._connected_again()
            if again is None:
                return
            connection, heard = again, self._catch_up

    def _connected_again(self) -> Connection | None:
        """Return a connection as soon as there is one; None at the end."""
        while not self._ended.wait(_AGAIN_SECONDS):
            with suppress(psycopg.Error):
                try:
                    return self._connect()
                except StorageError as refusal:
                    self._log_refusal(refusal)
        return None

    def _log_refusal(self, refusal: StorageError) -> None:
        """Log it once that this server hears nothing any more."""
        if not self._is_refused:
            self._is_refused = True
            LOG.critical("This server hears no event of others, and does not lead: %s", refusal)

    def _catch_up(self, connection: Connection) -> None:
        """Hear, and first call the listeners of each organization: it may have had events."""
        organizations = connection.rows("SELECT id FROM organization")
        self._listeners.notify(UUID(bytes=org_id) for (org_id,) in organizations)
        self._hear_on(connection)

    def _hear_on(self, connection: Connection) -> None:
        while not self._ended.is_set():
            self._look_at_schema(connection)
            if not self.leads and not self._is_older:
                self.leads = connection.rows(hold(_LEADER)) == [(True,)]
            for heard in self._heard(connection):
                sender, _, org_id = heard.payload.partition(" ")
                with suppress(ValueError):  # another program's
                    if sender != self._me:
                        self._listeners.notify([UUID(hex=org_id)])

    def _heard(self, connection: Connection) -> Iterator[psycopg.Notify]:
        """Yield what comes until it is time to look again, or the end."""
        until = monotonic() + _LOOK_SECONDS
        with DefaultSelector() as either:
            either.register(connection.raw, EVENT_READ)
            either.register(self._wakes, EVENT_READ)
            while not self._ended.is_set():
                yield from connection.raw.notifies(timeout=0)
                left = until - monotonic()
                if left <= 0 or not either.select(left):
                    return

    def _look_at_schema(self, connection: Connection) -> None:
        """Let another server lead, and log it once, when the database is newer than this one."""
        taken = connection.row(LAST_TAKEN)
        assert taken is not None
        if self._is_older or taken[0] <= self._known:
            return
        self._is_older = True
        if self.leads:
            self.leads = False
            connection.rows(let_go(_LEADER))
        LOG.critical(
            "A newer hwci has changed %s (step %s): this server writes nothing any more; stop it,"
            " and start the new version",
            connection.name,
            taken[0],
        )
