# SPDX-License-Identifier: Apache-2.0
"""The key of a CI job that signs in without a secret: its token is exchanged when a report goes
out, and again when the key is about to expire. Where the token comes from is decided in
`hwci.ci.systems.identity`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from hwci.wire import limits

_LEFT_S = 60.0
"""A key that works for less is not used any more."""


@dataclass(slots=True)
class JobKey:
    """Returns the present key of a job, when it is called. `token` returns a token that was not
    exchanged before; it may raise HwciError.
    """

    url: str
    org_id: UUID
    token: Callable[[], str] = field(repr=False)
    _key: str = field(default="", init=False, repr=False)
    _ends: float = field(default=0.0, init=False)

    @property
    def owner(self) -> str:
        """Whose key it is: reports wait for any key of the organization's jobs."""
        return f"jobs-of-{self.org_id}"

    def __call__(self) -> str:
        """Return the key. Raises HwciError."""
        # A job that has a key needs neither.
        from hwci.client import calls  # noqa: PLC0415
        from hwci.client._sync import Client  # noqa: PLC0415

        now = time.monotonic()
        if now >= self._ends:
            with Client(self.url, retries=0) as client:
                made = client.send(calls.exchange_job_token(self.org_id, self.token()))
            self._key = made.api_key
            self._ends = now + limits.JOB_KEY_LIFETIME.total_seconds() - _LEFT_S
        return self._key


def owner_of(key: str | JobKey) -> str:
    """Return what distinguishes the reports that wait for a key."""
    return key if isinstance(key, str) else key.owner
