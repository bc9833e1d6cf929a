# SPDX-License-Identifier: Apache-2.0
"""The top layer: a server put together (`composition.py`), run (`serving.py`), and operated
(`operating.py`, `operator_site.py`).
"""

from hwci.server.app.composition import create_app
from hwci.server.app.operating import (
    check,
    copy,
    copy_progress,
    fill,
    migrate,
    operate,
    restore,
)
from hwci.server.app.serving import Server, require_port, run, serving
from hwci.server.services.operator.audit_chain import AuditReport
from hwci.server.services.operator.commands import (
    AddOwner,
    BackUp,
    BeginImport,
    CommandResult,
    CreateUser,
    EraseUser,
    Export,
    FindUser,
    KeepSent,
    ListOrganizations,
    ListUsage,
    PurgeReplaced,
    Rebuild,
    ResetPassword,
    RotateSecret,
    SetCiMetrics,
    SetUserEnabled,
    VerifyAudit,
    Vouch,
)
from hwci.server.services.transfer.importing import in_pieces, open_source
from hwci.server.storage.opening import driver_doubt

__all__ = [
    "AddOwner",
    "AuditReport",
    "BackUp",
    "BeginImport",
    "CommandResult",
    "CreateUser",
    "EraseUser",
    "Export",
    "FindUser",
    "KeepSent",
    "ListOrganizations",
    "ListUsage",
    "PurgeReplaced",
    "Rebuild",
    "ResetPassword",
    "RotateSecret",
    "Server",
    "SetCiMetrics",
    "SetUserEnabled",
    "VerifyAudit",
    "Vouch",
    "check",
    "copy",
    "copy_progress",
    "create_app",
    "driver_doubt",
    "fill",
    "in_pieces",
    "migrate",
    "open_source",
    "operate",
    "require_port",
    "restore",
    "run",
    "serving",
]
