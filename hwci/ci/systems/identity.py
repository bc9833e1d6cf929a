# SPDX-License-Identifier: Apache-2.0
"""The identity of a job: a token that its CI system signs, made for one server (contract, "CI jobs
without a secret"). Where a job gets one is part of the description of its system.
"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hwci.client.errors import JobTokenError

_SECONDS = 20

ID_TOKEN = "HWCI_ID_TOKEN"
"""The variable in which a configuration hands a token over, where a job cannot ask for one."""


@dataclass(frozen=True, slots=True)
class Identity:
    """How a job gets a token. `needs`: the variables that it has where it may; `grant`: what gives
    it these; `token` returns one for an audience, or raises JobTokenError.
    """

    needs: Sequence[str]
    grant: str
    token: Callable[[Mapping[str, str], str], str]

    def is_offered(self, environ: Mapping[str, str]) -> bool:
        """Return whether the job may have a token."""
        return all(environ.get(name, "").strip() for name in self.needs)


def printed_by(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the token that a program of the CI system prints. Raises JobTokenError."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as fault:
        ending = getattr(fault, "returncode", None)
        why = type(fault).__name__ if ending is None else f"exit code {ending}"
        raise JobTokenError(f"{' '.join(command[:4])} gives none: {why}") from None
    return done.stdout.decode(errors="replace").strip()
