# SPDX-License-Identifier: Apache-2.0
"""`hwci profiles`: the sign-ins that this machine keeps, one for each server, and which is used."""

import os
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from hwci.cli.session.credentials import default_credentials
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, note
from hwci.client.explained import command_error
from hwci.wire.nearest import hint

profiles = typer.Typer(no_args_is_help=True, help="Kept sign-ins: list, use.")


class _Row(BaseModel):
    """A profile, without its tokens."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)

    name: str
    url: str
    email: str
    in_use: bool


_LAYOUT = tables.Layout[_Row](
    "profiles",
    "Profiles",
    [
        tables.Column("", lambda row: "in use" if row.in_use else "", whole=True),
        tables.Column("Profile", lambda row: row.name, whole=True),
        tables.Column("Server", lambda row: row.url),
        tables.Column("Signed in as", lambda row: row.email),
    ],
    "name url email inUse",
    "No sign-in is kept: hwci login --url URL",
)


@profiles.command("list")
def list_profiles(json: options.JsonList = False, output: options.Output = None) -> None:
    """List the sign-ins that are kept, and which one is used without --url and --profile.

    For example:

      hwci profiles list
    """
    form = options.form_of(json, output)
    kept = default_credentials(os.environ)
    current = kept.current()
    rows = [
        _Row(name=name, url=one.url, email=one.email, in_use=name == current)
        for name, one in sorted(kept.profiles().items())
    ]
    emit(_LAYOUT, rows, form)


@profiles.command("use")
def use_profile(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")],
) -> None:
    """Use another sign-in from now on.

    For example:

      hwci profiles use hwci.example.org
    """
    kept = default_credentials(os.environ)
    known = kept.profiles()
    if name not in known:
        fix = "Sign in: hwci login --url URL; or name another profile: hwci profiles list"
        raise command_error(f"There is no profile {name!r}", hint(name, known) or "none", fix)
    kept.use(name)
    note(f"In use now: {known[name].email} at {known[name].url}.")
