# SPDX-License-Identifier: Apache-2.0
"""Whether this server can do statistics: they are an extra, which its operator installs."""

from importlib.util import find_spec

from hwci.server.errors import ConflictError

_MISSING = (
    "This server does no statistics: its operator installs them with"
    " pip install 'hwci[statistics]' and starts it again"
)


def has_statistics() -> bool:
    """Whether the extra is installed."""
    return find_spec("scipy") is not None


def require_statistics() -> None:
    """Raise `ConflictError` if the extra is not installed."""
    if not has_statistics():
        raise ConflictError(_MISSING)
