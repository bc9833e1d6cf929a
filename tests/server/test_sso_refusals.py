# SPDX-License-Identifier: Apache-2.0
"""What a provider may not do: each way in which its answer can be wrong lets nobody in, tells the
browser nothing of the cause, and stands in the log.
"""

import asyncio
import json
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from hwci.server.app import CreateUser
from tests.server.crooked import KID, PERSON, Crooked, crooked_provider, of_now, public, rsa_key
from tests.support.answering import unused_url
from tests.support.asking import ask
from tests.support.browsing import Stop, browsing
from tests.support.providers import CLIENT, SECRET, sso_file
from tests.support.running import PASSWORD, Hands, RunningServer, running_in_thread

LOGIN = "/api/auth/sso/crooked/login"
NO_PROOF = (401, "Crooked gave no proof of who you are; sign in again")
UNREACHABLE = (401, "Crooked cannot be reached now; try again in a minute")
Bend = Callable[[Crooked], None]


@pytest.fixture(scope="module")
def running() -> Iterator[Crooked]:
    with crooked_provider() as found:
        yield found


@pytest.fixture
def provider(running: Crooked) -> Crooked:
    running.straighten()
    return running


@pytest.fixture(scope="module")
def clock() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
def server(
    running: Crooked, clock: Hands, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    file = sso_file(folder, crooked=running.url, down=unused_url())
    with running_in_thread(folder, clock=clock, sso_file=file) as found:
        yield found


@pytest.fixture(autouse=True)
def _provider_is_asked_again(clock: Hands) -> None:
    """What is known of the provider is kept for an hour: a bend would not be seen."""
    clock.move(hours=1)


async def come(server: RunningServer) -> tuple[Stop, bool]:
    """Sign in; return where that ends, and whether the browser is let in."""
    async with browsing() as browser:
        stop = await browser.open(server.url + LOGIN)
        return stop, "hwci_rt" in browser.cookies()


async def is_let_in(server: RunningServer) -> bool:
    return (await come(server))[1]


async def refused(server: RunningServer) -> tuple[int, str]:
    stop, let_in = await come(server)
    assert not let_in
    return stop.message


@pytest.fixture(autouse=True)
def _speaks_of_now(provider: Crooked, clock: Hands, _provider_is_asked_again: None) -> None:
    of_now(provider, clock)


async def test_the_provider_is_honest_until_it_is_bent(server: RunningServer) -> None:
    assert await is_let_in(server)


CLAIMS: dict[str, dict[str, Any]] = {
    "of another sign-in": {"nonce": "another"},
    "of no sign-in": {"nonce": None},
    "with a number for a nonce": {"nonce": 1},
    "of another issuer": {"iss": "https://accounts.example.org"},
    "of an issuer with one letter more": {"iss": "http://127.0.0.1/"},
    "of no issuer": {"iss": None},
    "for another client": {"aud": "another"},
    "for other clients": {"aud": ["another", "a third"]},
    "for nobody": {"aud": None},
    "for several and not made for us": {"aud": [CLIENT, "another"], "azp": "another"},
    "for several and made for nobody": {"aud": [CLIENT, "another"]},
    "for us and made for another": {"azp": "another"},
    "without an end": {"exp": None},
    "without an end in time": {"exp": "soon"},
    "without a beginning": {"iat": None},
    "of nobody": {"sub": None},
    "of nobody by name": {"sub": ""},
    "of a number": {"sub": 7},
    "of somebody too long to keep": {"sub": "s" * 256},
    "of somebody who cannot be kept": {"sub": "a\0b"},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=list(CLAIMS))
async def test_an_id_token_lets_nobody_in_that_is(
    provider: Crooked, server: RunningServer, claims: dict[str, Any]
) -> None:
    provider.claims |= claims

    assert await refused(server) == NO_PROOF


async def test_an_id_token_may_list_us_alone(provider: Crooked, server: RunningServer) -> None:
    provider.claims |= {"aud": [CLIENT]}

    assert await is_let_in(server)


def unsigned(claims: dict[str, Any], algorithm: str, **header: Any) -> str:
    parts = [{"alg": algorithm, **header}, claims]
    written = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join([*written, b""]).decode()


def by_bytes(provider: Crooked, claims: dict[str, Any]) -> str:
    """Sign with the public key as if it were a secret one: whoever reads it could."""
    pem = provider.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hmac_signed(claims, pem)


def hmac_signed(claims: dict[str, Any], key: bytes) -> str:
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    head = unsigned(claims, "HS256").rstrip(".")
    return f"{head}.{urlsafe_b64encode(algorithm.sign(head.encode(), key)).rstrip(b'=').decode()}"


def signed_by(key: Any, algorithm: str = "RS256", **header: Any) -> Callable[[Any], str]:
    return lambda claims: jwt.encode(claims, key, algorithm, headers={"kid": KID, **header})


def short_key(provider: Crooked) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    provider.keys = [public(key, kid=KID)]
    algorithm = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256)

    def sign(claims: dict[str, Any]) -> str:
        head = unsigned(claims, "RS256").rstrip(".")
        return f"{head}.{urlsafe_b64encode(algorithm.sign(head.encode(), key)).decode()}"

    provider.sign = sign


def sign(how: Callable[[Crooked, Any], str]) -> Bend:
    def bend(provider: Crooked) -> None:
        provider.sign = lambda claims: how(provider, claims)

    return bend


def secret_is_published(provider: Crooked) -> None:
    """An `oct` key in the set is a secret that everybody reads."""
    k = urlsafe_b64encode(b"k" * 32).rstrip(b"=").decode()
    provider.keys = [{"kty": "oct", "kid": KID, "k": k}]
    provider.sign = lambda claims: hmac_signed(claims, b"k" * 32)


SIGNATURES: dict[str, Bend] = {
    "nobody": sign(lambda _, claims: unsigned(claims, "none")),
    "nobody, in capitals": sign(lambda _, claims: unsigned(claims, "NONE")),
    "a public key": sign(by_bytes),
    "the client's secret": sign(lambda _, claims: hmac_signed(claims, SECRET.encode())),
    "a published secret": secret_is_published,
    "another key": sign(lambda _, claims: signed_by(rsa_key())(claims)),
    "a key that is not published": sign(
        lambda provider, claims: signed_by(provider.key, kid="unknown")(claims)
    ),
    "a key for encryption": lambda provider: provider.keys.__setitem__(
        0, public(provider.key, kid=KID, use="enc")
    ),
    "a key of another algorithm": lambda provider: provider.keys.__setitem__(
        0, public(provider.key, kid=KID, alg="RS512")
    ),
    "a short key": short_key,
    "a key with an extension": sign(
        lambda provider, claims: signed_by(provider.key, crit=["x"], x=1)(claims)
    ),
    "a kid that is a number": sign(lambda _, claims: unsigned(claims, "RS256", kid=7)),
    "no token": sign(lambda *_: "x"),
    "a token in three empty parts": sign(lambda *_: ".."),
}


@pytest.mark.parametrize("bend", SIGNATURES.values(), ids=list(SIGNATURES))
async def test_an_id_token_lets_nobody_in_that_is_signed_by(
    provider: Crooked, server: RunningServer, bend: Bend
) -> None:
    bend(provider)

    assert await refused(server) == NO_PROOF


KINDS: dict[str, tuple[Any, Any]] = {
    "RS384": (rsa_key, jwt.algorithms.RSAAlgorithm),
    "PS256": (rsa_key, jwt.algorithms.RSAAlgorithm),
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), jwt.algorithms.ECAlgorithm),
    "ES384": (lambda: ec.generate_private_key(ec.SECP384R1()), jwt.algorithms.ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate, jwt.algorithms.OKPAlgorithm),
}


@pytest.mark.parametrize("algorithm", KINDS)
async def test_public_keys_of_every_usual_kind_are_read(
    provider: Crooked, server: RunningServer, algorithm: str
) -> None:
    make, kind = KINDS[algorithm]
    key = make()
    provider.keys.append(public(key, kind, kid="second"))
    provider.sign = signed_by(key, algorithm, kid="second")

    assert await is_let_in(server)


@pytest.mark.parametrize("kid", [None, KID])
async def test_a_single_key_needs_no_name(
    provider: Crooked, server: RunningServer, kid: str | None
) -> None:
    provider.keys = [public(provider.key)]
    provider.sign = lambda claims: jwt.encode(
        claims, provider.key, "RS256", headers={"kid": kid} if kid else None
    )

    assert await is_let_in(server)


async def test_the_key_that_signed_is_named_among_several(
    provider: Crooked, server: RunningServer
) -> None:
    provider.keys = [public(provider.key), public(rsa_key())]
    provider.sign = lambda claims: jwt.encode(claims, provider.key, "RS256")

    assert await refused(server) == NO_PROOF


@pytest.mark.parametrize(
    ("by", "fault"),
    [
        ({"exp": -300 - 4}, None),
        ({"exp": -300 - 5}, "it has expired (exp)"),
        ({"iat": 5}, None),
        ({"iat": 6}, "it is not valid yet (iat, nbf)"),
        ({"nbf": 5}, None),
        ({"nbf": 6}, "it is not valid yet (iat, nbf)"),
    ],
    ids=str,
)
async def test_clocks_may_differ_by_five_seconds(
    provider: Crooked,
    server: RunningServer,
    clock: Hands,
    caplog: pytest.LogCaptureFixture,
    by: dict[str, int],
    fault: str | None,
) -> None:
    clock.now = clock.now.replace(microsecond=0)
    of_now(provider, clock, **by)

    assert await is_let_in(server) is (fault is None)
    assert fault is None or f"its ID token is not valid: {fault}\n" in caplog.text


async def test_a_provider_that_changes_its_keys_is_asked_for_the_new_ones_once_a_minute(
    provider: Crooked, server: RunningServer, clock: Hands
) -> None:
    assert await is_let_in(server)
    provider.key, old = rsa_key(), provider.key
    provider.keys = [public(provider.key, kid="tomorrow")]
    provider.sign = signed_by(provider.key, kid="tomorrow")
    try:
        assert not await is_let_in(server), "they were asked for within this minute"
        clock.move(minutes=1)
        assert await is_let_in(server)
        provider.sign = signed_by(provider.key, kid="never")
        for _ in range(3):
            assert not await is_let_in(server)
    finally:
        provider.key = old
    assert provider.asked["/keys"] == 2
    assert provider.asked["/.well-known/openid-configuration"] == 1


def says(status: int = 200, body: bytes = b"{}", **headers: str) -> Callable[[], web.Response]:
    return lambda: web.Response(
        status=status, body=body, headers=headers, content_type="application/json"
    )


ANSWERS: dict[str, tuple[str, Callable[[], web.Response]]] = {
    "its token endpoint fails": ("/token", says(500)),
    "its token endpoint sends us elsewhere": ("/token", says(307, Location="/other")),
    "its token endpoint is not JSON": ("/token", says(body=b"<html>")),
    "its token endpoint gives no ID token": ("/token", says(body=b'{"access_token": "x"}')),
    "its answer is endless": ("/token", says(body=b" " * (1024 * 1024 + 1))),
    "its keys are none": ("/keys", says()),
    "its keys are not objects": ("/keys", says(body=b'{"keys": [1]}')),
    "its keys are not a list": ("/keys", says(body=b'{"keys": 1}')),
    "its keys are away": ("/keys", says(404)),
}


@pytest.mark.parametrize("bent", ANSWERS.values(), ids=list(ANSWERS))
async def test_nobody_is_let_in_when(
    provider: Crooked, server: RunningServer, bent: tuple[str, Callable[[], web.Response]]
) -> None:
    path, answer = bent
    provider.answers[path] = answer

    assert await refused(server) == NO_PROOF
    assert provider.asked["/other"] == 0


@pytest.mark.parametrize(
    ("status", "filler", "let_in"),
    [(200, 1_000_000, True), (200, 1_048_576, False), (400, 0, False)],
)
async def test_an_answer_counts_that_is_good_and_of_a_usual_size(
    provider: Crooked, server: RunningServer, status: int, filler: int, let_in: bool
) -> None:
    subject = f"{status}-{filler}"
    provider.claims |= {"sub": subject, "email": None}
    given = {**PERSON, "sub": subject, "email": f"{subject}@x.org", "filler": "x" * filler}
    provider.answers["/userinfo"] = says(status, json.dumps(given).encode())

    assert await is_let_in(server) is let_in


BACK: dict[str, dict[str, Any]] = {
    "without a code": {"code": None},
    "with a code that is not the provider's": {"code": "made-up"},
    "from another issuer": {"iss": "https://accounts.example.org"},
}


@pytest.mark.parametrize("back", BACK.values(), ids=list(BACK))
async def test_a_browser_is_not_let_in_that_comes_back(
    provider: Crooked, server: RunningServer, back: dict[str, Any]
) -> None:
    provider.back = back

    assert await refused(server) == NO_PROOF


async def test_a_provider_that_promises_to_name_itself_has_to(
    provider: Crooked, server: RunningServer
) -> None:
    provider.discovery = {"authorization_response_iss_parameter_supported": True}
    assert await refused(server) == NO_PROOF

    provider.back = {"iss": provider.url}
    assert await is_let_in(server)


@pytest.mark.parametrize("said", ["access_denied", "<script>", "Zugriff verweigert\r\n"])
async def test_only_a_plain_code_of_a_providers_error_is_repeated(
    provider: Crooked, server: RunningServer, said: str
) -> None:
    provider.back = {"code": None, "error": said}

    code = said if said == "access_denied" else "error"
    assert await refused(server) == (403, f"Crooked did not sign you in ({code}); sign in again")


DISCOVERY: dict[str, dict[str, Any]] = {
    "is of another issuer": {"issuer": "http://localhost"},
    "lacks an endpoint": {"token_endpoint": None},
    "has an endpoint without TLS": {"token_endpoint": "http://accounts.example.org/token"},
    "has an endpoint in a file": {"jwks_uri": "file:///etc/passwd"},
    "has an endpoint nowhere": {"authorization_endpoint": "https://"},
}


@pytest.mark.parametrize("described", DISCOVERY.values(), ids=list(DISCOVERY))
async def test_nobody_is_sent_to_a_provider_whose_description(
    provider: Crooked, server: RunningServer, described: dict[str, Any]
) -> None:
    provider.discovery = described

    assert await refused(server) == UNREACHABLE
    assert provider.asked["/authorize"] == 0


async def test_a_provider_that_is_away_is_401_and_others_work_on(server: RunningServer) -> None:
    async with browsing() as browser:
        stop = await browser.open(server.url + LOGIN.replace("crooked", "down"))

    assert stop.message == (401, "Down cannot be reached now; try again in a minute")
    assert await is_let_in(server)


async def test_the_cause_is_for_the_log_without_any_secret(
    provider: Crooked, server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    token = provider.signed({**PERSON, "iss": "another"})
    provider.sign = lambda _: token
    with caplog.at_level(logging.DEBUG, "hwci.server"):
        await refused(server)
        provider.tokens, provider.sign = {"id_token": None}, None
        await refused(server)

    logged = caplog.text
    assert "single sign-on through crooked: its ID token is not valid: " in logged
    assert "single sign-on through crooked: its token answer is not usable: id_token" in logged
    assert [secret for secret in (SECRET, "sesame", token, "code-") if secret in logged] == []


async def test_the_secret_goes_where_the_provider_takes_it(
    provider: Crooked, server: RunningServer, clock: Hands
) -> None:
    for methods, in_form in (
        (None, False),
        (["client_secret_post", "client_secret_basic"], False),
        (["client_secret_post"], True),
        (["private_key_jwt"], False),
    ):
        provider.straighten()
        of_now(provider, clock)
        provider.discovery = {"token_endpoint_auth_methods_supported": methods}
        clock.move(hours=1)
        of_now(provider, clock)
        assert await is_let_in(server)
        form = provider.forms[-1]
        assert ("client_secret" in form, form["authorization"] is None) == (in_form, in_form)


@pytest.mark.parametrize("left_out", [("email",), ("email_verified",), ("email", "email_verified")])
async def test_what_the_id_token_leaves_out_is_asked_for(
    provider: Crooked, server: RunningServer, left_out: tuple[str, ...]
) -> None:
    subject = "quiet-of-" + "-".join(left_out)
    provider.claims |= {"sub": subject, "name": None, **dict.fromkeys(left_out)}
    provider.userinfo = {"sub": subject, "email": f"{subject}@crooked.example.org"}

    assert await is_let_in(server)
    assert provider.asked["/userinfo"] == 1


async def test_whether_an_e_mail_is_verified_is_shown_beside_it(
    provider: Crooked, server: RunningServer
) -> None:
    """An ID token may hold an e-mail that its person wrote, and userinfo verify another one."""
    provider.claims |= {"sub": "two", "email": server.email, "email_verified": None}
    provider.userinfo = {"sub": "two", "email": "two@x.org", "email_verified": False}

    assert (await refused(server))[0] == 403


@pytest.mark.parametrize(
    "userinfo", [{"sub": "another"}, {"sub": None}, {"sub": "quiet", "email": "not an e-mail"}]
)
async def test_userinfo_of_somebody_else_is_refused(
    provider: Crooked, server: RunningServer, userinfo: dict[str, Any]
) -> None:
    provider.claims |= {"sub": f"quiet {userinfo}", "email_verified": None}
    if "email" in userinfo:
        userinfo = {**userinfo, "sub": provider.claims["sub"]}
    provider.userinfo = userinfo

    assert (await refused(server))[0] == (403 if "email" in userinfo else 401)


@pytest.mark.parametrize("verified", [False, None, "false", "true", "yes", 1, 1.0, 2, [], {}])
async def test_only_a_plain_yes_verifies_an_e_mail(
    provider: Crooked, server: RunningServer, verified: Any
) -> None:
    provider.claims |= {"sub": f"{verified}", "email_verified": verified}
    provider.userinfo = {"sub": f"{verified}", "email_verified": verified}

    assert (await refused(server))[0] == 403


async def test_an_e_mail_links_no_account_of_one_that_only_folds_to_the_same(
    provider: Crooked, server: RunningServer
) -> None:
    """A Kelvin sign folds to a k, a long s to an s: at a provider they are other mailboxes."""
    assert await is_let_in(server)
    provider.claims |= {"sub": "kelvin", "email": PERSON["email"].replace("k", "\N{KELVIN SIGN}")}
    assert (await refused(server))[0] == 403

    squatter = {"email": "\N{LATIN SMALL LETTER LONG S}am@example.org", "password": PASSWORD}
    assert ask(server.url, "POST", "/api/auth/register", json_body=squatter).status == 201
    provider.claims |= {"sub": "sam", "email": "sam@example.org"}
    assert await is_let_in(server), "nobody proved the squatter's e-mail"
    assert ask(server.url, "POST", "/api/auth/login", json_body=squatter).status == 401
    of_operator = CreateUser(email="\N{LATIN SMALL LETTER LONG S}ue@example.org", password=PASSWORD)
    await asyncio.to_thread(server.operate, of_operator)
    provider.claims |= {"sub": "sue", "email": "sue@example.org"}
    assert (await refused(server))[0] == 403

    provider.claims |= {"sub": "Mallory", "email": PERSON["email"].upper()}
    assert await is_let_in(server), "capitals make no difference"


async def test_a_linked_person_is_known_by_subject_whatever_their_e_mail_is_now(
    provider: Crooked, server: RunningServer
) -> None:
    assert await is_let_in(server)
    provider.claims |= {"email": server.email, "email_verified": False}
    assert await is_let_in(server)

    provider.claims |= {"sub": PERSON["sub"].upper(), "email": PERSON["email"]}
    assert (await refused(server))[0] == 403, "subjects are compared letter by letter"


async def test_a_sign_in_takes_ten_minutes_at_most(
    provider: Crooked, server: RunningServer, clock: Hands
) -> None:
    for seconds, let_in in ((599, True), (600, False)):
        async with browsing() as browser:
            clock.now = clock.now.replace(microsecond=0)
            stop = await browser.open(server.url + LOGIN, until="/callback?")
            clock.move(seconds=seconds)
            of_now(provider, clock)
            assert provider.codes, "the provider would take its code still"
            await browser.open(stop.url)
            assert ("hwci_rt" in browser.cookies()) is let_in


FAULTS: dict[str, tuple[Bend, str]] = {
    "the claim of the sign-in": (
        lambda provider: provider.claims.update(nonce="another"),
        "its ID token answers another sign-in (nonce)",
    ),
    "the claim of the client": (
        lambda provider: provider.claims.update(azp="another"),
        "its ID token was made for another client (azp)",
    ),
    "the algorithm": (
        SIGNATURES["a public key"],
        "its ID token is signed with 'HS256', which is not accepted",
    ),
    "the key": (
        SIGNATURES["a key that is not published"],
        "none of its keys is 'unknown' for RS256",
    ),
    "the set of keys": (
        lambda provider: provider.answers.update({"/keys": says()}),
        "its keys are not a JSON Web Key Set",
    ),
}


@pytest.mark.parametrize(("bend", "fault"), FAULTS.values(), ids=list(FAULTS))
async def test_the_operators_log_names(
    provider: Crooked,
    server: RunningServer,
    caplog: pytest.LogCaptureFixture,
    bend: Bend,
    fault: str,
) -> None:
    bend(provider)

    assert await refused(server) == NO_PROOF
    assert fault in caplog.text
