# SPDX-License-Identifier: Apache-2.0
"""`hwci admin rotate-secret`: another key for the tokens of the service."""

from typing import Annotated

import typer

from hwci.cli.commands.admin.asking import ask, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.terminal.render import note


def rotate_secret(
    drop_former: Annotated[
        bool, typer.Option("--now", help="Refuse at once what the former key signed.")
    ] = False,
    database: Database = None,
) -> None:
    """Sign access tokens with a new key, at once also while the server runs.

    Tokens of the former key are accepted until they end, 15 minutes at most, unless --now. Nobody
    has to sign in again: a sign-in renews itself.

    For example:

      hwci admin rotate-secret

      hwci admin rotate-secret --now
    """
    with operator_errors("The signing key was not changed", "Change the file as said above"):
        from hwci.server.app import RotateSecret

        ask(database, RotateSecret(drop_former=drop_former))
    former = "ended" if drop_former else "are accepted until they end, 15 minutes at most"
    note(f"A new key signs access tokens; those of the former {former}.")
