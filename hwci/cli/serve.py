# SPDX-License-Identifier: Apache-2.0
"""`hwci serve`: run the server, until it is told to stop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer

from hwci.cli.failing import CommandError, Failing
from hwci.cli.render import note

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="FILE",
        help="File of the database [HWCI_DATABASE, else hwci-data/hwci.db].",
        show_default=False,
    ),
]


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Port = 8080,
    database: Database = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write no line per request on stderr.")
    ] = False,
) -> None:
    """Run the server on one database file, until Ctrl-C.

    Each request is a line on stderr, unless --quiet.

    For example:

      hwci serve

      hwci serve --host 0.0.0.0 --port 80 --database /var/lib/hwci/hwci.db
    """
    with server_errors():
        from hwci.server.app import run
        from hwci.server.settings import read_settings

        settings = replace(read_settings(os.environ), host=host, port=port)
        if database is not None:
            settings = replace(settings, database=database)
        run(settings, note, access_log=not quiet)


@contextmanager
def server_errors() -> Iterator[None]:
    """Let errors of the server pass as errors of the command: one line that says it all."""
    from hwci.server.errors import HwciServerError

    try:
        yield
    except HwciServerError as fault:
        raise CommandError(Failing(str(fault))) from fault
