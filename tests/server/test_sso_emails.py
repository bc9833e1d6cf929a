# SPDX-License-Identifier: Apache-2.0
"""Which e-mail of a provider counts (contract, "Auth"; ADR 0017): of each provider that the how-to
names, what its documentation says that it sends, at its own address and over TLS.
"""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from tests.server.crooked import PERSON, Crooked, Json, crooked_provider, of_now
from tests.server.single_sign_on import who
from tests.support.browsing import Stop, browsing
from tests.support.certificates import Pair, make_pair
from tests.support.providers import sso_file
from tests.support.running import EMAIL, Hands, RunningServer, running_in_thread

TENANT = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"
ISSUERS = {
    "entra": f"https://login.microsoftonline.com/{TENANT}/v2.0",
    "entra-us": f"https://login.microsoftonline.us/{TENANT}/v2.0",
    "entra-v1": f"https://sts.windows.net/{TENANT}/",
    "entra-plain": f"https://login.microsoftonline.com/{TENANT.upper()}/v2.0",
    "google": "https://accounts.google.com",
    "okta": "https://corp.okta.com",
    "okta-custom": "https://corp.okta.com/oauth2/default",
    "keycloak": "https://id.corp.example/realms/corp",
    "keycloak-trusted": "https://id.corp.example/realms/trusted",
    "gitlab": "https://gitlab.com",
    "gitlab-own": "https://git.corp.example",
    "cognito": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Q7hf2aBcD",
    "cognito-cn": "https://cognito-idp.cn-north-1.amazonaws.com.cn/cn-north-1_Q7hf2aBcD",
    "corp": "https://sso.corp.example",
}
TRUSTED = {"entra", "entra-us", "entra-v1", "keycloak-trusted", "gitlab-own", "corp"}
ADA = "ada@corp.example"


@dataclass(frozen=True)
class Case:
    """A sign-in: what the ID token and userinfo say beside `sub`, and what becomes of it: the
    e-mail of the account, or the reason in the log.
    """

    provider: str
    id_token: Json
    userinfo: Json | None = None
    email: str | None = ADA
    fault: str = ""


OF_ENTRA: Json = {
    "ver": "2.0",
    "tid": TENANT,
    "oid": "690222be-ff1a-4d56-abd1-7e4f7d38e474",
    "name": "Ada",
    "preferred_username": "ada@corp.onmicrosoft.com",
    "rh": "0.AX",
    "uti": "fqiBqXLPj0eQa82S-IYFAA",
}
GRAPH: Json = {"name": "Ada", "given_name": "Ada", "picture": "https://graph.microsoft.com/x"}
OF_OKTA: Json = {"ver": 1, "name": "Ada", "preferred_username": ADA, "idp": "00o1", "amr": ["pwd"]}
OF_KEYCLOAK: Json = {"typ": "ID", "acr": "1", "preferred_username": "ada", "name": "Ada"}
OF_COGNITO: Json = {"token_use": "id", "cognito:username": "ada", "auth_time": 1}
MISSING = "email_verified is missing in its userinfo"

CASES = {
    "Entra ID, as the operator trusts its directory": Case(
        "entra", {**OF_ENTRA, "email": ADA}, {**GRAPH, "email": ADA}
    ),
    "Entra ID, e-mail in the ID token alone": Case("entra", {**OF_ENTRA, "email": ADA}, GRAPH),
    "Entra ID, e-mail in userinfo alone": Case("entra", OF_ENTRA, {**GRAPH, "email": ADA}),
    "Entra ID, without userinfo": Case("entra", {**OF_ENTRA, "email": ADA}),
    "Entra ID of the government": Case("entra-us", {**OF_ENTRA, "email": ADA}, GRAPH),
    "Entra ID, tokens of version 1": Case(
        "entra-v1", {"ver": "1.0", "upn": "ada@corp", "tid": TENANT, "email": ADA}
    ),
    "Entra ID, whose directory is not trusted": Case(
        "entra-plain", {**OF_ENTRA, "email": ADA}, {**GRAPH, "email": ADA}, None, MISSING
    ),
    "Entra ID, a user without a mailbox": Case(
        *("entra", OF_ENTRA, GRAPH, None),
        "email is missing in its ID token and userinfo",
    ),
    "Google": Case(
        "google", {"email": ADA, "email_verified": True, "hd": "corp.example", "azp": "hwci-tests"}
    ),
    "Google, not verified": Case(
        *("google", {"email": ADA, "email_verified": False}, None, None),
        "email_verified of its ID token is false, and only true counts",
    ),
    "Okta, a thin ID token": Case(
        "okta", {**OF_OKTA, "email": ADA}, {**OF_OKTA, "email": ADA, "email_verified": True}
    ),
    "Okta, a server of one's own": Case(
        "okta-custom", {**OF_OKTA, "email": ADA, "email_verified": True}
    ),
    "Okta, not verified": Case(
        *("okta", {**OF_OKTA, "email": ADA}, {"email": ADA, "email_verified": False}, None),
        "email_verified of its userinfo is false, and only true counts",
    ),
    "Keycloak": Case("keycloak", {**OF_KEYCLOAK, "email": ADA, "email_verified": True}),
    "Keycloak, from a directory without its Trust Email": Case(
        *("keycloak", {**OF_KEYCLOAK, "email": ADA, "email_verified": False}, None, None),
        "email_verified of its ID token is false, and only true counts",
    ),
    "Keycloak, which says no whatever the operator says": Case(
        *("keycloak-trusted", {**OF_KEYCLOAK, "email": ADA, "email_verified": False}, None, None),
        "email_verified of its ID token is false, and only true counts",
    ),
    "Keycloak, a mapper that writes text": Case(
        *("keycloak", {**OF_KEYCLOAK, "email": ADA, "email_verified": "true"}, None, None),
        "email_verified of its ID token is text, and only true counts",
    ),
    "GitLab": Case("gitlab", {"email": ADA, "email_verified": True, "nickname": "ada"}),
    "GitLab, claims in userinfo": Case(
        "gitlab", {"auth_time": 1}, {"email": ADA, "email_verified": True, "groups": ["corp"]}
    ),
    "GitLab, the scope email left out": Case(
        *("gitlab", {"auth_time": 1}, {"name": "Ada"}, None),
        "email is missing in its userinfo",
    ),
    "GitLab of one's own, trusted": Case("gitlab-own", {"email": ADA}, {"email": ADA}),
    "Cognito": Case("cognito", {**OF_COGNITO, "email": ADA, "email_verified": True}),
    "Cognito, text in userinfo": Case(
        "cognito", OF_COGNITO, {"username": "ada", "email": ADA, "email_verified": "true"}
    ),
    "Cognito in China, text in userinfo": Case(
        "cognito-cn", OF_COGNITO, {"email": ADA, "email_verified": "true"}
    ),
    "Cognito, text that says no": Case(
        *("cognito", OF_COGNITO, {"email": ADA, "email_verified": "false"}, None),
        "email_verified of its userinfo is text, and only true counts",
    ),
    "a trusted provider that writes text": Case(
        "corp", {"email": ADA}, {"email": ADA, "email_verified": "true"}
    ),
    "a trusted provider that says null": Case("corp", {"email": ADA, "email_verified": None}),
    "a trusted provider that says no in one place and null in the other": Case(
        *("corp", {"email_verified": False}, {"email": ADA, "email_verified": None}, None),
        "email_verified of its ID token and userinfo is false, and only true counts",
    ),
    "a trusted provider that says no of another e-mail": Case(
        *("corp", {"email": EMAIL}, {"email": ADA, "email_verified": False}, None),
        "email_verified of its ID token and userinfo is false, and only true counts",
    ),
    "a trusted provider that says it as text": Case(
        *("corp", {"email": ADA, "email_verified": "false"}, None, None),
        "email_verified of its ID token is text, and only true counts",
    ),
    "a trusted provider that says 1": Case(
        *("corp", {"email": ADA, "email_verified": 1}, None, None),
        "email_verified of its ID token is a number, and only true counts",
    ),
    "a trusted provider of several e-mails": Case(
        *("corp", {"email": [ADA]}, {}, None),
        "email of its ID token and userinfo is a list, and no e-mail that can be kept",
    ),
    "a trusted provider of no e-mail": Case(
        *("corp", {"email": "ada"}, {}, None),
        "email of its ID token and userinfo is text, and no e-mail that can be kept",
    ),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    hosts = {str(urlsplit(issuer).hostname) for issuer in ISSUERS.values()}
    return make_pair(tmp_path_factory.mktemp("tls"), hosts=sorted(hosts))


@pytest.fixture(scope="module")
def provider(pair: Pair) -> Iterator[Crooked]:
    """One provider that speaks for all: their names lead to it, and what asks trusts its word."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pair.certificate, pair.key)
    hosts = {urlsplit(issuer).hostname for issuer in ISSUERS.values()}
    look_up = socket.getaddrinfo
    with crooked_provider(tls) as provider, pytest.MonkeyPatch.context() as patch:
        port = urlsplit(provider.url).port

        def here(host: Any, service: Any, *args: Any, **options: Any) -> Any:
            if host in hosts:
                host, service = "127.0.0.1", port
            return look_up(host, service, *args, **options)

        patch.setattr(socket, "getaddrinfo", here)
        patch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", pair.trusting)
        yield provider


@pytest.fixture(scope="module")
def clock() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
def server(clock: Hands, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    file = sso_file(folder, trusted=TRUSTED, **ISSUERS)
    with running_in_thread(folder, clock=clock, sso_file=file) as server:
        yield server


def speaks(provider: Crooked, clock: Hands, name: str, case: Case) -> None:
    """Have the provider say what a case says, of a person that nobody has seen yet."""
    clock.move(hours=1)  # what is known of a provider is kept for an hour
    provider.url = issuer = ISSUERS[case.provider]
    provider.straighten()
    of_now(provider, clock)
    provider.claims |= {**dict.fromkeys(PERSON), "sub": name}
    # Not laid over the claims of an honest one, for which null takes a claim away.
    provider.sign = lambda claims: provider.signed({**claims, **case.id_token})
    if case.userinfo is None:
        provider.discovery = {"userinfo_endpoint": None}
    else:
        profile = {**case.userinfo, "sub": name}
        path = f"{urlsplit(issuer).path.rstrip('/')}/userinfo"
        provider.answers = {path: lambda: web.json_response(profile)}


async def come(server: RunningServer, case: Case) -> tuple[Stop, Any]:
    """Sign in; return where that ends, and who the browser is signed in as."""
    async with browsing() as browser:
        stop = await browser.open(f"{server.url}/api/auth/sso/{case.provider}/login")
        return stop, who(server, browser) if "hwci_rt" in browser.cookies() else None


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=list(CASES))
async def test_an_e_mail_counts_as_the_provider_or_the_operator_says(
    provider: Crooked,
    server: RunningServer,
    clock: Hands,
    caplog: pytest.LogCaptureFixture,
    name: str,
    case: Case,
) -> None:
    speaks(provider, clock, name, case)

    stop, me = await come(server, case)

    if case.email is not None:
        assert stop.url == f"{server.url}/", stop.body
        assert me["user"]["email"] == case.email
        return
    assert me is None
    assert stop.message[0] == 403
    (line,) = [record.message for record in caplog.records if "single sign-on" in record.message]
    assert line == f"single sign-on through {case.provider} is refused: {case.fault}"
    assert ADA not in caplog.text


async def test_an_address_of_a_trusted_directory_opens_the_account_that_has_it(
    provider: Crooked, server: RunningServer, clock: Hands
) -> None:
    case = Case("entra", {**OF_ENTRA, "email": EMAIL.upper()}, GRAPH, EMAIL)
    speaks(provider, clock, "owner", case)

    _, me = await come(server, case)

    assert me["user"]["email"] == EMAIL
    assert [org["id"] for org in me["organizations"]] == [str(server.org_id)]


async def test_what_the_operator_can_mend_of_any_refusal_is_in_the_log_once(
    provider: Crooked, server: RunningServer, clock: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    case = Case("google", {"email": "faß@corp.example", "email_verified": True})
    speaks(provider, clock, "folded", case)
    stop, _ = await come(server, case)
    provider.back = {"code": None, "error": "consent_required"}
    await come(server, case)

    at_provider = "Google did not sign you in (consent_required); sign in again"
    lines = [record.message for record in caplog.records if "single sign-on" in record.message]
    assert lines == [
        f"single sign-on through google is refused: {cause}"
        for cause in (stop.message[1], at_provider)
    ]
