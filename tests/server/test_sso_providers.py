# SPDX-License-Identifier: Apache-2.0
"""The operator's file of providers: what it may hold, and that a server does not start with a bad
one.
"""

import json
from pathlib import Path

import pytest

from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.errors import ProviderError, SettingsError
from hwci.server.services.people.relying_party import Binding, RelyingParty
from hwci.server.services.people.sso_providers import providers_of, read_providers
from hwci.server.services.published_keys import Outgoing
from hwci.server.settings import Settings

GOOD = """
[providers.acme]
title = "Acme"
issuer = "https://accounts.example.org"
client_id = "hwci"
client_secret = "s3cret"
"""


def file_of(folder: Path, text: str) -> Path:
    file = folder / "sso.toml"
    file.write_text(text)
    return file


def settings(file: Path, base_url: str | None) -> Settings:
    return Settings(database="memory:", port=0, sso_file=file, base_url=base_url)


async def test_a_server_does_not_start_with_providers_and_no_address_of_its_own(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError, match=r"without HWCI_BASE_URL.*; set HWCI_BASE_URL"):
        async with serving(settings(file_of(tmp_path, GOOD), None)):
            pass


def test_without_a_file_there_is_no_provider() -> None:
    assert providers_of(Settings()) == {}


def test_a_secret_stands_in_the_file_or_in_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    beside = GOOD.replace('client_secret = "s3cret"', 'client_secret_file = "secret"')
    absolute = GOOD.replace('client_secret = "s3cret"', f"client_secret_file = '{tmp_path}/secret'")

    for text in (GOOD, beside, absolute):
        provider = read_providers(file_of(tmp_path, text))["acme"]
        assert (provider.name, provider.title) == ("acme", "Acme")
        assert provider.client_secret == "s3cret"
        assert "s3cret" not in repr(provider)


def test_scopes_are_the_usual_ones_unless_asked_otherwise(tmp_path: Path) -> None:
    assert read_providers(file_of(tmp_path, GOOD))["acme"].scopes == ("openid", "email", "profile")
    result = read_providers(file_of(tmp_path, f'{GOOD}scopes = ["openid", "groups"]'))["acme"]
    assert result.scopes == ("openid", "groups")


@pytest.mark.parametrize(
    "issuer",
    ["http://127.0.0.1:9", "http://localhost", "http://[::1]:9/realm", "https://x.example/realm/"],
)
def test_an_issuer_is_https_or_on_this_machine(tmp_path: Path, issuer: str) -> None:
    text = GOOD.replace("https://accounts.example.org", issuer)

    assert read_providers(file_of(tmp_path, text))["acme"].issuer == issuer


BAD = {
    "": "providers: the file holds tables [providers.NAME] and nothing else",
    "providers = 1": "providers: the file holds",
    f"{GOOD}[provider.acme]": "provider: the file holds",
    "[providers": "cannot be read: ",
    GOOD.replace("acme", "Acme"): "providers.Acme: a name is 1 to 32 of a-z, 0-9 and -",
    GOOD.replace("acme", "a" * 33): "a name is 1 to 32",
    GOOD.replace("acme", '"a/b"'): "providers.a/b: a name",
    "[providers]\nacme = 1": "providers.acme: Input should be an object",
    GOOD.replace('title = "Acme"', ""): "providers.acme.title: Field required",
    GOOD.replace('"Acme"', '""'): "providers.acme.title: String should have at least 1 character",
    GOOD.replace("https", "http"): "providers.acme.issuer: Should be an https address",
    GOOD.replace("https://accounts.example.org", "https://"): "providers.acme.issuer: ",
    GOOD.replace("https://accounts.example.org", "https://[::"): "providers.acme.issuer: ",
    GOOD.replace('"hwci"', "7"): "providers.acme.client_id: Input should be a valid string",
    GOOD.replace("client_secret", "client_secrets"): "providers.acme.client_secrets: Extra inputs",
    GOOD.replace('client_secret = "s3cret"', ""): "providers.acme: Give either client_secret_file",
    f'{GOOD}client_secret_file = "x"': "providers.acme: Give either client_secret_file",
    GOOD.replace('client_secret = "s3cret"', 'client_secret_file = "away"'): (
        "providers.acme.client_secret_file: cannot be read: "
    ),
    GOOD.replace('client_secret = "s3cret"', 'client_secret_file = "empty"'): (
        "providers.acme.client_secret_file: empty is empty"
    ),
    f'{GOOD}scopes = ["email"]': "providers.acme: scopes should name openid",
    f'{GOOD}trust_email = "true"': "providers.acme.trust_email: Input should be a valid boolean",
}


@pytest.mark.parametrize(("text", "fault"), BAD.items(), ids=list(BAD.values()))
async def test_a_server_does_not_start_with_a_bad_file(
    tmp_path: Path, text: str, fault: str
) -> None:
    (tmp_path / "empty").write_text("\n")
    file = file_of(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        async with serving(settings(file, "https://hwci.example.org")):
            pass

    message = str(raised.value)
    assert message.startswith(f"HWCI_SSO_FILE {file}")
    assert fault in message
    assert "s3cret" not in message
    assert "\n" not in message


TENANT = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"
OF_MANY = [
    "https://login.microsoftonline.com/common/v2.0",
    "https://login.microsoftonline.com/organizations/v2.0",
    "https://login.microsoftonline.com/consumers/v2.0",
    "https://login.microsoftonline.com/{tenantid}/v2.0",
    "https://login.microsoftonline.com/9188040d-6c67-4b5b-b112-36a304b66dad/v2.0",
    "https://login.microsoftonline.com/9188040D-6C67-4B5B-B112-36A304B66DAD/v2.0",
    "https://LOGIN.microsoftonline.com./common/v2.0",
    "https://login.microsoftonline.com:443/common/v2.0",
    "https://login.microsoftonline.com/corp.example/v2.0",
    f"https://login.microsoftonline.com/common/{TENANT}/v2.0",
    f"https://login.microsoftonline.com/{TENANT}/../common/v2.0",
    "https://login.microsoftonline.com",
    "https://login.microsoftonline.us/common/v2.0",
    "https://login.partner.microsoftonline.cn/organizations/v2.0",
    "https://sts.windows.net/9188040d-6c67-4b5b-b112-36a304b66dad/",
    "https://accounts.google.com",
    "https://gitlab.com",
    "https://www.linkedin.com/oauth",
    "https://access.line.me",
    "https://accounts.huawei.com",
    "https://api.login.yahoo.com",
    "https://auth.atlassian.com",
    "https://auth.login.yahoo.co.jp/yconnect/v2",
    "https://discord.com",
    "https://huggingface.co",
    "https://orcid.org",
    "https://test.salesforce.com",
    "https://www.dropbox.com",
    "https://www.paypal.com",
]
OF_ONE = [
    f"https://login.microsoftonline.com/{TENANT}/v2.0",
    f"https://login.microsoftonline.com/{TENANT.upper()}/v2.0",
    f"https://login.microsoftonline.us/{TENANT}/v2.0",
    f"https://sts.windows.net/{TENANT}/",
    f"https://corp.ciamlogin.com/{TENANT}/v2.0",
    "https://corp.okta.com/oauth2/default",
    "https://id.corp.example/realms/corp",
    "https://gitlab.corp.example",
    "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Q7hf2aBcD",
    "http://127.0.0.1:9",
]


@pytest.mark.parametrize("issuer", OF_MANY)
async def test_a_server_does_not_start_that_trusts_the_addresses_of_many_tenants(
    tmp_path: Path, issuer: str
) -> None:
    text = GOOD.replace("https://accounts.example.org", issuer)
    file = file_of(tmp_path, f"{text}trust_email = true")
    with pytest.raises(SettingsError) as raised:
        async with serving(settings(file, "https://hwci.example.org")):
            pass

    (line,) = str(raised.value).splitlines()
    assert line.startswith(
        f"HWCI_SSO_FILE {file}: providers.acme: trust_email needs an issuer of one tenant"
    )
    assert "leave trust_email out" in line
    assert not read_providers(file_of(tmp_path, text))["acme"].trust_email, "without it, it starts"


@pytest.mark.parametrize("issuer", OF_ONE)
def test_an_operator_may_trust_the_addresses_of_one_tenant(tmp_path: Path, issuer: str) -> None:
    text = GOOD.replace("https://accounts.example.org", issuer)

    assert read_providers(file_of(tmp_path, f"{text}trust_email = true"))["acme"].trust_email
    assert not read_providers(file_of(tmp_path, f"{text}trust_email = false"))["acme"].trust_email


async def test_each_start_logs_the_issuers_that_are_trusted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [
        GOOD.replace("acme", name).replace("accounts", name) + f"trust_email = {trusted}"
        for name, trusted in (("one", "true"), ("two", "true"), ("other", "false"))
    ]
    file = file_of(tmp_path, "".join(texts))
    for _ in range(2):
        caplog.clear()
        async with serving(settings(file, "https://hwci.example.org")):
            pass

        (line,) = [text for text in caplog.messages if "trust_email" in text]
        assert "at https://one.example.org, https://two.example.org can sign in" in line


async def test_a_start_without_trust_logs_no_issuer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(settings(file_of(tmp_path, GOOD), "https://hwci.example.org")):
        pass

    assert "trust_email" not in caplog.text


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"sso\.toml cannot be read: "):
        read_providers(tmp_path / "sso.toml")


@pytest.mark.parametrize(
    "endpoint", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]
)
async def test_a_provider_with_tls_does_not_lead_to_this_machine_without_it(
    tmp_path: Path, endpoint: str
) -> None:
    issuer = "https://accounts.example.org"
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
    described = {"issuer": issuer, **dict.fromkeys(names, f"{issuer}/x")}

    async def fetch(outgoing: Outgoing) -> bytes:
        assert outgoing.url == f"{issuer}/.well-known/openid-configuration"
        return json.dumps(described).encode()

    def party() -> RelyingParty:
        provider = read_providers(file_of(tmp_path, GOOD))["acme"]
        return RelyingParty(provider, fetch, system_clock)

    binding = Binding("state", "nonce", "verifier")
    assert (await party().authorization_url(binding, "")).startswith(f"{issuer}/x?")
    described[endpoint] = "http://127.0.0.1/admin"
    with pytest.raises(ProviderError, match="is not usable"):
        await party().authorization_url(binding, "")
