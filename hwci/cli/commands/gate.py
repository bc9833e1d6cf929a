# SPDX-License-Identifier: Apache-2.0
"""`hwci gate`: whether a release may go out, as an exit code. The facts are asked for in
`hwci.cli.session.release`, and the verdict is that of `hwci.analysis.gate`.
"""

import typer

from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render
from hwci.client.explained import ExitCode
from hwci.contract.gate import Requirement
from hwci.wire import limits


@connected(by_key=True)
def gate(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    json: options.Json = False,
) -> None:
    """Let a release pass only if its merges ran on real hardware: exit code 0, or 3.

    For example:

      hwci gate --days 7
    """
    from hwci.analysis.gate import verdict
    from hwci.cli.session.release import facts_of
    from hwci.cli.terminal.gate import lines

    facts = facts_of(server, server.scope_of(product, repo), days, options.now())
    decided = verdict(facts, {Requirement.CHECKED: None})
    if json:
        render.emit_json(decided)
    else:
        for line in lines(decided):
            render.write(line)
    if not decided.passed:
        raise typer.Exit(ExitCode.NOT_MET)
