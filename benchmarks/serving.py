# SPDX-License-Identifier: Apache-2.0
"""A server on a history, with what benchmarks ask of it and send to it."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from benchmarks.data import Data
from benchmarks.history import DAYS_AFTER, Body
from benchmarks.processes import Caller, Reply, Service, postgresql, service
from hwci.server.app.sweeping import DECISIONS_SECONDS
from tests.support.running import EMAIL, create_key, sign_in

WINDOW = timedelta(days=30)
ROWS = 20


@dataclass(frozen=True)
class Server:
    """A running server. `ci_key`: what jobs sign with."""

    data: Data
    process: Service
    person: Caller
    ci_key: str
    connections: ExitStack

    def job(self) -> Caller:
        """Return a connection of a CI job."""
        return self.connections.enter_context(
            closing(Caller(self.process.url, {"X-API-Key": self.ci_key}))
        )

    def page(self, known: str | None = None) -> Reply:
        """Ask for the metrics page of the last thirty days. `known`: the tag of one that is had."""
        as_of = self.data.size.end + timedelta(days=DAYS_AFTER)
        query = urlencode({"asOf": as_of.isoformat(), "days": WINDOW.days})
        return self.person.ask(f"{self.organization}/ci-metrics?{query}", known)

    def decide(self) -> None:
        """Have the failures of the page decided, and wait until that is kept: a history that was
        just made has none decided, and a server keeps it a second after the page.
        """
        self.page()
        time.sleep(2 * DECISIONS_SECONDS)

    def nothing(self) -> Reply:
        """Ask for the least that needs the same authentication."""
        return self.person.ask(self.organization)

    @property
    def organization(self) -> str:
        """The path of the organization."""
        return f"/api/orgs/{self.data.facts.org_id}"


@contextmanager
def serving(data: Data, database: str | None = None, **environment: str) -> Iterator[Server]:
    """Run a server on a history. `database`: the address of its copy, else its own file."""
    where = database or str(data.database)
    with signed_in(where, data.facts.org_id, **environment) as found, ExitStack() as connections:
        yield Server(data, found.process, found.person, found.ci_key, connections)


@contextmanager
def on_postgresql(data: Data) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Copy a history to a PostgreSQL of its own; yield its address, and what a server on it has to
    be told in its environment.
    """
    key = {"HWCI_SECRET_KEY_FILE": str(data.folder / "secret.key")}
    with postgresql(data.folder / "postgresql") as address:
        copy = ("-m", "hwci", "admin", "copy", "--from", str(data.database), "--to", address)
        subprocess.run([sys.executable, *copy], check=True, env=os.environ | key)  # noqa: S603 - ours
        yield address, key


class SignedIn(NamedTuple):
    """A running server, a person who is signed in, and a key that jobs sign with."""

    process: Service
    person: Caller
    ci_key: str


@contextmanager
def signed_in(database: str, org_id: UUID, **environment: str) -> Iterator[SignedIn]:
    """Run a server on a database that has this organization."""
    options = ("--quiet", "--port", "0", "--database", database)
    settings = {"HWCI_RATE_LIMIT": "off", "HWCI_AUTH_RATE_LIMIT": "off", **environment}
    with service("hwci", "serve", *options, **settings) as process:
        token = asyncio.run(sign_in(process.url, EMAIL))
        key = asyncio.run(create_key(process.url, org_id, token))
        with closing(Caller(process.url, {"Authorization": f"Bearer {token}"})) as person:
            yield SignedIn(process, person, key)


def encoded(body: Body) -> tuple[str, bytes]:
    """Return the path and the bytes of a body, to be sent by `POST`."""
    kind, sent = body
    return f"/api/ci/{kind}", json.dumps(sent).encode()
