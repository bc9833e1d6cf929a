# SPDX-License-Identifier: Apache-2.0
"""`hwci mcp`: the questions of `hwci.cli.agents` for an agent, over standard input and output."""

from hwci.cli.session.connection import Connection, connected
from hwci.client.explained import command_error


@connected(by_key=True)
def mcp(server: Connection) -> None:
    """Answer an agent's questions over the Model Context Protocol, read-only.

    It talks on standard input and output, and reads with HWCI_READER_KEY, or the kept sign-in: what
    that may read, an agent may ask.

    For example:

      hwci mcp --profile hwci.example.org
    """
    try:
        from hwci.cli.agents.server import served
    except ModuleNotFoundError as fault:
        if fault.name != "mcp":
            raise
        raise command_error(
            "The tools for agents are not served",
            "the package mcp is not installed",
            "Install hwci with the extra: pip install 'hwci[mcp]'",
        ) from fault
    served(server).run("stdio")
