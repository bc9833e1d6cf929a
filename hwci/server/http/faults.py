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

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.issues,)  # it may come from another process


class UnsupportedTypeError(RefusedError):
    """A body that is not JSON by its own account, or is encoded in a way that is not taken."""


class TooSlowError(RefusedError):
    """A body that did not arrive in time."""


class TooLargeError(RefusedError):
    """A body over its limit, before or after inflation."""

    _says = "The body is larger than {} bytes"

    def __init__(self, limit: int) -> None:
        super().__init__(self._says.format(limit))
        self.limit = limit

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.limit,)


class TooManyValuesError(TooLargeError):
    """A body that would be far larger once it is read."""

    _says = "The body holds more than {} values and names"


class TooCostlyError(TooLargeError):
    """A body that takes more time or memory to read than there is for one."""

    _says = "The body takes more than this server can spend on one; send it in parts"

    def __init__(self, limit: int = 0) -> None:
        super().__init__(limit)


def body_fault(message: str) -> InvalidRequestError:
    """Give a fault of the body as a whole."""
    return InvalidRequestError([Issue(path=["body"], message=message)])
