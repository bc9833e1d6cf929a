# SPDX-License-Identifier: Apache-2.0
"""A server's life: open the database, listen, answer, finish accepted requests, close."""

import asyncio
import errno
import gc
import shlex
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from ssl import SSLContext
from urllib.parse import urlsplit

from hwci.program import this_program
from hwci.said import counted
from hwci.server.app.composition import create_app, key_file, make_signer
from hwci.server.app.operating import missing_steps_of, open_database
from hwci.server.app.operator_site import operator_site
from hwci.server.app.process import (
    READY,
    STOPPING,
    Stop,
    connections_most,
    notify,
    raise_limit,
)
from hwci.server.app.sweeping import reading
from hwci.server.app.tls import tls_context
from hwci.server.clock import Clock, system_clock
from hwci.server.errors import ListenError
from hwci.server.http.connections.access_log import log_requests
from hwci.server.http.connections.listener import Places, bound
from hwci.server.http.connections.runner import SpecRunner, require_hardened
from hwci.server.memory import give_memory_back
from hwci.server.security.secret_key import KeyFile
from hwci.server.services.operator.operator import Secret
from hwci.server.services.people.invitations import new_set_up_token
from hwci.server.services.wheels import Wheels
from hwci.server.settings import DEFAULTS, Settings
from hwci.server.storage.location import MEMORY, Location
from hwci.server.storage.opening import driver_doubt
from hwci.server.storage.ports import Storage
from hwci.version import build_version

# A page of thousands of failures makes ten times as many small values, none of them in a cycle.
# Python's search for cycles after every 700 would take a twentieth of the page's time (ADR 0008).
_VALUES_PER_COLLECTION = 10_000
USUAL_URL = f"http://{DEFAULTS.host}:{DEFAULTS.port}"
"""Where a command looks for a server, if nothing names one."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `set_up_token` registers the first user; None if there is a user."""

    url: str
    wheels: Wheels
    set_up_token: str | None = field(default=None, repr=False)


@asynccontextmanager
async def serving(
    settings: Settings, *, clock: Clock = system_clock, storage: Storage | None = None
) -> AsyncIterator[Server]:
    """Serve while the block runs; then finish accepted requests, and close.

    `storage`: one that the caller closes; else it is opened by the settings.

    Raises:
        StorageError: the database cannot be opened, or is damaged.
        SettingsError: the secret key cannot be used, or the files for TLS.
        ListenError: the address is in use, or does not belong to this machine.
    """
    require_hardened()
    tls = tls_context(settings)
    async with AsyncExitStack() as stack:
        socket = wheel_folder = None
        if storage is None:
            location = Location(
                settings.database, settings.secret_key_file, settings.database_session
            )
            storage = open_database(location)
            stack.push_async_callback(storage.close)
            socket = location.socket
            wheel_folder = location.wheels
        wheels = stack.enter_context(closing(Wheels(wheel_folder)))
        set_up_token = await new_set_up_token(storage, clock)
        await storage.look_over()
        signer = make_signer(settings, clock)
        if socket is not None:
            secret = Secret(key_file(settings), signer)
            site = operator_site(socket, storage, clock, secret, settings)
            await stack.enter_async_context(site)
        https = tls is not None or (settings.base_url or "").startswith("https:")
        app = create_app(storage, settings, clock, signer, wheels)
        if (file := key_file(settings)) is not None:
            app.cleanup_ctx.append(reading(KeyFile(file, signer)))
        runner = SpecRunner(app, https=https)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        url = await _listen(runner, settings, tls)
        stack.push_async_callback(_drain, runner, settings.drain_seconds)
        yield Server(url, wheels, set_up_token)


async def require_port(settings: Settings) -> None:
    """Raise `ListenError` if the address is not free, before work that would be wasted."""
    with _listen_errors(settings):
        for socket in await bound(settings.host, settings.port):
            socket.close()


async def _listen(runner: SpecRunner, settings: Settings, tls: SSLContext | None) -> str:
    places = Places(connections_most(), settings.trusted_proxies)
    with _listen_errors(settings):
        return await runner.listen(settings.host, settings.port, places, tls)


@contextmanager
def _listen_errors(settings: Settings) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise ListenError(
            f"Cannot listen on {settings.host} port {settings.port}: {fault.strerror}",
            f"choose another port, such as --port {settings.port + 1}"
            if fault.errno == errno.EADDRINUSE
            else "choose another address or port: --host, --port",
        ) from fault


async def _drain(runner: SpecRunner, seconds: float) -> None:
    """Report not ready, but listen, until load balancers have noticed."""
    runner.begin_to_leave()
    await asyncio.sleep(seconds)


def run(settings: Settings, announce: Callable[[str], None], *, access_log: bool = True) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the lines that say where, and how to begin.

    `access_log`: write a line per request to stderr. Raises as `serving`.
    """
    if access_log:
        log_requests()
    raise_limit()
    gc.set_threshold(_VALUES_PER_COLLECTION)
    give_memory_back()
    stop = Stop(settings.drain_seconds)
    try:
        asyncio.run(_run(settings, announce, stop))
    finally:
        stop.done()


def _announce_beginning(
    settings: Settings, server: Server, announce: Callable[[str], None]
) -> None:
    """Tell how a person begins: the first one, or anybody in another shell."""
    url = settings.base_url or _reached(server.url)
    in_memory = settings.database == MEMORY  # no command reaches it
    if server.set_up_token is None:
        if not in_memory:
            _announce_line(
                "In another shell, this signs you in and makes a key", settings, url, announce
            )
        return
    link = f"{url}/setup#{server.set_up_token}"
    if url not in {settings.base_url, server.url}:
        announce(
            f"{url} works on this machine only; from others use its host name, and set"
            " HWCI_BASE_URL to that address"
        )
    if in_memory:
        announce(f"There is no user yet. Register the first one in a browser: {link}")
        return
    first = "There is no user yet. In another shell, this makes all that a first report needs"
    _announce_line(first, settings, url, announce)
    announce(
        "Or create the first user alone: hwci admin create-user --email EMAIL --organization NAME"
        f" --database {shlex.quote(Location(settings.database).repeated)}"
    )
    announce(f"or in a browser, within 24 hours: {link}")


def _announce_line(
    what: str, settings: Settings, url: str, announce: Callable[[str], None]
) -> None:
    """Announce what a line does, and the line, which a shell gets address and key from."""
    file = Location(settings.database).file
    at = f" --database {shlex.quote(str(file.absolute()))}" if file else ""
    to = "" if url == USUAL_URL else f" --url {shlex.quote(url)}"
    set_so = "" if file else " with HWCI_DATABASE set as here"
    announce(f"{what}; paste it in the repository of your firmware{set_so}:")
    announce(f'eval "$({this_program()} admin quick-start{to}{at})"')


def _reached(url: str) -> str:
    """Return a URL for the server's own machine: "every address" is not one to connect to."""
    host = urlsplit(url).hostname or ""
    if not ip_address(host).is_unspecified:
        return url
    return url.replace("[::]" if ":" in host else host, "[::1]" if ":" in host else "127.0.0.1", 1)


async def _run(settings: Settings, announce: Callable[[str], None], stop: Stop) -> None:
    stop.listen()
    location = Location(settings.database)
    steps = await asyncio.to_thread(missing_steps_of, location)
    async with serving(settings) as server:
        announce(
            f"hwci serves {server.url} from {location.shown}; Ctrl-C stops it."
            f" Version {build_version()}"
        )
        if steps:
            announce(f"Took {counted(len(steps), 'step')} of the schema, up to {steps[-1]}")
        if location.file is not None and (doubt := driver_doubt()):
            announce(doubt)
        _announce_beginning(settings, server, announce)
        notify(READY)
        await server.wheels.prepare()
        await stop.requested.wait()
        notify(STOPPING)
