# SPDX-License-Identifier: Apache-2.0
"""Our cookies (contract, "Auth"): the refresh token of a browser, hidden from scripts; a mark that
scripts can read, which changes at each renewal; and the token by which an account recognizes this
browser, which stays after signing out.

This module decides when a cookie is ours and who may use it, not what its token opens.
"""

import re
from http import HTTPStatus
from itertools import islice
from typing import Literal, NamedTuple, TypeVar

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.server.http.call import Call
from hwci.server.http.headers import require_own_origin
from hwci.server.http.responses import answer, error_answer, over_tls
from hwci.server.security.tokens import new_token
from hwci.wire import limits
from hwci.wire.accounts import HeldSession, Login, SessionMode, SignedIn, TokenPair

Pair = TypeVar("Pair", bound=TokenPair)

COOKIES_MAX = 4
"""Cookies of one name that are read of a request."""
_FETCH_SITE = "Sec-Fetch-Site"
_OWN_PAGES = "same-origin"
_NO_COOKIE = "The cookie of the sign-in is missing, or there are several; sign in again"
_ANOTHER_SITE = "A page of another site asks; sign in on the server's own pages"


class Cookie(NamedTuple):
    """One of our cookies. `readable`: by scripts of our pages, so it holds no secret."""

    name: str
    path: str
    same_site: Literal["Strict", "Lax"]
    readable: bool = False

    def name_for(self, request: web.Request) -> str:
        """Return its name. Browsers accept the prefix over TLS only, and from no other host."""
        return f"__Secure-{self.name}" if over_tls(request) else self.name

    def put(
        self, request: web.Request, response: web.StreamResponse, value: str, seconds: int
    ) -> None:
        """Set the cookie for so long; 0: delete it."""
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


def values_of(request: web.Request, cookie: Cookie) -> list[str]:
    """Return the first cookies of a name; the framework would hide that there are several. A caller
    who sends a hundred thousand must not have each of them looked up.
    """
    named = re.compile(rf"(?:^|;)[ \t]*{re.escape(cookie.name_for(request))}=([^;]*)")
    fields = request.headers.getall(hdrs.COOKIE, [])
    values = (value[1].strip() for field in fields for value in named.finditer(field))
    return list(islice(values, COOKIES_MAX))


def set_cookies(
    request: web.Request, response: web.StreamResponse, refresh: str, device: str | None
) -> None:
    """Set the cookies of a refresh token and of a device token, each for the token's lifetime."""
    seconds = int(limits.REFRESH_TOKEN_LIFETIME.total_seconds())
    _put_both(request, response, (refresh, new_token()), seconds)
    if device is not None:
        _DEVICE.put(request, response, device, int(limits.DEVICE_TOKEN_LIFETIME.total_seconds()))


def _put_both(
    request: web.Request, response: web.StreamResponse, values: tuple[str, str], seconds: int
) -> None:
    """Set both cookies; the mark last, so that a script that sees it finds the new token."""
    for cookie, value in zip((_REFRESH, _MARK), values, strict=True):
        cookie.put(request, response, value, seconds)


def with_cookies(call: Call, pair: Pair, session: SessionMode) -> Pair | web.StreamResponse:
    """Return the answer of a sign-in, its tokens in cookies if the caller asked for that."""
    if session is SessionMode.TOKEN or pair.refresh_token is None:
        return pair
    device = pair.device_token if isinstance(pair, SignedIn) else None
    hidden = ("refresh_token",) if device is None else ("refresh_token", "device_token")
    response = answer(call.endpoint, pair.model_copy(update=dict.fromkeys(hidden)))
    set_cookies(call.request, response, pair.refresh_token, device)
    return response


def device_tokens(call: Call, body: Login) -> list[str]:
    """Return the device tokens of a caller: in the body, or in cookies."""
    if body.session is SessionMode.TOKEN:
        return [] if body.device_token is None else [body.device_token]
    return values_of(call.request, _DEVICE)


def require_own_page(call: Call, session: SessionMode) -> None:
    """Check, before anything is done, which page wants to set or use our cookie. Raises
    `ForbiddenError`: a page of another site, which could sign a browser in as somebody else.
    """
    if session is SessionMode.TOKEN:
        return
    require_own_origin(call.request)
    sites = call.request.headers.getall(_FETCH_SITE, [])
    if any(site != _OWN_PAGES for site in sites):
        raise ForbiddenError(_ANOTHER_SITE)


def held_token(call: Call, body: HeldSession) -> str:
    """Return the one refresh token of a caller.

    Raises:
        ForbiddenError: a page of another site wants to use the cookie.
        UnauthenticatedError: there is no cookie, or several: a neighbouring host can add one, and
            nothing shows which is ours.
    """
    tokens = held_tokens(call, body)
    if len(tokens) != 1:
        raise UnauthenticatedError(_NO_COOKIE)
    return tokens[0]


def held_tokens(call: Call, body: HeldSession) -> list[str]:
    """Return the refresh tokens of a caller: in the body, or in cookies if they ask for that.
    Raises `ForbiddenError`: a page of another site wants to use the cookie.
    """
    if body.refresh_token is not None:
        return [body.refresh_token]
    require_own_page(call, body.session)
    return values_of(call.request, _REFRESH)


def refused_cookie(call: Call, error: UnauthenticatedError) -> web.StreamResponse:
    """Return the answer to a cookie that does not work, and delete the cookie."""
    response = error_answer(error)
    response.headers[hdrs.WWW_AUTHENTICATE] = call.endpoint.who.challenge
    return _without_cookies(call, response)


def signed_out(call: Call) -> web.StreamResponse:
    """Return the answer to signing out, and delete the cookie."""
    return _without_cookies(call, web.Response(status=HTTPStatus.NO_CONTENT))


def _without_cookies(call: Call, response: web.StreamResponse) -> web.StreamResponse:
    _put_both(call.request, response, ("", ""), 0)
    return response
