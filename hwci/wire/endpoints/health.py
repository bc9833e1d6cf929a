# SPDX-License-Identifier: Apache-2.0
"""The server itself."""

from hwci.wire.base import HealthAnswer
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import Query
from hwci.wire.wheels import WheelAnswer

# fmt: off
WHEEL = Endpoint(
    "server.wheel", "GET", "/api/wheel", Who.ANYONE,
    "Show the wheel of hwci that this server runs from, and the hash to pin", query=Query,
    answer=WheelAnswer, also=(404,)
)
HEALTH = Endpoint(
    "server.health", "GET", "/healthz", Who.ANYONE, "Is the process alive?", answer=HealthAnswer
)
READY = Endpoint(
    "server.ready", "GET", "/readyz", Who.ANYONE,
    "Can the server serve? 503 when its database cannot be used", answer=HealthAnswer, called=False
)
OPENAPI = Endpoint(
    "server.openapi", "GET", "/api/openapi.json", Who.ANYONE, "This document", query=Query,
    called=False
)
PROJECT_SCHEMA = Endpoint(
    "server.project_schema", "GET", "/api/hwci.schema.json", Who.ANYONE,
    "Show the JSON Schema of `hwci.toml`, for editors", query=Query, called=False
)
# fmt: on
