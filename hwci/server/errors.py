# SPDX-License-Identifier: Apache-2.0
"""What can go wrong inside the server, in the domain's words; `http/error_map.py` gives statuses.

Messages are sentences for the caller: they name what to do and never a secret, a path or a query.
"""


class HwciServerError(Exception):
    """Root of the server's errors."""


class RefusedError(HwciServerError):
    """A request that the domain refuses; the message is for the caller."""


class UnauthenticatedError(RefusedError):
    """No credential, a wrong one, or one that has ended."""


class ForbiddenError(RefusedError):
    """The caller is known and may not do this."""


class NotFoundError(RefusedError):
    """There is no such thing, or none that the caller may know of."""


class ConflictError(RefusedError):
    """The request does not fit the present state."""


class ClashError(ConflictError):
    """A value that must be unique is taken; `field` names it."""

    def __init__(self, field: str) -> None:
        super().__init__(f"A record with this {field} already exists")
        self.field = field


class RateLimitedError(RefusedError):
    """Too much was asked in too short a time; `retry_after`: seconds until asking again helps."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageError(HwciServerError):
    """The database cannot be used; the message says why and what to do next, in one line."""


class StorageBusyError(StorageError):
    """The database cannot take this now (full, or locked too long); trying again may help."""


class StorageLockedError(StorageError):
    """Another process, usually a running server, holds the database."""


class OverloadedError(HwciServerError):
    """Too much of one kind of work waits already; trying again later helps."""


class StoppingError(OverloadedError):
    """The server stops; another, or the same a little later, can do this."""


class LimiterError(HwciServerError):
    """The store of the rate limits does not answer: nobody can be let in within limits."""


class ProviderError(HwciServerError):
    """A provider of single sign-on does not answer, or not as its protocol says; for the log."""


class SettingsError(HwciServerError):
    """A setting cannot be used; the message names it and what it may be, in one line."""


class ListenError(HwciServerError):
    """The server cannot listen where it was told to; the message says what to do next."""


class OperatorUnreachableError(HwciServerError):
    """A server holds the database and its operator socket gives no answer."""
