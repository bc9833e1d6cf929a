# SPDX-License-Identifier: Apache-2.0
"""What the kept sign-ins look like in a terminal. It prints nothing."""

from hwci.cli.terminal import tables
from hwci.wire.base import Answer


class Row(Answer):
    """A profile, without its tokens."""

    name: str
    url: str
    email: str
    in_use: bool


LAYOUT = tables.Layout[Row](
    "profiles",
    "Profiles",
    [
        tables.Column("", lambda row: "in use" if row.in_use else ""),
        tables.Column("Profile", lambda row: row.name),
        tables.Column("Server", lambda row: row.url),
        tables.Column("Signed in as", lambda row: row.email),
    ],
    "name url email inUse",
    "No sign-in is kept: hwci login --url URL",
)
