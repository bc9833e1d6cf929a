# SPDX-License-Identifier: Apache-2.0
"""Which lists there are, and by what each can be narrowed: by those of box, branch, commit and
product that its rows can answer (ADR 0015); the tables of `hwci metrics` have theirs beside their
layout. Every list takes `--json`. This module is data; a test walks all commands and compares.
"""

from collections.abc import Mapping, Sequence

from hwci.cli.terminal.tables import TableName

NARROWING = ("box", "branch", "sha", "product")
"""The flags that narrow a list, in the order of its help."""
_ALL = "box branch sha product"

LISTS: Mapping[str, str] = {
    "failures list": _ALL,
    "failures gaps": "product",
    "known list": "",
    "incidents list": _ALL,
    "tests list": _ALL,
    "tests show": "box product",
    "runs list": _ALL,
    "bisect status": "box product",
    "commits show": "product",
    "merges list": _ALL,
    "merges unchecked": _ALL,
    "merges plan": _ALL,
    "metrics": "product",
    **{f"metrics --table {table}": table.flags for table in TableName},
    "trends": "product",
    "boxes list": _ALL,
    "boxes health": "box branch product",
    "boxes show": "branch product",
    "boxes notes": "",
    "products": "product",
    "suite-config list": "product",
    "orgs list": "",
    "orgs audit-log": "",
    "members list": "",
    "members invited": "",
    "invitations list": "",
    "keys list": "",
    "trusts list": "",
    "webhooks list": "",
    "webhooks deliveries": "",
    "sessions list": "",
    "profiles list": "",
    "spool list": "",
}
"""The flags of each list, by its command. The box of `boxes show` and `boxes notes` is their
argument.
"""


def flags_of(command: str) -> Sequence[str]:
    """Return the flags that narrow a list."""
    return LISTS[command].split()
