# SPDX-License-Identifier: Apache-2.0
"""`hwci demo`: a server on an embedded database with ninety days of believable history, kept as if
a CI had sent it, and its benches known as boxes, online as long as it serves. What happened in
those days is decided in `hwci.demo`.
"""

from __future__ import annotations

import shlex
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from hwci.cli.commands.metrics import ask
from hwci.cli.commands.serve import Port, server_errors
from hwci.cli.terminal.metrics_page import Scope, show
from hwci.cli.terminal.options import now
from hwci.cli.terminal.render import Format, note, progress, write
from hwci.client.explained import command_error, explained
from hwci.program import way_to_hwci

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from hwci.client import Client
    from hwci.server.settings import Settings

EMAIL = "demo@example.org"
ORGANIZATION = "Acme Sensors"
DAYS = 90
DATABASE = "hwci.db"
HEARTBEAT_SECONDS = 60.0


class Account(NamedTuple):
    """Who may sign in to the demo."""

    password: str
    org_id: UUID


class Keys(NamedTuple):
    """What CI and the boxes of the demo sign with."""

    ci: str
    boxes: Sequence[str]


def demo(
    *,
    port: Port = 8080,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Keep the database here [a temporary folder]."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--exit", help="Go on serving, or leave after printing.")
    ] = True,
) -> None:
    """Show ninety days of sample data, with a server of its own.

    Serves until Ctrl-C. Without --dir, nothing of it is kept.

    For example:

      hwci demo

      hwci demo --port 0 --exit
    """
    with (
        server_errors("The demo does not start"),
        _database(folder) as database,
        ExitStack() as unmade,
    ):
        import asyncio

        from hwci.server.app import require_port
        from hwci.server.settings import Settings

        # One person's server, which has ninety days of reports to take.
        settings = Settings(
            database=str(database), port=port, rate_limit="off", auth_rate_limit="off"
        )
        asyncio.run(require_port(settings))
        unmade.callback(_remove_all_but, _files(database), database)
        account = _prepare(settings)
        with _serving(settings) as url, explained("The demo broke off"):
            keys = _furnish(url, account)
            unmade.pop_all()
            if keep:
                _introduce(url, account, keys.ci)
                _serve_until_signal(url, keys.boxes)
        if not keep:
            _show_end(folder, account)


@contextmanager
def _database(folder: Path | None) -> Iterator[Path]:
    import tempfile

    if folder is None:
        with tempfile.TemporaryDirectory(prefix="hwci-demo-") as temporary:
            yield Path(temporary) / DATABASE
        return
    database = folder / DATABASE
    if database.exists():
        raise command_error(
            "The demo needs a folder of its own",
            f"{database} exists",
            f"Serve it with: hwci serve --database {database}, or use another --dir",
        )
    folder.mkdir(parents=True, exist_ok=True)
    yield database


def _files(database: Path) -> set[Path]:
    return set(database.parent.glob(f"{database.name}*"))


def _remove_all_but(before: set[Path], database: Path) -> None:
    """Remove half a demo: its password was not shown, and it would stand in the way of the next."""
    for path in _files(database) - before:
        path.unlink()


def _prepare(settings: Settings) -> Account:
    """Create the user, the organization and its history, before the server runs."""
    import secrets

    from hwci.demo.history import history
    from hwci.server.app import CreateUser, SetCiMetrics, fill, operate

    password = secrets.token_hex(8)  # no "-" first, which a shell takes for a flag
    user = CreateUser(email=EMAIL, password=password, name="Demo", organization=ORGANIZATION)
    org_id = operate(settings.database, user, may_create=True).org_id
    assert org_id is not None
    operate(settings.database, SetCiMetrics(org_id=org_id, enabled=True))
    with progress(lambda: f"Making {DAYS} days of history …"):
        fill(settings.database, org_id, history(now(), days=DAYS))
    return Account(password, org_id)


@contextmanager
def _serving(settings: Settings) -> Iterator[str]:
    """Run the server in a thread; yield its address."""
    import asyncio
    import threading
    from concurrent.futures import Future

    from hwci.server.app import serving

    address: Future[str] = Future()
    loop: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        loop.set_result((asyncio.get_running_loop(), stop))
        try:
            async with serving(settings) as server:
                address.set_result(server.url)
                await stop.wait()
        except BaseException as fault:
            if address.done():
                raise
            address.set_exception(fault)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="hwci-demo")
    thread.start()
    try:
        yield address.result()
    finally:
        running, stop = loop.result()
        if address.exception() is None:
            running.call_soon_threadsafe(stop.set)
        thread.join()


def _furnish(url: str, account: Account) -> Keys:
    """Make a key, review some of the history, install the boxes, and print what came of it."""
    from hwci.client import Client, calls

    with Client(url) as client:
        token = client.send(calls.login(EMAIL, account.password)).access_token
    with Client(url, token=token) as client:
        key = client.send(calls.create_ci_key(account.org_id, "Demo CI")).api_key
        _review(client, account.org_id)
        boxes = _installed(client, account.org_id)
        overview = ask(client, account.org_id, Scope(DAYS), limit=5)
    _send_heartbeats(url, boxes)
    show(overview, Format.TABLE, url)
    return Keys(key, boxes)


def _review(client: Client, org_id: UUID) -> None:
    """Review two failures as an admin, so that there are some to look at."""
    from hwci.client import calls

    others = client.send(calls.other_failures(org_id, days=DAYS)).items
    bugs = client.send(calls.real_bugs(org_id, days=DAYS)).items
    for failure in [row for row in others if row.failure_class == "ambiguous"][:1]:
        client.send(calls.confirm_failure(org_id, failure.id))
    for failure in bugs[-1:]:
        client.send(calls.dismiss_failure(org_id, failure.id))


def _installed(client: Client, org_id: UUID) -> list[str]:
    from hwci.client import calls
    from hwci.demo.project import BOXES

    tokens = [client.send(calls.create_box(org_id, name)).install_token for name in BOXES]
    return [client.send(calls.install_box(token)).api_key for token in tokens]


def _send_heartbeats(url: str, boxes: Sequence[str]) -> None:
    from hwci.client import Client, calls

    for key in boxes:
        with Client(url, box_key=key) as box:
            box.send(calls.heartbeat())


def _introduce(url: str, account: Account, key: str) -> None:
    for line in (
        "",
        f"Server    {url}",
        f"Sign-in   {EMAIL}, password {account.password}",
        "",
        "Try, in another terminal:",
        *(f"  {line}" for line in way_to_hwci()),
        f"  echo {account.password} | hwci login --url {url} --email {EMAIL} --password-stdin",
        f"  hwci metrics --days {DAYS}",
        f"  hwci failures list --days {DAYS} --label pending",
        f"  hwci metrics --days {DAYS} --table real-bugs",
        "And from CI:",
        f"  export HWCI_URL={url} HWCI_CI_KEY={key}",
        "  hwci report-run --help",
        "",
    ):
        write(line)


def _show_end(folder: Path | None, account: Account) -> None:
    """Print how to start a server, as that of the demo has ended."""
    write()
    if folder is None:
        write("This server has ended, and nothing of it is kept. One to look around in: hwci demo")
        return
    write("This server has ended. Serve what it kept:")
    write(f"  {shlex.join(['hwci', 'serve', '--database', str(folder / DATABASE)])}")
    write(f"Sign-in   {EMAIL}, password {account.password}")


def _serve_until_signal(url: str, boxes: Sequence[str]) -> None:
    import signal
    import threading

    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    note("Serving until Ctrl-C.")
    while not end.wait(HEARTBEAT_SECONDS):
        _send_heartbeats(url, boxes)
