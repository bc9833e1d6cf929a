# SPDX-License-Identifier: Apache-2.0
"""What a provider's word about an e-mail is worth (contract, "Auth"; ADR 0017).

This module decides which e-mail of an ID token or of userinfo counts as its person's, and of which
issuers nobody may trust the addresses of all accounts. Which account the e-mail opens is decided in
`sso.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from hwci.wire.accounts import Email

_EMAIL = TypeAdapter(Email)
_GUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_CONSUMERS = "9188040d-6c67-4b5b-b112-36a304b66dad"
"""The tenant of Microsoft in which all personal accounts are."""
_OF_MICROSOFT = frozenset(
    {
        "login.microsoftonline.com",
        "login.microsoftonline.us",
        "login.partner.microsoftonline.cn",
        "login.windows.net",
        "sts.windows.net",
    }
)
_ONE_TENANT = re.compile(rf"/(?!{_CONSUMERS})(?:{_GUID})(?:/v2\.0)?/?", re.ASCII | re.IGNORECASE)
_OPEN_TO_ALL = frozenset(
    {
        "access.line.me",
        "accounts.google.com",
        "accounts.huawei.com",
        "api.login.yahoo.com",
        "appleid.apple.com",
        "auth.atlassian.com",
        "auth.login.yahoo.co.jp",
        "codeberg.org",
        "discord.com",
        "gitea.com",
        "gitlab.com",
        "huggingface.co",
        "id.twitch.tv",
        "login.salesforce.com",
        "login.yahoo.com",
        "orcid.org",
        "slack.com",
        "test.salesforce.com",
        "www.dropbox.com",
        "www.facebook.com",
        "www.linkedin.com",
        "www.paypal.com",
    }
)
"""Issuers that anybody may have an account at: each has one name for all its customers."""
_WRITES_TEXT = re.compile(
    r"https://cognito-idp\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/[^/]+", re.ASCII
)
"""Issuers whose documentation has `email_verified` as text: Amazon Cognito, in its userinfo."""
_KINDS: Mapping[type, str] = {
    bool: "false",
    str: "text",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def of_one_tenant(issuer: str) -> bool:
    """Return whether an issuer may be of one organization alone: it is none of those that are known
    to be of many. Only the operator can say so of any other.
    """
    parts = urlsplit(issuer)
    host = (parts.hostname or "").rstrip(".")
    if host in _OF_MICROSOFT:
        return _ONE_TENANT.fullmatch(parts.path) is not None
    return host not in _OPEN_TO_ALL


@dataclass(frozen=True, slots=True)
class StatedEmail:
    """The e-mail of a person; None if it does not count, and `fault`, which has no value of it."""

    email: str | None
    fault: str = ""


def stated_email(
    issuer: str,
    id_token: Mapping[str, Any],
    userinfo: Mapping[str, Any] | None,
    *,
    trusted: bool,
) -> StatedEmail:
    """Return the e-mail that a provider states to be its person's. Without `userinfo` both claims
    are in the ID token, or there is no other place.

    An e-mail and whether it is verified are taken from one place. `trusted`: the operator vouches
    for each address of the directory, so that what one place leaves out the other one may say, and
    an address without `email_verified` counts. That it is *not* verified, no operator overrules.
    """
    place, claims = ("ID token", id_token) if userinfo is None else ("userinfo", userinfo)
    if trusted and userinfo is not None:
        stated = {name: value for name, value in userinfo.items() if value is not None}
        place, claims = "ID token and userinfo", {**id_token, **stated}
    email = _fitting(claims.get("email"))
    if email is None:
        return StatedEmail(None, _fault("email", place, claims, "and no e-mail that can be kept"))
    verified = claims.get("email_verified")
    counts = verified is True or (
        verified == "true" and (trusted or _WRITES_TEXT.fullmatch(issuer) is not None)
    )
    if counts or (trusted and verified is None):
        return StatedEmail(email)
    return StatedEmail(None, _fault("email_verified", place, claims, "and only true counts"))


def _fault(claim: str, place: str, claims: Mapping[str, Any], rule: str) -> str:
    if claim not in claims:
        return f"{claim} is missing in its {place}"
    return f"{claim} of its {place} is {_KINDS.get(type(claims[claim]), 'of another kind')}, {rule}"


def _fitting(value: object) -> str | None:
    """Return a value of a provider if it is an e-mail as we keep it, else None."""
    try:
        return _EMAIL.validate_python(value, strict=True)
    except ValidationError:
        return None
