# SPDX-License-Identifier: Apache-2.0
"""An access token is taken if it is ours, now, and for its purpose; whatever else is presented as
one is 401, even when it is signed with the server's own key (spec, "Authentication").
"""

import hmac
import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from hwci.server.clock import system_clock
from hwci.server.errors import SettingsError, UnauthenticatedError
from hwci.server.security.secret_key import KeyFile, signing_keys
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens, Claims, same_token
from hwci.wire import limits
from tests.support.asking import Reply, ask, bearer
from tests.support.running import (
    Hands,
    RunningServer,
    running_in_thread,
)

Json = dict[str, Any]
HOUR = 3_600


def part(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def said_by(token: str) -> Json:
    return dict(jwt.decode(token, options={"verify_signature": False}))


@dataclass(frozen=True)
class Forge:
    """What a forger may know at most: the server's key, and what a good token says."""

    key: bytes
    header: Json
    claims: Json
    good: str
    other_sid: str
    other_sub: str

    def make(
        self, header: Any = None, claims: Any = None, key: bytes | None = None, by: str = "sha256"
    ) -> str:
        """Sign parts, whatever they are; what is not given is as in a good token."""
        head = part(text(self.header if header is None else header))
        body = part(text(self.claims if claims is None else claims))
        used = self.key if key is None else key
        return f"{head}.{body}.{part(hmac.digest(used, f'{head}.{body}'.encode(), by))}"

    def saying(self, **claims: Any) -> str:
        """Change claims; None takes one away."""
        said = {**self.claims, **claims}
        return self.make(claims={name: value for name, value in said.items() if value is not None})

    def headed(self, by: str = "sha256", key: bytes | None = None, **fields: Any) -> str:
        """Change the header; None takes a field away."""
        head = {**self.header, **fields}
        kept = {name: value for name, value in head.items() if value is not None}
        return self.make(header=kept, by=by, key=key)

    def of_kind(self, kind: str) -> str:
        """Have the server's own signer sign the claims as another kind of token."""
        said = {name: str(self.claims[name]) for name in ("sub", "sid")}
        return Signer(self.key, system_clock).sign(kind, said, timedelta(minutes=15))


def parts(forge: Forge) -> list[str]:
    return forge.good.split(".")


def by_rsa(forge: Forge) -> str:
    private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key()))
    header = {"typ": forge.header["typ"], "jwk": jwk}
    return jwt.encode(forge.claims, private, "RS256", headers=header)


FOREIGN = b"f" * 64
NOW = int(time.time())


def unsigned(alg: str) -> Callable[[Forge], str]:
    return lambda forge: ".".join(forge.headed(alg=alg).split(".")[:2]) + "."


# Not signed, or not as we sign.
ALGORITHMS: Mapping[str, Callable[[Forge], str]] = {
    **{f"alg {alg!r}": unsigned(alg) for alg in ("none", "None", "NONE", "nOnE", "", "HS256")},
    "alg none, signed": lambda f: f.headed(alg="none"),
    "alg HS384": lambda f: f.headed(alg="HS384", by="sha384"),
    "alg HS512": lambda f: f.headed(alg="HS512", by="sha512"),
    "alg HS384, signed as HS256": lambda f: f.headed(alg="HS384"),
    "alg RS256 with the secret": lambda f: f.headed(alg="RS256"),
    "alg RS256 with a key of its own": by_rsa,
    "alg that is none": lambda f: f.headed(alg="ABC"),
    "alg in lower case": lambda f: f.headed(alg="hs256"),
    "alg a list": lambda f: f.headed(alg=["HS256"]),
    "alg a number": lambda f: f.headed(alg=256),
    "no alg": lambda f: f.headed(alg=None),
}
KEYS: Mapping[str, Callable[[Forge], str]] = {
    "foreign key": lambda f: f.make(key=FOREIGN),
    "empty key": lambda f: f.make(key=b""),
    "key with a line end": lambda f: f.make(key=f.key + b"\n"),
    "issuer as key": lambda f: f.make(key=b"hwci"),
    "kid of a file": lambda f: f.headed(key=b"", kid="/dev/null"),
    "kid of a statement": lambda f: f.headed(key=FOREIGN, kid="' UNION SELECT 'f'--"),
    "jwk of its own": lambda f: f.headed(key=FOREIGN, jwk={"kty": "oct", "k": part(FOREIGN)}),
    "jku of its own": lambda f: f.headed(key=FOREIGN, jku="http://127.0.0.1:1/keys"),
    "x5u of its own": lambda f: f.headed(key=FOREIGN, x5u="http://127.0.0.1:1/cert"),
    "signature of another token": lambda f: ".".join(
        [*f.saying(sub=f.other_sub).split(".")[:2], parts(f)[2]]
    ),
    "signature cut": lambda f: f.good[:-4],
    "signature reversed": lambda f: ".".join([*parts(f)[:2], parts(f)[2][::-1]]),
    "no signature": lambda f: ".".join(parts(f)[:2]) + ".",
}
# Signed with the server's key, and yet not what it signs.
PURPOSES: Mapping[str, Callable[[Forge], str]] = {
    "typ JWT": lambda f: f.headed(typ="JWT"),
    "typ in capitals": lambda f: f.headed(typ="AT+JWT"),
    "typ of RFC 9068, long": lambda f: f.headed(typ="application/at+jwt"),
    "typ a list": lambda f: f.headed(typ=["at+jwt"]),
    "no typ": lambda f: f.headed(typ=None),
    "kind of a sign-in at a provider": lambda f: f.of_kind("sso+jwt"),
    "kind of a sign-in that waits for its person": lambda f: f.of_kind("sso-waiting+jwt"),
    "kind of a code for the command line": lambda f: f.of_kind("sso-code+jwt"),
    "kind without a name": lambda f: f.of_kind(""),
    "crit that nobody knows": lambda f: f.headed(crit=["exp-of-mine"]),
    "crit that is there": lambda f: f.headed(crit=["b64"], b64=False),
    "crit empty": lambda f: f.headed(crit=[]),
    "another issuer": lambda f: f.saying(iss="other"),
    "no issuer": lambda f: f.saying(iss=None),
    "issuers": lambda f: f.saying(iss=["hwci"]),
    "another audience": lambda f: f.saying(aud="other"),
    "no audience": lambda f: f.saying(aud=None),
    "other audiences": lambda f: f.saying(aud=["other", "hwci2"]),
    "audience a number": lambda f: f.saying(aud=7),
}
TIMES: Mapping[str, Callable[[Forge], str]] = {
    "ended a second ago": lambda f: f.saying(exp=NOW - 1),
    "ended in 1970": lambda f: f.saying(exp=0),
    "ended before 1970": lambda f: f.saying(exp=-HOUR),
    "no end": lambda f: f.saying(exp=None),
    "end a text": lambda f: f.saying(exp="never"),
    "end a number as text": lambda f: f.saying(exp=str(NOW + HOUR)),
    "end true": lambda f: f.saying(exp=True),
    "end a list": lambda f: f.saying(exp=[NOW + HOUR]),
    "end infinite": lambda f: f.saying(exp=float("inf")),
    "end no number": lambda f: f.saying(exp=float("nan")),
    "end beyond all years": lambda f: f.saying(exp=1e308),
    "end beyond 64 bits": lambda f: f.saying(exp=10**400),
    "begins in an hour": lambda f: f.saying(nbf=NOW + HOUR, exp=NOW + 2 * HOUR),
    "issued in an hour": lambda f: f.saying(iat=NOW + HOUR, exp=NOW + 2 * HOUR),
    "issue infinite": lambda f: f.saying(iat=float("inf")),
    "issue a text": lambda f: f.saying(iat="now"),
    "no issue": lambda f: f.saying(iat=None),
}
PEOPLE: Mapping[str, Callable[[Forge], str]] = {
    "nobody's session": lambda f: f.saying(sid="00000000-0000-4000-8000-000000000000"),
    "another's session": lambda f: f.saying(sid=f.other_sid),
    "another person": lambda f: f.saying(sub=f.other_sub),
    "nobody": lambda f: f.saying(sub="00000000-0000-4000-8000-000000000000"),
    "person no id": lambda f: f.saying(sub="owner@example.org"),
    "person a number": lambda f: f.saying(sub=7),
    "person a list": lambda f: f.saying(sub=[f.claims["sub"]]),
    "no person": lambda f: f.saying(sub=None),
    "session no id": lambda f: f.saying(sid="' OR 1=1 --"),
    "session a number": lambda f: f.saying(sid=7),
    "no session": lambda f: f.saying(sid=None),
}
SHAPES: Mapping[str, Callable[[Forge], str]] = {
    "nothing": lambda _: "",
    "dots": lambda _: "..",
    "many dots": lambda _: "." * 3_000,
    "one part": lambda f: parts(f)[0],
    "two parts": lambda f: ".".join(parts(f)[:2]),
    "four parts": lambda f: f.good + ".x",
    "five parts": lambda f: f.good + ".x.y",
    "no base64": lambda f: ".".join([parts(f)[0], "%%%", parts(f)[2]]),
    "base64 with padding": lambda f: ".".join(one + "==" for one in parts(f)),
    "base64 of another alphabet": lambda f: ".".join(
        b64encode(b"\xfb\xff" + one.encode()).decode() for one in parts(f)
    ),
    "quoted": lambda f: f'"{f.good}"',
    "twice": lambda f: f"{f.good} {f.good}",
    "two with a comma": lambda f: f"{f.good},{f.good}",
    "beyond ASCII": lambda f: f.good[:-1] + "é",
    "header no JSON": lambda f: f.make(header=b"{"),
    "header a list": lambda f: f.make(header=[]),
    "header null": lambda f: f.make(header=b"null"),
    "header no UTF-8": lambda f: f.make(header=b'{"alg": "HS256", "typ": "\xff"}'),
    "claims no JSON": lambda f: f.make(claims=b"{"),
    "claims a list": lambda f: f.make(claims=[]),
    "claims null": lambda f: f.make(claims=b"null"),
    "claims a text": lambda f: f.make(claims="owner"),
    "claims no UTF-8": lambda f: f.make(claims=b"\xff\xfe"),
    "claims nested deep": lambda f: f.make(claims=b"[" * 2_000),
    "longer than any of ours": lambda f: f.saying(more="x" * 4_096),
}
NOT_SENT = ("Send one header Authorization: Bearer with an access token",)
NOT_VALID = (
    "The access token is not valid or has ended; sign in again",
    "The session has ended; sign in again",
)
FORGED = {**ALGORITHMS, **KEYS, **PURPOSES, **TIMES, **PEOPLE, **SHAPES}


@pytest.fixture(scope="module")
def forge(server: RunningServer) -> Forge:
    other = said_by(server.admin_token)
    return Forge(
        key=signing_keys(server.key_file).present,
        header=jwt.get_unverified_header(server.token),
        claims=said_by(server.token),
        good=server.token,
        other_sid=other["sid"],
        other_sub=other["sub"],
    )


def me(server: RunningServer, token: str) -> Reply:
    value = f"Bearer {token}".encode().decode("latin-1")
    return ask(server.url, "GET", "/api/auth/me", ("Authorization", value))


def test_each_forgery_is_valid_but_for_its_change(server: RunningServer, forge: Forge) -> None:
    assert len(FORGED) > 90
    for good in (forge.good, forge.make(), forge.saying(), forge.headed(), forge.of_kind("at+jwt")):
        assert me(server, good).status == 200


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_401_and_nothing_else(
    server: RunningServer, forge: Forge, name: str
) -> None:
    token = FORGED[name](forge)

    refused = me(server, token)
    code, message = refused.error
    assert code == 401
    assert message in (NOT_SENT if name == "nothing" else NOT_VALID)
    assert refused.headers["www-authenticate"].startswith("Bearer")
    value = f"Bearer {token}".encode().decode("latin-1")
    path = f"/api/orgs/{server.org_id}"
    assert ask(server.url, "GET", path, ("Authorization", value)).error[0] == 401


def test_a_token_that_no_header_holds_is_refused_before_it_is_read(
    server: RunningServer, forge: Forge
) -> None:
    reply = me(server, forge.saying(more="x" * 64 * 1024))

    assert 400 <= reply.error[0] < 500


def test_no_forged_token_ended_anything(server: RunningServer, forge: Forge) -> None:
    assert me(server, forge.good).status == 200


def test_a_token_of_an_ended_session_is_refused_whatever_it_says(
    server: RunningServer, forge: Forge
) -> None:
    body = {"email": server.email, "password": server.password}
    pair = ask(server.url, "POST", "/api/auth/login", json_body=body).json
    claims = said_by(pair["accessToken"])
    assert me(server, pair["accessToken"]).status == 200
    logout = {"refreshToken": pair["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/logout", json_body=logout).status == 204

    assert me(server, pair["accessToken"]).error[0] == 401
    assert me(server, forge.saying(sid=claims["sid"], exp=NOW + HOUR)).error[0] == 401


@pytest.fixture
def moved(tmp_path: Path) -> Iterator[tuple[RunningServer, Hands]]:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        yield server, hands


def test_a_token_is_good_to_the_second(moved: tuple[RunningServer, Hands]) -> None:
    server, hands = moved
    left = said_by(server.token)["exp"] - hands.now.timestamp()

    hands.move(seconds=left - 0.001)
    assert me(server, server.token).status == 200
    hands.move(seconds=0.001)
    assert me(server, server.token).error[0] == 401


def test_a_token_that_was_read_has_its_end() -> None:
    """A stream ends with its token."""
    hands = Hands()
    tokens = AccessTokens(Signer(b"k" * 32, hands))

    claims = tokens.read(tokens.issue(Claims(UUID(int=1), UUID(int=2))))

    assert claims.ends_at == (hands.now + limits.ACCESS_TOKEN_LIFETIME).replace(microsecond=0)


@pytest.mark.parametrize("presented", [None, 7, "", "secre", "Secret", "sécret", "\ud800"])
def test_whatever_is_presented_for_a_secret_is_another_one(presented: object) -> None:
    """A JSON document may hold half of a pair of surrogates."""
    assert same_token("secret", "secret")
    assert not same_token(presented, "secret")


def test_a_server_whose_clock_is_a_little_behind_takes_a_token_of_another(
    moved: tuple[RunningServer, Hands],
) -> None:
    server, hands = moved
    hands.move(seconds=-5)

    assert ask(server.url, "GET", "/api/auth/me", bearer(server.token)).status == 200


def test_a_changed_key_file_that_cannot_be_used_is_told_once_and_the_keys_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "secret.key"
    signer = Signer(signing_keys(path).present, system_clock)
    tokens, file = AccessTokens(signer), KeyFile(path, signer)
    token = tokens.issue(Claims(UUID(int=1), UUID(int=2)))
    file.look()

    path.write_text("short")
    with pytest.raises(SettingsError, match="not a secret key"):
        file.look()
    file.look()
    path.unlink()
    file.look()
    assert not path.exists(), "a key of its own would part it from other servers"
    assert tokens.read(token).user_id == UUID(int=1)

    signing_keys(path)
    file.look()
    with pytest.raises(UnauthenticatedError):
        tokens.read(token)
