# SPDX-License-Identifier: Apache-2.0
"""Requests that this server sends: to the providers of single sign-on, and to nobody else."""

from hwci.server.services.sso import Outgoing


async def fetch(outgoing: Outgoing) -> bytes:
    """Send a request and give the body of a good answer."""
    raise NotImplementedError
