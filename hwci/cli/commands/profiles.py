# SPDX-License-Identifier: Apache-2.0
"""`hwci profiles`: the sign-ins that this machine keeps, one for each server, and which is used."""

import os
from typing import Annotated

import typer

from hwci.cli.session.settings import kept_sign_ins
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit, note
from hwci.client.explained import command_error
from hwci.wire.nearest import hint

profiles = typer.Typer(no_args_is_help=True)


@profiles.command("list")
def list_profiles(json: options.JsonList = False, output: options.Output = None) -> None:
    """List the sign-ins that are kept, and which one is used without --url and --profile.

    For example:

      hwci profiles list
    """
    from hwci.cli.terminal.profile_list import LAYOUT, Row

    form = options.form_of(json, output)
    sign_ins = kept_sign_ins(os.environ).read()
    rows = [
        Row(name=name, url=profile.url, email=profile.email, in_use=name == sign_ins.current)
        for name, profile in sorted(sign_ins.profiles.items())
    ]
    emit(LAYOUT, rows, form)


@profiles.command("use")
def use_profile(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")],
) -> None:
    """Use another sign-in from now on.

    For example:

      hwci profiles use hwci.example.org
    """
    sign_ins = kept_sign_ins(os.environ)
    known = sign_ins.read().profiles
    if name not in known:
        fix = "Sign in: hwci login --url URL; or name another profile: hwci profiles list"
        raise command_error(f"There is no profile {name!r}", hint(name, known) or "none", fix)
    with sign_ins.changing() as file:
        file.use(name)
    note(f"In use now: {known[name].email} at {known[name].url}.")
