# SPDX-License-Identifier: Apache-2.0
"""The exchange of a job's token for a key on the wire (contract, "CI jobs without a secret"). A
step of CI imports no more than this.
"""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from hwci.wire import limits
from hwci.wire.base import SECRET, STORABLE, Answer, Body, Time


class JobToken(Body):
    """Body of `POST /api/ci/job-key`: the token of a CI job, made for this server."""

    org_id: UUID
    token: Annotated[str, Field(max_length=limits.JOB_TOKEN_MAX), STORABLE, SECRET]


class JobKeyAnswer(Answer):
    """A key that does what a CI key does, until it expires."""

    api_key: Annotated[str, SECRET]
    expires_at: Time
