# SPDX-License-Identifier: Apache-2.0
"""The wheel of hwci that a server hands out (contract, "Install")."""

from collections.abc import Sequence

from hwci.wire.base import Answer


class WheelAnswer(Answer):
    """Answer of `/api/wheel`. `path`: where the server has the wheel; pip checks its hash.
    `ci_systems`: those for which the server's own `hwci init` prints a job.
    """

    version: str
    path: str
    sha256: str
    ci_systems: Sequence[str]

    def at(self, url: str) -> str:
        """Return what pip installs from the server at this address."""
        return f"{url.rstrip('/')}{self.path}#sha256={self.sha256}"
