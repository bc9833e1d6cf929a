# SPDX-License-Identifier: Apache-2.0
"""Which status an error has: one table (spec, "Errors"). Sentences come from the errors themselves.

Phrases are ours and not the interpreter's, which change between Python versions.
"""

from http import HTTPStatus

from hwci.server import errors
from hwci.server.http import faults
from hwci.wire.errors import ErrorBody, Issue

# The first class that fits counts: a subclass stands before its base.
STATUS: dict[type[errors.HwciServerError], int] = {
    faults.InvalidRequestError: 400,
    errors.UnfitError: 400,
    errors.UnauthenticatedError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    faults.TooSlowError: 408,
    errors.ConflictError: 409,
    faults.TooLargeError: 413,
    faults.UnsupportedTypeError: 415,
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

# What the web framework answers by itself, in our words.
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
    """Give the status of an error; 500 for one that no request should meet."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def phrase(status: int) -> str:
    """Give the reason phrase of a status."""
    return PHRASES.get(status) or HTTPStatus(status).phrase


def error_body(error: errors.HwciServerError) -> ErrorBody:
    """Give the answer to an error."""
    if isinstance(error, errors.UnfitError):
        error = faults.InvalidRequestError([Issue(path=["body", error.field], message=str(error))])
    status = status_of(error)
    message = str(error)
    if isinstance(error, errors.StorageError):
        message = STORAGE_SENTENCE
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        message = SENTENCES[status]
    issues = error.issues if isinstance(error, faults.InvalidRequestError) else None
    return ErrorBody(status_code=status, error=phrase(status), message=message, issues=issues)


def status_body(status: int) -> ErrorBody:
    """Give the answer that has no error of ours behind it."""
    name = phrase(status)
    return ErrorBody(status_code=status, error=name, message=SENTENCES.get(status, name))
