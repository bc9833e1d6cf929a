# SPDX-License-Identifier: Apache-2.0
"""`hwci admin ci-metrics` and `hwci admin rebuild`: what the operator does for an organization."""

from enum import StrEnum
from functools import partial
from typing import Annotated
from uuid import UUID

import typer

from hwci.cli.commands.admin.asking import ask, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.terminal.render import note, telling

CHECK_ID = "Check the id, and the --database"


class Switch(StrEnum):
    """What can be done to CI Metrics of an organization."""

    ENABLE = "enable"
    DISABLE = "disable"


def ci_metrics(
    switch: Annotated[Switch, typer.Argument(help="enable or disable.")],
    org_id: Annotated[UUID, typer.Argument(metavar="ORG_ID", help="Id of the organization.")],
    database: Database = None,
) -> None:
    """Turn CI Metrics on or off for an organization, also while the server runs.

    For example:

      hwci admin ci-metrics enable 7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52
    """
    with operator_errors("CI Metrics was not switched", CHECK_ID):
        from hwci.server.app import SetCiMetrics

        enabled = switch is Switch.ENABLE
        ask(database, SetCiMetrics(org_id=org_id, enabled=enabled))
    note(f"CI Metrics is {'on' if enabled else 'off'} for organization {org_id}.")


def rebuild(
    org_id: Annotated[
        UUID | None,
        typer.Argument(metavar="[ORG_ID]", help="One organization [all].", show_default=False),
    ] = None,
    database: Database = None,
) -> None:
    """Compute everything that is derived from run reports anew, also while the server runs.

    Reports and reviews stay as they are. While an organization is computed, new reports wait.

    For example:

      hwci admin rebuild

      hwci admin rebuild 7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52
    """
    with operator_errors("The organization was not computed anew", CHECK_ID):
        from hwci.server.app import ListOrganizations, Rebuild

        org_ids = [org_id] if org_id else ask(database, ListOrganizations()).org_ids or ()
        for number, one in enumerate(org_ids, 1):
            place = f"{number} of {len(org_ids)}: organization {one}"
            with telling(partial(str, place)):
                ask(database, Rebuild(org_id=one))
            note(f"{place} is computed anew.")
    if not org_ids:
        note("There is no organization yet.")
