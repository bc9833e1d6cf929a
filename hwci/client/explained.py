# SPDX-License-Identifier: Apache-2.0
"""Errors with their explanation: what happened, why, and what to do next; and the exit code of a
command that they end. It does not know how they are shown.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hwci.client.errors import HwciError
    from hwci.wire.errors import Issue

DETAILS_SHOWN = 20


class ExitCode(IntEnum):
    """The exit codes that a script may rely on."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_MET = 3
    """Of a gate: something speaks against it, or too little is known."""
    SIGN_IN = 4
    UNREACHABLE = 5
    NOT_EXECUTABLE = 126
    """As a shell does, for a command of the caller."""
    NOT_FOUND = 127


@dataclass(frozen=True)
class ErrorMessage:
    """What happened, why, and what to do next. `details` stand below the cause, one per line."""

    what: str
    cause: str = ""
    fix: str = ""
    code: ExitCode = ExitCode.FAILED
    details: tuple[str, ...] = ()

    @property
    def wrong_usage(self) -> bool:
        """Whether the command was called wrongly, which fails even without `--strict`."""
        return self.code is ExitCode.USAGE

    def lines(self, word: str = "error") -> Iterator[str]:
        """Return the lines that show it. `word`: how bad it is."""
        yield f"{word}: {self.what}"
        if self.cause:
            yield f"cause: {self.cause}"
        yield from (f"       {line}" for line in self.details)
        if self.fix:
            yield f"fix: {self.fix}"


class ExplainedError(Exception):
    """An error that its message explains."""

    def __init__(self, message: ErrorMessage) -> None:
        super().__init__(message.what)
        self.message = message


class SignalledError(Exception):
    """A signal came, and nothing is lost by obeying it."""


def command_error(
    what: str, cause: str, fix: str, code: ExitCode = ExitCode.FAILED, details: tuple[str, ...] = ()
) -> ExplainedError:
    """Return the error of what failed; the arguments are those of its message."""
    return ExplainedError(ErrorMessage(what, cause, fix, code, details))


def wrong_usage(what: str, cause: str, fix: str) -> ExplainedError:
    """Return the error of a command that was called wrongly."""
    return command_error(what, cause, fix, ExitCode.USAGE)


def not_empty(text: str | None, flag: str) -> str | None:
    """Return the text of a flag. A variable that is not set makes an empty flag of `--url "$URL"`:
    it is never taken for no flag, which would mean something else.

    Raises:
        ExplainedError: wrong usage: it is empty.
    """
    if text is None or text.strip():
        return text
    raise wrong_usage(
        f"{flag} is empty",
        "its value is empty",
        f"Give it a value (is the variable behind it set?), or leave {flag} out",
    )


NO_URL = "HWCI_URL is not set, so no server is known, and a key is never sent to a guessed one"
NO_URL_FIX = "Set HWCI_URL, or name the server: --url URL"
SIGN_IN_FIX = "Sign in again: hwci login"
NO_KEY = "HWCI_CI_KEY is not set, or empty"
CI_KEY_FIX = (
    "Check HWCI_CI_KEY; `hwci keys list` shows the keys of the organization,"
    " `hwci keys create NAME` makes one"
)
_JOB_KEY_PATH = "/api/ci/job-key"
JOB_FIX = "Compare the job with `hwci trusts list`, or give it a key as HWCI_CI_KEY"
_HEADER_NEVER_CAME = re.compile(r"Send (?:one header|the body (?:as|with)) ([A-Z][\w-]+)")
"""What hwci says of a request that lacks a header; the client sends none without these."""
OLDER_SERVER_FIX = (
    "Leave that out, or ask the operator of the server for an upgrade: it is older than this hwci"
)
OFF = "CI Metrics is not enabled"
_ORG_IN_PATH = re.compile(r"/api/orgs/([^/]+)/")
AWAY_FIX = "Check the address (--url or HWCI_URL), and that a server runs there"
START_FIX = "Start it: hwci serve; or correct the address (--url or HWCI_URL)"
WHERE_FIX = "Check the address (--url or HWCI_URL): there is an hwci, which takes no reports there"
BETWEEN_FIX = (
    "Check the address (--url or HWCI_URL), and the proxy or ingress that answered for hwci"
)


def _table() -> "tuple[tuple[type[HwciError], ExitCode, str], ...]":
    """(error, exit code, what to do next): the first row that fits counts."""
    from hwci.client import errors

    failed, usage = ExitCode.FAILED, ExitCode.USAGE
    sign_in, away = ExitCode.SIGN_IN, ExitCode.UNREACHABLE
    return (
        (errors.ServerAddressError, usage, "Correct --url or HWCI_URL"),
        (errors.ProxyAddressError, away, "Correct that variable, or name the server in NO_PROXY"),
        (errors.InvalidCallError, usage, "Correct what is named above, then try again"),
        (errors.CredentialMalformedError, usage, "Copy it again, without quotes and line ends"),
        (errors.CredentialMissingError, sign_in, SIGN_IN_FIX),
        (errors.JobTokenError, sign_in, JOB_FIX),
        (errors.SessionEndedError, sign_in, SIGN_IN_FIX),
        (errors.SessionFileError, usage, ""),
        (
            errors.UntrustedError,
            away,
            "Check that this is your server; trust its certificate by SSL_CERT_FILE",
        ),
        (
            errors.ConnectionFailedError,
            away,
            AWAY_FIX,
        ),
        (errors.UnauthorizedError, sign_in, SIGN_IN_FIX),
        (
            errors.ForbiddenError,
            sign_in,
            "Ask an owner of the organization, or the operator of the server",
        ),
        (errors.BadRequestError, failed, "Correct what is named above, then try again"),
        (
            errors.NotFoundError,
            failed,
            "Check what is named, and the organization (--org or HWCI_ORG)",
        ),
        (errors.ConflictError, failed, "Look at its present state, then decide again"),
        (errors.TooLargeError, failed, "Send less at once"),
        (errors.RateLimitedError, failed, "Wait as long as the answer says, then try again"),
        (errors.ServerError, failed, "Try again; if it stays, give the operator the request id"),
        (errors.HwciError, failed, "Check that an hwci server answers at this address"),
    )


def explain(
    fault: "HwciError", what: str | None = None, *, by_ci_key: bool = False
) -> ErrorMessage:
    """Return the message of an error of the client; `what`: the action that failed."""
    from hwci.client import errors

    misplaced = errors.ForbiddenError, errors.NotFoundError, errors.TooLargeError
    code, fix = _code_and_fix(fault)
    if by_ci_key and isinstance(fault, errors.AnswerShapeError):
        fix = BETWEEN_FIX
    elif of_header := _header_fix(fault, by_ci_key=by_ci_key):
        fix = of_header
    elif isinstance(fault, errors.BadRequestError) and _names_a_newer_parameter(fault.issues):
        fix = OLDER_SERVER_FIX
    elif isinstance(fault, errors.ForbiddenError) and (
        fault.message.startswith(OFF) or (by_ci_key and fault.own_form)
    ):
        fix = _off_fix(fault.path)  # for a key that works, the server has no other reason
    elif by_ci_key and isinstance(fault, misplaced):
        code, fix = (code, WHERE_FIX) if fault.own_form else (ExitCode.UNREACHABLE, BETWEEN_FIX)
    if isinstance(fault, errors.SessionError):
        return ErrorMessage(fault.what, fault.reason, fault.fix or fix, code)
    if not isinstance(fault, errors.ApiError):
        unsent = (
            "The server cannot be reached" if code is ExitCode.UNREACHABLE else "Nothing is done"
        )
        no_key = by_ci_key and isinstance(fault, errors.CredentialMissingError)
        return ErrorMessage(what or unsent, NO_KEY if no_key else str(fault), fix, code)
    request = f" (request id {fault.request_id})" if fault.request_id else ""
    cause = f"{fault.status_code} {fault.error}: {fault.message}{request}"
    details = shortened(fault_lines(fault.issues))
    return ErrorMessage(what or "The server refused this", cause, fix, code, details)


def _code_and_fix(fault: "HwciError") -> tuple[ExitCode, str]:
    """Return the first row that fits; who runs no server on this machine is told to start one."""
    from hwci.client._address import is_of_this_machine
    from hwci.client.errors import ConnectionFailedError, TimedOutError

    code, fix = next((code, fix) for kind, code, fix in _table() if isinstance(fault, kind))
    if not isinstance(fault, ConnectionFailedError) or isinstance(fault, TimedOutError):
        return code, fix
    return code, START_FIX if fix == AWAY_FIX and is_of_this_machine(fault.address) else fix


def _header_fix(fault: "HwciError", *, by_ci_key: bool) -> str | None:
    """Return what to do about a CI key, or about a header that did not reach hwci although it was
    sent; None: nothing that the kind of error does not say.
    """
    from hwci.client import errors

    if isinstance(fault, errors.ApiError) and fault.own_form:
        never_came = _HEADER_NEVER_CAME.match(fault.message)
        if never_came:
            return f"{never_came[1]} was sent, and something on the way took it: let it pass"
        if fault.path == _JOB_KEY_PATH:
            return JOB_FIX
    about_key = isinstance(fault, errors.UnauthorizedError | errors.CredentialMissingError)
    return CI_KEY_FIX if by_ci_key and about_key else None


def _names_a_newer_parameter(issues: "Sequence[Issue]") -> bool:
    """Return whether the server lacks a parameter that this version has: it sends no other."""
    from hwci.wire.errors import NO_SUCH_PARAMETER

    return any(issue.message.startswith(NO_SUCH_PARAMETER) for issue in issues)


def _off_fix(path: str) -> str:
    """Return who turns CI Metrics on, and how. A key does not know of which organization it is."""
    match = _ORG_IN_PATH.match(path)
    org = match[1] if match else "ORG"
    return f"Ask the operator of the server: `hwci admin ci-metrics enable {org}` turns it on"


@contextmanager
def explained(what: str | None = None, *, by_ci_key: bool = False) -> Iterator[None]:
    """Explain the errors of the client that the block raises."""
    try:
        yield
    except Exception as fault:
        errors = sys.modules.get("hwci.client.errors")  # whoever raised one of these imported it
        if errors is None or not isinstance(fault, errors.HwciError):
            raise
        raise ExplainedError(explain(fault, what, by_ci_key=by_ci_key)) from fault


@contextmanager
def advised(status: int, fix: str) -> Iterator[None]:
    """Replace the advice for one status, where the caller knows more than the table."""
    from hwci.client.errors import ApiError

    try:
        yield
    except ApiError as fault:
        if fault.status_code != status:
            raise
        raise ExplainedError(replace(explain(fault), fix=fix)) from fault


def fault_lines(issues: "Sequence[Issue]") -> list[str]:
    """Write issues as `body.tests.3.outcome: what is wrong`."""
    return [f"{'.'.join(map(str, issue.path))}: {issue.message}" for issue in issues]


def shortened(lines: "Sequence[str]") -> tuple[str, ...]:
    """Return the first lines, and the number of the others."""
    rest = len(lines) - DETAILS_SHOWN
    return (*lines[:DETAILS_SHOWN], *([f"… {rest} more"] if rest > 0 else []))
