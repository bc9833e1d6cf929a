# SPDX-License-Identifier: Apache-2.0
"""Our side of OpenID Connect with one provider (contract, "Auth"; RFC 6749, 7636, 9207).

This module decides where a browser is sent, how the code that it brings back is exchanged, and what
of a provider's answers counts. Who may sign in, and as which user, is decided in `sso.py`.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from hwci.server.clock import Clock
from hwci.server.errors import ProviderError
from hwci.server.security.id_tokens import Expected, read_id_token
from hwci.server.services.people.provider_emails import stated_email
from hwci.server.services.people.sso_providers import Provider, TrustedUrl
from hwci.server.services.published_keys import KEPT_FOR, Fetch, Outgoing, PublishedKeys
from hwci.wire.base import Name
from hwci.wire.sso import challenge_of

_BASIC, _POST = "client_secret_basic", "client_secret_post"


ERROR_CODE = re.compile(r"[a-z_]{1,64}", re.ASCII)
"""The error codes of a provider that are repeated to people and in the log."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The secrets that bind a provider's answer to the browser that asked."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone as a provider knows them. `email`: only if it counts as theirs; else `email_fault`
    has the reason.
    """

    issuer: str
    subject: str
    email: str | None
    email_fault: str
    name: str


class _ProviderAnswer(BaseModel):
    """An answer of a provider; unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


class _Discovery(_ProviderAnswer):
    """A provider's description of itself (OpenID Connect Discovery, 3)."""

    issuer: str
    authorization_endpoint: TrustedUrl
    token_endpoint: TrustedUrl
    jwks_uri: TrustedUrl
    userinfo_endpoint: TrustedUrl | None = None
    token_endpoint_auth_methods_supported: list[str] = [_BASIC]
    authorization_response_iss_parameter_supported: bool = False

    @model_validator(mode="after")
    def _all_as_safe_as_the_issuer(self) -> Self:
        addresses = (self.token_endpoint, self.jwks_uri, self.userinfo_endpoint or self.jwks_uri)
        schemes = {urlsplit(url).scheme for url in (self.authorization_endpoint, *addresses)}
        if urlsplit(self.issuer).scheme == "https" and schemes != {"https"}:
            raise PydanticCustomError("url", "Endpoints should be https as the issuer is")
        return self


class _Tokens(_ProviderAnswer):
    id_token: str
    access_token: str | None = None


_Model = TypeVar("_Model", bound=BaseModel)
_CLAIMS = TypeAdapter(dict[str, Any])
_NAME = TypeAdapter(Name)


class RelyingParty:
    """Our side with one provider."""

    def __init__(self, provider: Provider, fetch: Fetch, clock: Clock) -> None:
        self.provider = provider
        self._fetch = fetch
        self._clock = clock
        self._discovery: tuple[_Discovery, datetime] | None = None
        self._keys = PublishedKeys(fetch, clock)

    async def authorization_url(self, binding: Binding, redirect_uri: str) -> str:
        """Return the address at which a browser signs in. Raises `ProviderError`."""
        endpoint = (await self._discovered()).authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.provider.scopes),
            "state": binding.state,
            "nonce": binding.nonce,
            "code_challenge": challenge_of(binding.verifier),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"

    async def require_issuer(self, issuer: str | None) -> None:
        """Raise `ProviderError` for an answer of another provider (RFC 9207)."""
        discovery = await self._discovered()
        needed = issuer is not None or discovery.authorization_response_iss_parameter_supported
        if needed and issuer != self.provider.issuer:
            raise ProviderError(f"the browser came back from {issuer!r}, not from the issuer")

    async def person(self, code: str, binding: Binding, redirect_uri: str) -> Person:
        """Return who signed in, for the code that the browser brought. Raises `ProviderError`."""
        discovery = await self._discovered()
        exchange = self._exchange(discovery, code, binding.verifier, redirect_uri)
        tokens = _read(_Tokens, await self._fetch(exchange), "its token answer")
        claims = await self._claims(discovery, tokens.id_token, binding.nonce)
        userinfo = None
        if not {"email", "email_verified"} <= claims.keys():
            userinfo = await self._userinfo(discovery, tokens, claims["sub"])
        issuer, trusted = self.provider.issuer, self.provider.trust_email
        stated = stated_email(issuer, claims, userinfo, trusted=trusted)
        name = (userinfo or claims).get("name") or claims.get("name")
        return Person(
            issuer, _subject(claims["sub"]), stated.email, stated.fault, _fitting(name) or ""
        )

    async def _discovered(self) -> _Discovery:
        now = self._clock()
        if self._discovery is None or now >= self._discovery[1] + KEPT_FOR:
            issuer = self.provider.issuer
            url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            discovery = _read(_Discovery, await self._fetch(Outgoing(url)), url)
            if discovery.issuer != issuer:
                raise ProviderError(f"{url} is of the issuer {discovery.issuer!r}, not {issuer!r}")
            self._discovery = discovery, now
        return self._discovery[0]

    def _exchange(
        self, discovery: _Discovery, code: str, verifier: str, redirect_uri: str
    ) -> Outgoing:
        """Return the request for tokens, authenticated in a way that the provider supports."""
        own = {"client_id": self.provider.client_id, "client_secret": self.provider.client_secret}
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        methods = discovery.token_endpoint_auth_methods_supported
        if _BASIC not in methods and _POST in methods:
            return Outgoing(discovery.token_endpoint, {**form, **own})
        pair = ":".join(quote_plus(text) for text in own.values())
        return Outgoing(
            discovery.token_endpoint, form, f"Basic {b64encode(pair.encode()).decode()}"
        )

    async def _claims(self, discovery: _Discovery, token: str, nonce: str) -> Mapping[str, Any]:
        expected = Expected(self.provider.issuer, self.provider.client_id, nonce)

        async def address() -> str:
            return discovery.jwks_uri

        return await self._keys.read(
            address, lambda keys: read_id_token(token, keys, expected, self._clock())
        )

    async def _userinfo(
        self, discovery: _Discovery, tokens: _Tokens, subject: str
    ) -> Mapping[str, Any] | None:
        if discovery.userinfo_endpoint is None or tokens.access_token is None:
            return None
        outgoing = Outgoing(
            discovery.userinfo_endpoint, authorization=f"Bearer {tokens.access_token}"
        )
        try:
            profile = _CLAIMS.validate_json(await self._fetch(outgoing))
        except ValidationError as fault:
            raise ProviderError("its userinfo is not a JSON object") from fault
        if profile.get("sub") != subject:
            raise ProviderError("its userinfo is of another person (sub)")
        return profile


def _read(model: type[_Model], data: bytes, what: str) -> _Model:
    try:
        return model.model_validate_json(data)
    except ValidationError as fault:
        names = sorted({".".join(map(str, error["loc"])) for error in fault.errors()})
        raise ProviderError(f"{what} is not usable: {', '.join(names) or 'endpoints'}") from fault


def _subject(text: str) -> str:
    subject = _fitting(text)
    if subject is None:
        raise ProviderError("the sub claim of its ID token is empty, too long or not valid text")
    return subject


def _fitting(value: object) -> str | None:
    """Return a value of a provider if it fits our own field rules, else None."""
    try:
        return _NAME.validate_python(value, strict=True)
    except ValidationError:
        return None
