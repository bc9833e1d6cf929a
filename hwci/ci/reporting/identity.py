# SPDX-License-Identifier: Apache-2.0
"""The identity of the job that this is, for a command that has no CI key."""

from collections.abc import Mapping

from hwci.ci.systems import detected
from hwci.ci.systems.identity import Identity

__all__ = ["Identity", "job_identity"]


def job_identity(environ: Mapping[str, str]) -> Identity | None:
    """Return how this job gets a token, whether it may or not; None if its CI system signs none."""
    system = detected(environ)
    return system.identity if system else None
