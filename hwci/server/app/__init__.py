# SPDX-License-Identifier: Apache-2.0
"""The top floor: a server put together (`composition.py`), run (`serving.py`), and operated
(`operating.py`).
"""

from hwci.server.app.composition import create_app
from hwci.server.app.operating import operate
from hwci.server.app.serving import Server, run, serving
from hwci.server.services.operator import CommandResult, CreateUser, SetCiMetrics

__all__ = [
    "CommandResult",
    "CreateUser",
    "Server",
    "SetCiMetrics",
    "create_app",
    "operate",
    "run",
    "serving",
]
