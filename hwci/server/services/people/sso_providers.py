# SPDX-License-Identifier: Apache-2.0
"""Which providers of single sign-on there are: the operator's file, checked whole at the start.

This module decides the grammar of the file, and which addresses may be trusted with a sign-in. It
speaks with no provider.
"""

import logging
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from hwci.server.errors import SettingsError
from hwci.server.services.people.provider_emails import of_one_tenant
from hwci.server.settings import Settings, is_safe
from hwci.wire.errors import message_of

LOG = logging.getLogger("hwci.server")

_NAME = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
_FIX = "correct the file, then try again"
_MANY_TENANTS = (
    "trust_email needs an issuer of one tenant, since strangers have accounts at this one, with any"
    " address: name the tenant by its id (https://login.microsoftonline.com/<tenant id>/v2.0), or"
    " leave trust_email out"
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, and who we are to it. `name` stands in addresses, `title` is for people.
    `trust_email`: the operator vouches for the addresses of its directory.
    """

    name: str
    title: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: Sequence[str]
    trust_email: bool


def trusted_url(url: str) -> str:
    """Take an address that secrets may go to: over TLS, or within this machine. Raises
    `PydanticCustomError`: it is none.
    """
    if not is_safe(url):
        raise PydanticCustomError("url", "Should be an https address (http for this machine only)")
    return url


TrustedUrl = Annotated[str, AfterValidator(trusted_url)]
_Filled = Annotated[str, Field(min_length=1)]


class _Entry(BaseModel):
    """A table `[providers.NAME]` as it is written."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    title: _Filled
    issuer: TrustedUrl
    client_id: _Filled
    client_secret: _Filled | None = None
    client_secret_file: _Filled | None = None
    scopes: list[_Filled] = ["openid", "email", "profile"]
    trust_email: bool = False

    @model_validator(mode="after")
    def _keys_fit_together(self) -> Self:
        if (self.client_secret is None) is (self.client_secret_file is None):
            raise PydanticCustomError("secret", "Give either client_secret_file or client_secret")
        if "openid" not in self.scopes:
            raise PydanticCustomError("scopes", "scopes should name openid")
        if self.trust_email and not of_one_tenant(self.issuer):
            raise PydanticCustomError("trust_email", _MANY_TENANTS)
        return self


def providers_of(settings: Settings) -> Mapping[str, Provider]:
    """Return the providers that the operator names; without a file there are none. Raises
    `SettingsError`: as `read_providers`, or `HWCI_BASE_URL`, to which providers send people
    back, is not set (contract, "Auth": "never taken from a request").
    """
    if settings.sso_file is None:
        return {}
    if settings.base_url is None:
        raise SettingsError(
            f"HWCI_SSO_FILE {settings.sso_file} is set without HWCI_BASE_URL, the address that"
            " providers send people back to",
            "set HWCI_BASE_URL to the address that people use, or unset HWCI_SSO_FILE",
        )
    providers = read_providers(settings.sso_file)
    _log_trusted(providers.values())
    return providers


def _log_trusted(providers: Iterable[Provider]) -> None:
    """Log whose each e-mail counts: no list names all issuers at which strangers have accounts."""
    issuers = [provider.issuer for provider in providers if provider.trust_email]
    if issuers:
        LOG.warning(
            "with trust_email, whoever may set an e-mail at %s can sign in here as whoever has it",
            ", ".join(issuers),
        )


def read_providers(path: Path) -> Mapping[str, Provider]:
    """Read the file of providers. Raises `SettingsError`, which names the key at fault."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise SettingsError(f"HWCI_SSO_FILE {path} cannot be read: {fault}", _FIX) from fault
    unknown = sorted(set(content) - {"providers"})
    entries = content.get("providers")
    if unknown or not isinstance(entries, dict):
        key = unknown[0] if unknown else "providers"
        raise _fault(path, key, "the file holds tables [providers.NAME] and nothing else")
    return {name: _provider(path, name, entry) for name, entry in entries.items()}


def _provider(path: Path, name: str, written: object) -> Provider:
    key = f"providers.{name}"
    if not _NAME.fullmatch(name):
        raise _fault(path, key, "a name is 1 to 32 of a-z, 0-9 and -")
    try:
        entry = _Entry.model_validate(written)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _fault(path, ".".join([key, *map(str, first["loc"])]), message_of(first)) from None
    secret = entry.client_secret or _kept(path, key, entry.client_secret_file or "")
    return Provider(
        name,
        entry.title,
        entry.issuer,
        entry.client_id,
        secret,
        tuple(entry.scopes),
        entry.trust_email,
    )


def _kept(path: Path, key: str, named: str) -> str:
    """Read a secret from its file; a relative name starts beside the file of providers."""
    try:
        secret = (path.parent / named).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise _fault(path, f"{key}.client_secret_file", f"cannot be read: {fault}") from fault
    if not secret:
        raise _fault(path, f"{key}.client_secret_file", f"{named} is empty")
    return secret


def _fault(path: Path, key: str, fault: str) -> SettingsError:
    return SettingsError(f"HWCI_SSO_FILE {path}: {key}: {fault}", _FIX)
