# SPDX-License-Identifier: Apache-2.0
"""Our cookies: how each is written, and the one that keeps a browser signed in (contract, "Auth"),
which holds the refresh token, so that no script and no answer does. Beside it stands a mark that
scripts can read: it says that somebody is signed in, and is another after each renewal. A third one
holds the token by which an account knows this browser again; it stays after signing out.

This module decides when a cookie is ours and who may have it used. What the token in it opens is
decided in `services/accounts.py`.
"""

from http import HTTPStatus
from typing import Literal, NamedTuple, TypeVar

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.server.http.own_origin import require_own_origin
from hwci.server.http.responses import answer, error_answer, over_tls
from hwci.server.http.route import Call
from hwci.server.security.tokens import new_token
from hwci.wire import limits
from hwci.wire.accounts import HeldSession, Login, SessionMode, SignedIn, TokenPair

Pair = TypeVar("Pair", bound=TokenPair)

_FETCH_SITE = "Sec-Fetch-Site"
_OWN_PAGES = "same-origin"
_NO_COOKIE = "The cookie of the sign-in is missing, or there are several; sign in again"
_ANOTHER_SITE = "A page of another site asks; sign in on the server's own pages"


class Cookie(NamedTuple):
    """A cookie of ours. `readable`: by scripts of our pages, so that it holds no secret."""

    name: str
    path: str
    same_site: Literal["Strict", "Lax"]
    readable: bool = False

    def name_for(self, request: web.Request) -> str:
        """Give its name. Browsers take the prefix over TLS only, and from nobody else."""
        return f"__Secure-{self.name}" if over_tls(request) else self.name

    def put(
        self, request: web.Request, response: web.StreamResponse, value: str, seconds: int
    ) -> None:
        """Have the browser keep it for so long; 0: forget it."""
        response.set_cookie(
            self.name_for(request),
            value,
            max_age=seconds,
            path=self.path,
            secure=over_tls(request),
            httponly=not self.readable,
            samesite=self.same_site,
        )


_REFRESH = Cookie("hwci_rt", "/api/auth", "Strict")
_DEVICE = Cookie("hwci_device", "/api/auth", "Strict")
_MARK = Cookie("hwci_signed_in", "/", "Strict", readable=True)


def set_refresh_cookie(call: Call, response: web.StreamResponse, token: str) -> None:
    """Have the browser keep a refresh token for as long as it lives."""
    seconds = int(limits.REFRESH_TOKEN_LIFETIME.total_seconds())
    _put_both(call.request, response, (token, new_token()), seconds)


def _put_both(
    request: web.Request, response: web.StreamResponse, values: tuple[str, str], seconds: int
) -> None:
    """Have the browser keep both: who sees a new mark must find the new token, so it comes last."""
    for cookie, value in zip((_REFRESH, _MARK), values, strict=True):
        cookie.put(request, response, value, seconds)


def kept(call: Call, pair: Pair, session: SessionMode) -> Pair | web.StreamResponse:
    """Give the answer of a sign-in, its refresh token where the caller asked for it."""
    if session is SessionMode.TOKEN or pair.refresh_token is None:
        return pair
    hidden: dict[str, None] = {"refresh_token": None}
    device_token = pair.device_token if isinstance(pair, SignedIn) else None
    if device_token is not None:
        hidden["device_token"] = None
    response = answer(pair.model_copy(update=hidden), call.route.status)
    set_refresh_cookie(call, response, pair.refresh_token)
    if device_token is not None:
        set_device_cookie(call, response, device_token)
    return response


def set_device_cookie(call: Call, response: web.StreamResponse, token: str) -> None:
    """Have the browser keep the token of a device for as long as it lives."""
    seconds = int(limits.DEVICE_TOKEN_LIFETIME.total_seconds())
    _DEVICE.put(call.request, response, token, seconds)


def device_tokens(call: Call, body: Login) -> list[str]:
    """Return every device token that a caller shows: in the body, or in cookies."""
    if body.session is SessionMode.TOKEN:
        return [] if body.device_token is None else [body.device_token]
    return _values(call.request, _DEVICE.name_for(call.request))


def require_own_page(call: Call, session: SessionMode) -> None:
    """Look, before anything is done, who would have our cookie set or used.

    Raises:
        ForbiddenError: a page of another site: it could sign a browser in as somebody else.
    """
    if session is SessionMode.TOKEN:
        return
    require_own_origin(call.request)
    sites = call.request.headers.getall(_FETCH_SITE, [])
    if any(site != _OWN_PAGES for site in sites):
        raise ForbiddenError(_ANOTHER_SITE)


def held_token(call: Call, body: HeldSession) -> str:
    """Give the one refresh token that a caller holds.

    Raises:
        ForbiddenError: a page of another site would have the cookie used.
        UnauthenticatedError: there is no cookie, or not one: a neighbouring host can add one, and
            there is no telling which is ours.
    """
    found = held_tokens(call, body)
    if len(found) != 1:
        raise UnauthenticatedError(_NO_COOKIE)
    return found[0]


def held_tokens(call: Call, body: HeldSession) -> list[str]:
    """Give every refresh token that a caller holds: in the body, or in cookies when they say so.

    Raises:
        ForbiddenError: a page of another site would have the cookie used.
    """
    if body.refresh_token is not None:
        return [body.refresh_token]
    require_own_page(call, body.session)
    return _values(call.request, _REFRESH.name_for(call.request))


def refused(call: Call, error: UnauthenticatedError) -> web.StreamResponse:
    """Give the answer to a cookie that opens nothing, and have the browser forget it."""
    response = error_answer(error)
    response.headers[hdrs.WWW_AUTHENTICATE] = call.route.who.challenge
    return _forgetting(call, response)


def forgotten(call: Call) -> web.StreamResponse:
    """Give the answer to who signed out, and have the browser forget the cookie."""
    return _forgetting(call, web.Response(status=HTTPStatus.NO_CONTENT))


def _forgetting(call: Call, response: web.StreamResponse) -> web.StreamResponse:
    _put_both(call.request, response, ("", ""), 0)
    return response


def _values(request: web.Request, wanted: str) -> list[str]:
    """Give every cookie of a name: the framework would keep one and hide that there are more."""
    parts = ";".join(request.headers.getall(hdrs.COOKIE, [])).split(";")
    named = [part.strip().partition("=") for part in parts]
    return [value for name, _, value in named if name == wanted]
