# SPDX-License-Identifier: Apache-2.0
"""The top floor: a server put together (`composition.py`), run (`serving.py`), and operated
(`operating.py`, `operator_site.py`).
"""

from hwci.server.app.composition import create_app
from hwci.server.app.operating import check, copy_progress, migrate, operate, restore
from hwci.server.app.serving import Server, run, serving
from hwci.server.services.operator_commands import (
    BackUp,
    CommandResult,
    CreateUser,
    ListOrganizations,
    Rebuild,
    ResetPassword,
    RotateSecret,
    SetCiMetrics,
    SetUserEnabled,
)
from hwci.server.storage.opening import driver_doubt

__all__ = [
    "BackUp",
    "CommandResult",
    "CreateUser",
    "ListOrganizations",
    "Rebuild",
    "ResetPassword",
    "RotateSecret",
    "Server",
    "SetCiMetrics",
    "SetUserEnabled",
    "check",
    "copy_progress",
    "create_app",
    "driver_doubt",
    "migrate",
    "operate",
    "restore",
    "run",
    "serving",
]
