# SPDX-License-Identifier: Apache-2.0
"""What a client has beside its calls: `client.failures.list(days=30)`. `resources.pyi` has the
types of every method.
"""


class Resources:
    """The resources of a `Client`."""


class AsyncResources:
    """The resources of an `AsyncClient`."""
