# SPDX-License-Identifier: Apache-2.0
"""`hwci admin`: what the operator of a server does, at its database. Which commands there are; what
each does stands in the module that it comes from.
"""

import typer

from hwci.cli.commands.admin.accounts import (
    ci_metrics,
    create_user,
    disable_user,
    enable_user,
    reset_password,
    rotate_secret,
)
from hwci.cli.commands.admin.audit import audit
from hwci.cli.commands.admin.database import backup, check, migrate, rebuild, restore

admin = typer.Typer(
    no_args_is_help=True,
    help="Operator: CI Metrics, users, backup, restore and check, schema, keys, audit log.",
)
admin.command("ci-metrics")(ci_metrics)
admin.command("create-user")(create_user)
admin.command("reset-password")(reset_password)
admin.command("disable-user")(disable_user)
admin.command("enable-user")(enable_user)
admin.command("backup")(backup)
admin.command("restore")(restore)
admin.command("check")(check)
admin.command("migrate")(migrate)
admin.command("rebuild")(rebuild)
admin.command("rotate-secret")(rotate_secret)
admin.add_typer(audit, name="audit")
