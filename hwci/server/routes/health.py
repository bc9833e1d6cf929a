# SPDX-License-Identifier: Apache-2.0
"""Health of the process and of what it needs."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.health import HealthAnswer


async def alive(call: Call) -> HealthAnswer:  # noqa: ARG001 - every handler takes the call
    """The process answers."""
    return HealthAnswer()


async def ready(call: Call) -> HealthAnswer:
    """The process can serve."""
    await call.services.health.ready()
    return HealthAnswer()


ROUTES = (
    Route("GET", "/healthz", Who.ANYONE, alive, "Is the process alive?", answer=HealthAnswer),
    Route(
        "GET",
        "/readyz",
        Who.ANYONE,
        ready,
        "Can the server serve? 503 when its database cannot be used",
        answer=HealthAnswer,
    ),
)
