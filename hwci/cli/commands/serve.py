# SPDX-License-Identifier: Apache-2.0
"""`hwci serve`: run the server until a signal stops it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hwci.cli.terminal.again import kept
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, command_error


def kept_database(param: typer.CallbackParam, value: str | None) -> str | None:
    """Keep a database that was given, to repeat it without a password."""
    if value:
        from hwci.server.storage.location import Location

        kept(param, Location(value).repeated)
    return value


Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="FILE|ADDRESS",
        callback=kept_database,
        help="File of the database, or address in PostgreSQL: postgresql://USER@HOST/NAME"
        " [HWCI_DATABASE, else hwci-data/hwci.db].",
    ),
]
TlsCert = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert",
        metavar="FILE",
        help="Certificate with its chain, in PEM: speak TLS [HWCI_TLS_CERT].",
    ),
]
TlsKey = Annotated[
    Path | None,
    typer.Option(
        "--tls-key", metavar="FILE", help="Key of the certificate, in PEM [HWCI_TLS_KEY]."
    ),
]
Drain = Annotated[
    float | None,
    typer.Option(
        "--drain",
        metavar="SECONDS",
        min=0,
        max=9_999,
        help="On a stop signal, be not ready but listen for so long [HWCI_DRAIN_SECONDS, else 0].",
    ),
]


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Port = 8080,
    database: Database = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    drain: Drain = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write no line per request on stderr.")
    ] = False,
) -> None:
    """Run the server on a database file or on PostgreSQL, until Ctrl-C.

    Each request is a line on stderr, unless --quiet. On SIGTERM or Ctrl-C the server answers what
    it has taken and ends within 10 seconds; on a second one, at once.

    For example:

      hwci serve

      hwci serve --host 0.0.0.0 --port 80 --database /var/lib/hwci/hwci.db

      hwci serve --host 0.0.0.0 --port 443 --tls-cert chain.pem --tls-key key.pem
    """
    with server_errors("The server does not start"):
        from hwci.server.app import run
        from hwci.server.settings import read_settings

        flags: dict[str, Any] = {
            "database": database,
            "tls_cert": tls_cert,
            "tls_key": tls_key,
            "drain_seconds": drain,
        }
        values = {name: value for name, value in flags.items() if value is not None}
        settings = replace(read_settings(os.environ), host=host, port=port, **values)
        run(settings, note, access_log=not quiet)


@contextmanager
def server_errors(what: str) -> Iterator[None]:
    """Explain the errors of the server, and that it is not installed; `what`: the action that
    failed. Wrong settings are wrong usage.
    """
    from hwci.server.errors import FixableError, HwciServerError, SettingsError, pip_install

    try:
        yield
    except ModuleNotFoundError as fault:
        cause = f"{fault.name} is missing: this hwci was installed without what a server needs"
        raise command_error(what, cause, f"Run: {pip_install('server')}") from fault
    except HwciServerError as fault:
        cause, fix = str(fault), "correct that, then try again"
        if isinstance(fault, FixableError):
            cause, fix = fault.cause, fault.fix
        code = ExitCode.USAGE if isinstance(fault, SettingsError) else ExitCode.FAILED
        raise command_error(what, cause, fix[:1].upper() + fix[1:], code) from fault
