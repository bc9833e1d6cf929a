# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a request before any service sees it, and the status of every error.

Messages come from the errors. Reason phrases are listed here, because those of Python change with
its version.
"""

from collections.abc import Sequence
from http import HTTPStatus

from hwci.server import errors
from hwci.wire.errors import ErrorBody, Issue


class InvalidRequestError(errors.RefusedError):
    """A body or query that breaks the field rules; `issues` lists every fault."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__("Validation failed")
        self.issues = issues

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.issues,)  # it may come from another process


class UnsupportedTypeError(errors.RefusedError):
    """A body whose headers do not say JSON in UTF-8, or name a coding that is not accepted."""


class TooSlowError(errors.RefusedError):
    """A body that did not arrive in time."""


class TooLargeError(errors.RefusedError):
    """A body over its limit, before or after inflation."""

    _message = "The body is larger than {} bytes"

    def __init__(self, limit: int) -> None:
        super().__init__(self._message.format(limit))
        self.limit = limit

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.limit,)


class TooManyValuesError(TooLargeError):
    """A body that would be far larger once it is parsed."""

    _message = "The body holds more than {} values and names"


class TooCostlyError(TooLargeError):
    """A body that takes more time or memory to parse than one may."""

    _message = (
        "Reading the body takes more time or memory than this server allows; send it in parts"
    )

    def __init__(self, limit: int = 0) -> None:
        super().__init__(limit)


def body_fault(message: str) -> InvalidRequestError:
    """Return the error for a fault of the whole body."""
    return InvalidRequestError([Issue(path=["body"], message=message)])


# The first class that fits counts: a subclass comes before its base.
STATUS: dict[type[errors.HwciServerError], int] = {
    InvalidRequestError: 400,
    errors.UnfitError: 400,
    errors.TooLongError: 400,
    errors.UnauthenticatedError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    TooSlowError: 408,
    errors.ConflictError: 409,
    TooLargeError: 413,
    UnsupportedTypeError: 415,
    errors.RateLimitedError: 429,
    errors.LimiterError: 503,
    errors.OverloadedError: 503,
    errors.StorageError: 503,
}

PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    413: "Content Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

# Our sentences for what the web framework answers by itself.
SENTENCES = {
    400: "The request is not valid HTTP",
    404: "There is nothing at this address",
    405: "This method is not allowed here",
    408: "The head of the request did not arrive in time",
    414: "The address and its query are longer than this server takes",
    417: "Only the expectation 100-continue can be met",
    431: "The request has too many headers, or one that is longer than this server takes",
    500: "Something went wrong on our side; quote the x-request-id when you report it",
}

# A database's own message may hold a path: it is for the operator's log.
STORAGE_SENTENCE = "The service cannot use its database now; try again in a few seconds"


def status_of(error: errors.HwciServerError) -> int:
    """Return the status of an error; 500 if it is not in the table."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def phrase(status: int) -> str:
    """Return the reason phrase of a status."""
    return PHRASES.get(status) or HTTPStatus(status).phrase


def error_body(error: errors.HwciServerError) -> ErrorBody:
    """Return the body of the answer to an error."""
    if isinstance(error, errors.UnfitError):
        error = InvalidRequestError([Issue(path=["body", error.field], message=str(error))])
    status = status_of(error)
    message = str(error)
    if isinstance(error, errors.StorageError):
        message = STORAGE_SENTENCE
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        message = SENTENCES[status]
    issues = error.issues if isinstance(error, InvalidRequestError) else None
    return ErrorBody(status_code=status, error=phrase(status), message=message, issues=issues)


def status_body(status: int) -> ErrorBody:
    """Return the body of an answer that none of our errors caused."""
    name = phrase(status)
    return ErrorBody(status_code=status, error=name, message=SENTENCES.get(status, name))
