# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a request before any service sees it. `error_map.py` gives statuses."""

from collections.abc import Sequence

from hwci.server.errors import RefusedError
from hwci.wire.errors import Issue


class InvalidRequestError(RefusedError):
    """A body or query that breaks the field rules; `issues` lists every fault."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__("Validation failed")
        self.issues = issues


class UnsupportedTypeError(RefusedError):
    """A body that is not JSON by its own account, or is encoded in a way that is not taken."""


class TooSlowError(RefusedError):
    """A body that did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The body did not arrive within {seconds:g} s; send it faster or smaller")


class TooLargeError(RefusedError):
    """A body over its limit, before or after inflation."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes")


class TooManyValuesError(TooLargeError):
    """A body that would be far larger once it is read."""

    def __init__(self, limit: int) -> None:
        RefusedError.__init__(self, f"The body holds more than {limit} values")


def body_fault(message: str) -> InvalidRequestError:
    """Give a fault of the body as a whole."""
    return InvalidRequestError([Issue(path=["body"], message=message)])
