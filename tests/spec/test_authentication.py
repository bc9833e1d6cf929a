# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""How users sign in and what their token opens (spec, "Authentication", "Other endpoints")."""

from pathlib import Path

import jwt
import pytest

from hwci.wire.sso import challenge_of
from tests.server.crooked import PERSON, crooked_provider
from tests.spec.quoting import shows
from tests.spec.service import Json, Service, new_service
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.browsing import browsing
from tests.support.providers import sso_file
from tests.support.running import EMAIL, PASSWORD, Hands, RunningServer, running_in_thread

BEARER = "| User bearer token | users (dashboard, CI key management) | header `Authorization: Bearer <ACCESS_TOKEN>` | JWT access token, expires after 15 minutes |"
OBTAINED = "1. Tokens are obtained by POST `/api/auth/login` with e-mail and password, or through an SSO flow."
LOGIN = "| POST | `/api/auth/login` | Body carries an e-mail and a password. |"
REGISTER = "| POST | `/api/auth/register` | Exists; payload: not shown. |"
REFRESH = "| POST | `/api/auth/refresh` | Exists; payload: not shown. |"
ROTATED = "| Refresh token | users | used to obtain a new access token | expires after 7 days; rotated on every use; if one refresh token is used twice, all sessions of that user are revoked |"
REFRESH_LIFETIME = "| Refresh token lifetime | 7 days | refresh token |"
LIFETIME = "| Access token lifetime | 15 minutes | bearer token |"


def login(server: RunningServer, **body: object) -> Reply:
    return ask(server.url, "POST", "/api/auth/login", json_body=body)


def me(server: RunningServer, token: str) -> Reply:
    return ask(server.url, "GET", "/api/auth/me", bearer(token))


@shows(OBTAINED, LOGIN)
def test_an_e_mail_and_a_password_obtain_a_token(server: RunningServer) -> None:
    reply = login(server, email=EMAIL, password=PASSWORD)

    assert reply.status == 200
    assert me(server, reply.json["accessToken"]).json["user"]["email"] == EMAIL
    assert login(server, email=EMAIL, password="wrong horse battery").error[0] == 401
    assert login(server, email="no@example.org", password=PASSWORD).error[0] == 401
    assert login(server).issue_paths == [["body", "email"], ["body", "password"]]


@shows(OBTAINED)
async def test_an_sso_flow_obtains_a_token(tmp_path: Path) -> None:
    verifier = "v" * 43
    path = f"/api/auth/sso/crooked/login?port=1&challenge={challenge_of(verifier)}&machine=pc"
    with crooked_provider() as provider:
        file = sso_file(tmp_path, crooked=provider.url)
        with running_in_thread(tmp_path, sso_file=file) as server:
            async with browsing() as browser:
                stop = await browser.open(server.url + path, until="127.0.0.1:1/")
            body = {"code": stop.url.partition("code=")[2], "verifier": verifier}
            reply = ask(server.url, "POST", "/api/auth/sso/token", json_body=body)
            assert me(server, reply.json["accessToken"]).json["user"]["email"] == PERSON["email"]


@shows(REGISTER, OBTAINED)
def test_a_person_who_registers_can_sign_in(server: RunningServer) -> None:
    person = {"email": "new@example.org", "password": PASSWORD}
    reply = ask(server.url, "POST", "/api/auth/register", json_body=person)

    assert reply.status == 201
    assert login(server, **person).json["user"] == reply.json["user"]
    assert ask(server.url, "POST", "/api/auth/register", json_body={}).issue_paths


@shows(BEARER)
def test_an_access_token_is_a_jwt_carried_as_bearer(server: RunningServer) -> None:
    token = login(server, email=EMAIL, password=PASSWORD).json["accessToken"]
    claims = jwt.decode(token, options={"verify_signature": False})

    assert claims["exp"] - claims["iat"] == 15 * 60
    assert me(server, token).status == 200
    for header in (("Authorization", token), ci_key(token), ("Cookie", f"token={token}")):
        assert ask(server.url, "GET", "/api/auth/me", header).error[0] == 401
    assert ask(server.url, "GET", f"/api/auth/me?token={token}").error[0] == 401


@shows(BEARER, LIFETIME)
def test_an_access_token_expires_after_15_minutes(tmp_path: Path) -> None:
    clock = Hands()
    clock.now = clock.now.replace(microsecond=0)
    with running_in_thread(tmp_path, clock=clock) as server:
        answer = login(server, email=EMAIL, password=PASSWORD).json
        assert answer["expiresIn"] == 15 * 60

        clock.move(minutes=14, seconds=59)
        assert me(server, answer["accessToken"]).status == 200
        clock.move(seconds=1)
        assert me(server, answer["accessToken"]).error[0] == 401


def refresh(server: RunningServer, token: str) -> Reply:
    body = {"refreshToken": token}
    return ask(server.url, "POST", "/api/auth/refresh", json_body=body)


def new_person(server: RunningServer, email: str) -> Json:
    person = {"email": email, "password": PASSWORD}
    return dict(ask(server.url, "POST", "/api/auth/register", json_body=person).json)


@shows(REFRESH, ROTATED)
def test_a_refresh_token_obtains_a_new_access_token(server: RunningServer) -> None:
    first = new_person(server, "renewed@example.org")
    reply = refresh(server, first["refreshToken"])

    assert reply.status == 200
    assert reply.json["refreshToken"] != first["refreshToken"]
    assert me(server, reply.json["accessToken"]).json["user"] == first["user"]
    assert refresh(server, reply.json["refreshToken"]).status == 200


@shows(ROTATED)
def test_a_refresh_token_used_twice_revokes_all_sessions_of_its_user(
    server: RunningServer,
) -> None:
    first, other = (
        new_person(server, "reused@example.org"),
        new_person(server, "bystander@example.org"),
    )
    second = login(server, email="reused@example.org", password=PASSWORD).json
    renewed = refresh(server, first["refreshToken"]).json

    assert refresh(server, first["refreshToken"]).error[0] == 401
    for answer in (first, second, renewed):
        assert me(server, answer["accessToken"]).error[0] == 401
        assert refresh(server, answer["refreshToken"]).error[0] == 401
    assert me(server, other["accessToken"]).status == 200
    assert refresh(server, other["refreshToken"]).status == 200


@shows(ROTATED, REFRESH_LIFETIME)
def test_a_refresh_token_expires_after_7_days(tmp_path: Path) -> None:
    clock = Hands()
    with running_in_thread(tmp_path, clock=clock) as server:
        first, second = (login(server, email=EMAIL, password=PASSWORD).json for _ in range(2))

        clock.move(days=6, hours=23, minutes=59, seconds=59)
        renewed = refresh(server, first["refreshToken"])
        assert renewed.status == 200
        clock.move(seconds=1)
        assert refresh(server, second["refreshToken"]).error[0] == 401
        assert me(server, renewed.json["accessToken"]).status == 200


@shows(BEARER)
@pytest.mark.parametrize("path", ["ci-keys", "ci-metrics", "ci-failures", "products", "audit-log"])
def test_what_users_read_needs_a_token(server: RunningServer, path: str) -> None:
    service: Service = new_service(server)

    assert service.ask("GET", path).status == 200
    for token in ("", service.token[:-2], service.key):
        assert service.acting(token).ask("GET", path).error[0] == 401
