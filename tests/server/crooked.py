# SPDX-License-Identifier: Apache-2.0
"""A provider of single sign-on that is honest until a test bends it. It checks nothing: the
browser is sent straight back, as the one person that it knows.
"""

import hashlib
import ssl
import time
from base64 import b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import unquote_plus, urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.providers import CLIENT, SECRET
from tests.support.running import in_thread

Json = dict[str, Any]
KID = "of-the-day"
PERSON: Json = {
    "sub": "mallory",
    "email": "mallory@crooked.example.org",
    "email_verified": True,
    "name": "Mallory",
}


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public(key: Any, kind: type[Any] = jwt.algorithms.RSAAlgorithm, **fields: Any) -> Json:
    """Return the published half of a key."""
    found: Json = kind.to_jwk(key.public_key(), as_dict=True)
    return {**found, **fields}


def laid_over(base: Json, bends: Json) -> Json:
    """Lay values over others; None takes one away."""
    return {name: value for name, value in {**base, **bends}.items() if value is not None}


@dataclass
class Crooked:
    """What it says next; each field bends a part of it. `asked` counts requests by path."""

    url: str
    key: rsa.RSAPrivateKey
    claims: Json = field(default_factory=dict)
    userinfo: Json = field(default_factory=dict)
    discovery: Json = field(default_factory=dict)
    back: Json = field(default_factory=dict)
    tokens: Json = field(default_factory=dict)
    keys: list[Json] = field(default_factory=list)
    sign: Callable[[Json], str] | None = None
    answers: dict[str, Callable[[], web.Response]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    codes: dict[str, Json] = field(default_factory=dict)
    forms: list[Json] = field(default_factory=list)

    def straighten(self) -> None:
        """Be honest again."""
        fresh = Crooked(self.url, self.key)
        fresh.keys = [public(self.key, kid=KID)]
        self.__dict__.update(fresh.__dict__)

    def signed(self, claims: Json) -> str:
        return jwt.encode(claims, self.key, "RS256", headers={"kid": KID})

    async def answer(self, request: web.Request) -> web.Response:
        self.asked[request.path] += 1
        if request.path in self.answers:
            return self.answers[request.path]()
        kinds = {
            "/.well-known/openid-configuration": self._describe,
            "/authorize": self._authorize,
            "/token": self._token,
            "/keys": self._keys,
            "/userinfo": self._userinfo,
        }
        own = request.path.removeprefix(urlsplit(self.url).path.rstrip("/"))
        return await kinds[f"/{own.lstrip('/')}"](request)

    async def _describe(self, _: web.Request) -> web.Response:
        honest = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?tenant=1",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
        }
        return web.json_response(laid_over(honest, self.discovery))

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert (asked["client_id"], asked["tenant"]) == (CLIENT, "1")
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        back = laid_over({"code": code, "state": asked["state"]}, self.back)
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode(back)}")

    async def _token(self, request: web.Request) -> web.Response:
        form = dict(await request.post())
        self.forms.append({**form, "authorization": request.headers.get("Authorization")})
        asked = self.codes.pop(str(form["code"]), None)
        challenge = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        met = urlsafe_b64encode(challenge).rstrip(b"=").decode()
        if (
            asked is None
            or met != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
            or not self._is_client(request, form)
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        now = int(time.time())
        honest = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **PERSON,
        }
        token = (self.sign or self.signed)(laid_over(honest, self.claims))
        tokens = {"access_token": "sesame", "token_type": "Bearer", "id_token": token}
        return web.json_response(laid_over(tokens, self.tokens))

    def _is_client(self, request: web.Request, form: Json) -> bool:
        if "client_secret" in form:
            return (form["client_id"], form["client_secret"]) == (CLIENT, SECRET)
        pair = b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        return [unquote_plus(part) for part in pair.split(":")] == [CLIENT, SECRET]

    async def _keys(self, _: web.Request) -> web.Response:
        return web.json_response({"keys": self.keys})

    async def _userinfo(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer sesame"
        return web.json_response(laid_over(PERSON, self.userinfo))


def of_now(provider: Crooked, clock: Callable[[], datetime], **by: int) -> None:
    """Have ID tokens speak of the server's time; `by`: seconds to move a claim by."""
    now = int(clock().timestamp())
    honest = {"iat": now, "exp": now + 300}
    provider.claims |= {name: honest.get(name, now) + by.get(name, 0) for name in {*honest, *by}}


@contextmanager
def crooked_provider(tls: ssl.SSLContext | None = None) -> Iterator[Crooked]:
    """Run it in a thread of its own."""
    with in_thread(_crooked(tls)) as provider:
        yield provider


@asynccontextmanager
async def _crooked(tls: ssl.SSLContext | None) -> AsyncIterator[Crooked]:
    provider = Crooked("", rsa_key())
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        scheme = "http" if tls is None else "https"
        provider.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        provider.straighten()
        yield provider
    finally:
        await runner.cleanup()
