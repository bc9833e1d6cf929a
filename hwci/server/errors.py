# SPDX-License-Identifier: Apache-2.0
"""What can go wrong inside the server; `http/refusals.py` has the statuses.

Messages tell the caller what to do, and never contain a secret, a path or a query.
"""

import re
import shlex
import sys
from importlib.metadata import requires
from typing import Self

_THEN = "; "


class HwciServerError(Exception):
    """Root of the server's errors."""


class RefusedError(HwciServerError):
    """A request that the domain refuses; the message is for the caller."""


class UnauthenticatedError(RefusedError):
    """No credential, a wrong one, or one that has ended."""


class ForbiddenError(RefusedError):
    """The caller is known and may not do this."""


class NotFoundError(RefusedError):
    """There is no such resource, or the caller may not see it."""


class ConflictError(RefusedError):
    """The request does not fit the present state."""


class ClashError(ConflictError):
    """A value that must be unique is taken; `field` names it."""

    def __init__(self, field: str) -> None:
        super().__init__(f"A record with this {field} already exists")
        self.field = field


class UnfitError(RefusedError):
    """A value of the body that does not fit what is kept; `field`: its name in the body."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class TooLongError(RefusedError):
    """Names of a body that are longer together than the database keeps."""


class WrongPasswordError(UnfitError):
    """The current password, asked for again, is wrong."""


class RateLimitedError(RefusedError):
    """Too many requests in too short a time; `retry_after`: seconds until a request may succeed."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class FixableError(HwciServerError):
    """An error that the operator can fix: its `cause`, and the `fix` to make; its text is both."""

    def __init__(self, cause: str, fix: str) -> None:
        super().__init__(cause, fix)
        self.cause = cause
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.cause}{_THEN}{self.fix}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the error of another process from its text."""
        cause, _, fix = text.rpartition(_THEN)
        return cls(cause, fix) if cause and fix else cls(text, "try again in a moment")


class StorageError(FixableError):
    """The database cannot be used."""


class DamagedError(StorageError):
    """The database is damaged: its content is not what was written."""

    def __init__(
        self, cause: str, fix: str = "run `hwci admin check`, it shows what to do next"
    ) -> None:
        super().__init__(cause, fix)


class StorageBusyError(StorageError):
    """The database cannot store this now (full, or locked too long); trying again may help."""


class StorageLockedError(StorageError):
    """Another process, usually a running server, holds the database."""


class OverloadedError(HwciServerError):
    """Too much work of one kind is waiting already; trying again later helps."""


class NotReadyError(OverloadedError):
    """The database cannot be used now: it is being checked, damaged, or its disk is full."""


class StoppingError(OverloadedError):
    """The server is stopping; another one, or this one after its restart, can do this."""


class LimiterError(HwciServerError):
    """The store of the rate limits does not answer: requests cannot be counted."""


class ProviderError(HwciServerError):
    """A provider of single sign-on fails or breaks its protocol. The message is for the log."""


class PostError(HwciServerError):
    """A webhook could not be sent to. The message is for who made it, and holds no address."""


class SettingsError(FixableError):
    """A setting cannot be used; the message names it and what it may be."""


class ListenError(FixableError):
    """The server cannot listen at its address."""


class OperatorUnreachableError(FixableError):
    """A server holds the database and its operator socket gives no answer."""


def pip_install(extra: str) -> str:
    """Return the command that adds an extra to this installation. It names what the extra needs,
    and not hwci: on a public index that may be anybody's.
    """
    of_extra = re.compile(rf"(.+); extra == ['\"]{extra}['\"]")
    matches = (of_extra.fullmatch(require) for require in requires("hwci") or ())
    return shlex.join(
        [sys.executable, "-m", "pip", "install", *(match[1] for match in matches if match)]
    )
