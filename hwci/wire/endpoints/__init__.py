# SPDX-License-Identifier: Apache-2.0
"""Every endpoint there is, by subject (spec, "Endpoints"; contract)."""

from functools import cache
from importlib import import_module

from hwci.wire.endpoint import Endpoint

ROOMS = (
    "ci",
    "accounts",
    "organizations",
    "boxes",
    "webhooks",
    "known_failures",
    "runs",
    "metrics",
    "analysis",
    "health",
)
"""The subjects, in the order of the documents. A program that needs few imports these alone."""


def find(name: str) -> Endpoint | None:
    """Return the endpoint of a name; None if there is none. Imports no subject behind its own."""
    modules = (import_module(f"{__name__}.{room}") for room in ROOMS)
    values = (getattr(module, name, None) for module in modules)
    return next((value for value in values if isinstance(value, Endpoint)), None)


@cache
def named() -> dict[str, Endpoint]:
    """Return every endpoint by its name."""
    modules = [import_module(f"{__name__}.{room}") for room in ROOMS]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Endpoint)
    }


def every() -> tuple[Endpoint, ...]:
    """Return every endpoint."""
    return tuple(named().values())
