# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a caller and the server, as one tree (contract, "Everywhere").

    HwciError
    ├── ServerAddressError          the address of the server is malformed
    ├── ProxyAddressError           the environment names a proxy that cannot be used
    ├── CredentialMissingError      the call needs a key or token that was not given
    ├── JobTokenError               a CI job got no token to sign in with
    ├── CredentialMalformedError    what was given cannot be a key or token
    ├── SessionError                a kept sign-in cannot be used
    │   ├── SessionFileError        … as its file cannot be read or written
    │   └── SessionEndedError       … as there is none, or it has ended: sign in again
    ├── OrganizationError           it is not clear of which organization a client asks
    ├── InvalidCallError            the arguments of a call break the field rules: nothing was sent
    ├── ConnectionFailedError       no answer came
    │   ├── TimedOutError           … within the time allowed
    │   └── UntrustedError          … that could be trusted: the certificate is not good
    ├── AnswerShapeError            an answer came that is not this server's
    └── ApiError                    the server refused, with a status; `retry_after`
        ├── BadRequestError         400, with `issues`
        ├── UnauthorizedError       401
        ├── ForbiddenError          403
        ├── NotFoundError           404
        ├── ConflictError           409
        ├── TooLargeError           413
        ├── RateLimitedError        429
        └── ServerError             5xx

This module decides names, attributes and sentences; `_protocol.py` decides when each is raised.
Every error survives pickling, so that process pools can hand it on.
"""

from collections.abc import Mapping, Sequence

from hwci.wire.errors import Issue

SERVER_STATUS_MIN = 500
ISSUES_SHOWN = 3
"""Issues shown in a message; the attribute holds all."""


class HwciError(Exception):
    """Root of the client's errors."""


class ServerAddressError(HwciError, ValueError):
    """The address of the server cannot be used."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.address!r} is not a server address: {self.reason}. "
            "Give one such as https://hwci.example.org"
        )


class ProxyAddressError(HwciError, ValueError):
    """The environment names a proxy that cannot be used; its password is never shown."""

    def __init__(self, variable: str, address: str, reason: str) -> None:
        super().__init__(variable, address, reason)
        self.variable = variable
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.variable} names a proxy that cannot be used, {self.address!r}: {self.reason}. "
            "Give one such as http://proxy.example.org:3128, or name the server in NO_PROXY"
        )


class CredentialMissingError(HwciError):
    """The call needs a credential that the client was not given."""

    def __init__(self, needed: str) -> None:
        super().__init__(needed)
        self.needed = needed

    def __str__(self) -> str:
        return f"This call needs {self.needed}, and the client was given none"


class JobTokenError(HwciError):
    """The CI system gave a job no token to sign in with."""


class CredentialMalformedError(HwciError, ValueError):
    """A credential that no header can hold; it is never shown in the message."""

    def __init__(self, credential: str) -> None:
        super().__init__(credential)
        self.credential = credential

    def __str__(self) -> str:
        return (
            f"What was given as {self.credential} cannot be one: it is empty, or holds blanks, "
            "line ends or letters beyond ASCII. Copy it again"
        )


class SessionError(HwciError):
    """A kept sign-in cannot be used; `fix`: what helps."""

    def __init__(self, what: str, reason: str, fix: str = "") -> None:
        super().__init__(what, reason, fix)
        self.what = what
        self.reason = reason
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}. {self.fix or 'Sign in again'}"


class SessionFileError(SessionError):
    """The file of sign-ins cannot be read or written, or is of a newer hwci."""


class SessionEndedError(SessionError):
    """There is no sign-in, or it has ended and cannot be renewed. Only a new one helps."""


class OrganizationError(HwciError):
    """It is not clear of which organization a client asks. `names`: those of the person."""

    def __init__(self, names: str) -> None:
        super().__init__(names)
        self.names = names

    def __str__(self) -> str:
        return f"Of which organization? Give org_id, or set HWCI_ORG, to one of: {self.names}"


class InvalidCallError(HwciError, ValueError):
    """The arguments of a call break the field rules. Nothing was sent."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__(tuple(issues))
        self.issues = tuple(issues)

    def __str__(self) -> str:
        return f"The call breaks the field rules: {_listed(self.issues)}"


class ConnectionFailedError(HwciError):
    """No answer came. `sent`: the server may have taken the request."""

    def __init__(self, address: str, reason: str, sent: bool) -> None:
        super().__init__(address, reason, sent)
        self.address = address
        self.reason = reason
        self.sent = sent

    def __str__(self) -> str:
        doubt = "; the request was sent, it may have been taken" if self.sent else ""
        return f"No answer from {self.address}: {self.reason}{doubt}"


class TimedOutError(ConnectionFailedError):
    """The server did not answer in time."""


class UntrustedError(ConnectionFailedError):
    """The server's certificate is not trusted; nothing was sent."""


class AnswerShapeError(HwciError):
    """An answer that hwci does not give: from another program, a proxy or another version."""

    def __init__(self, status_code: int, reason: str, request_id: str | None) -> None:
        super().__init__(status_code, reason, request_id)
        self.status_code = status_code
        self.reason = reason
        self.request_id = request_id

    def __str__(self) -> str:
        return (
            f"The answer is not one of hwci's: {self.reason} (status {self.status_code})"
            f"{_request(self.request_id)}. Check the address of the server and its version"
        )


class ApiError(HwciError):
    """The server refused the request; `message` is its sentence. `retry_after`: seconds to wait,
    where the server named them. `own_form`: the answer is in hwci's form; else it may be that of a
    proxy, an ingress or a sign-in page in between. `path`: what was asked.
    """

    path: str = ""
    retry_after: float | None = None
    own_form: bool = True

    def __init__(
        self,
        status_code: int,
        error: str,
        message: str,
        request_id: str | None,
        issues: Sequence[Issue] = (),
    ) -> None:
        super().__init__(status_code, error, message, request_id, tuple(issues))
        self.status_code = status_code
        self.error = error
        self.message = message
        self.request_id = request_id
        self.issues = tuple(issues)

    def __str__(self) -> str:
        listed = f": {_listed(self.issues)}" if self.issues else ""
        return f"{self.status_code} {self.error}: {self.message}{listed}{_request(self.request_id)}"


class BadRequestError(ApiError):
    """400: the request breaks the rules; `issues` says where."""


class UnauthorizedError(ApiError):
    """401: no credential, a wrong one, or one that has ended."""


class ForbiddenError(ApiError):
    """403: the caller is known and may not do this."""


class NotFoundError(ApiError):
    """404: there is no such thing, or none that the caller may know of."""


class ConflictError(ApiError):
    """409: a value that must be unique is taken, or the state does not allow this."""


class TooLargeError(ApiError):
    """413: the body is larger than the server takes."""


class RateLimitedError(ApiError):
    """429: too many requests."""


class ServerError(ApiError):
    """5xx: the fault is the server's."""


STATUS_ERRORS: Mapping[int, type[ApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    429: RateLimitedError,
}


def error_class(status_code: int) -> type[ApiError]:
    """Return the class of a refusal."""
    if status_code >= SERVER_STATUS_MIN:
        return ServerError
    return STATUS_ERRORS.get(status_code, ApiError)


def _listed(issues: Sequence[Issue]) -> str:
    shown = [
        f"{'.'.join(str(step) for step in issue.path)}: {issue.message}"
        for issue in issues[:ISSUES_SHOWN]
    ]
    if len(issues) > ISSUES_SHOWN:
        shown.append(f"and {len(issues) - ISSUES_SHOWN} more")
    return "; ".join(shown)


def _request(request_id: str | None) -> str:
    return "" if request_id is None else f" (request {request_id})"
