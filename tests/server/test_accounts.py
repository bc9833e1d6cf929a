# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out, organizations and CI keys (contract, "Auth",
"Organizations")."""

from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import jwt
import pytest

from hwci.server.settings import Registration
from hwci.wire import limits
from tests.support.asking import Reply, ask, bearer
from tests.support.joining import join
from tests.support.running import (
    EMAIL,
    NAME,
    ORGANIZATION,
    PASSWORD,
    Hands,
    RunningServer,
    running_in_thread,
)


def register(server: RunningServer, email: str, /, **fields: Any) -> Reply:
    body = {"email": email, "password": PASSWORD, **fields}
    return ask(server.url, "POST", "/api/auth/register", json_body=body)


def login(server: RunningServer, email: str = EMAIL, password: str = PASSWORD) -> Reply:
    body = {"email": email, "password": password}
    return ask(server.url, "POST", "/api/auth/login", json_body=body)


def me(server: RunningServer, token: str) -> Reply:
    return ask(server.url, "GET", "/api/auth/me", bearer(token))


def test_a_person_who_registers_is_signed_in(server: RunningServer) -> None:
    reply = register(server, "ada@example.org", name="Ada", organization="Engines")

    answer = reply.json
    assert reply.status == 201
    assert answer["user"]["email"] == "ada@example.org"
    assert (answer["organization"]["name"], answer["organization"]["role"]) == ("Engines", "owner")
    assert (answer["tokenType"], answer["expiresIn"]) == ("Bearer", 900)
    assert me(server, answer["accessToken"]).json == {
        "user": answer["user"],
        "organizations": [{**answer["organization"], "ciMetricsEnabled": False, "eraseAt": None}],
        "total": 1,
        "page": 1,
        "invitations": 0,
    }


def test_a_person_who_names_no_organization_has_none(server: RunningServer) -> None:
    answer = register(server, "alone@example.org").json

    assert answer["organization"] is None
    assert me(server, answer["accessToken"]).json["organizations"] == []


@pytest.mark.parametrize("email", [EMAIL, EMAIL.upper()])
def test_a_taken_e_mail_is_409_naming_it(server: RunningServer, email: str) -> None:
    reply = register(server, email)

    assert reply.error == (409, "A record with this email already exists")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"password": "short"}, "password"),
        ({"password": "x" * 1025}, "password"),
        ({"email": "nobody"}, "email"),
        ({"name": ""}, "name"),
        ({"role": "owner"}, "role"),
    ],
)
def test_a_registration_that_breaks_the_rules_is_400(
    server: RunningServer, fields: dict[str, Any], path: str
) -> None:
    reply = register(server, "new@example.org", **fields)

    assert reply.issue_paths == [["body", path]]
    assert b"short" not in reply.body.replace(b"shorter", b"")


def test_names_are_camel_case_and_pythons_own_are_unknown(server: RunningServer) -> None:
    body = {"refresh_token": "x", "refreshToken": "x"}

    reply = ask(server.url, "POST", "/api/auth/logout", json_body=body)
    alone = ask(server.url, "POST", "/api/auth/logout", json_body={"refresh_token": "x"})

    assert reply.issue_paths == [["body", "refresh_token"]]
    assert alone.issue_paths == [["body", "refresh_token"]]


@pytest.mark.parametrize("policy", [Registration.INVITE, Registration.CLOSED])
def test_the_operators_policy_is_kept(tmp_path: Path, policy: Registration) -> None:
    with running_in_thread(tmp_path, registration=policy) as server:
        reply = register(server, "new@example.org", inviteToken="guess")

        assert reply.error[0] == 403
        assert login(server, "new@example.org").status == 401


def test_a_sign_in_answers_as_a_registration_does(server: RunningServer) -> None:
    answer = login(server, EMAIL.upper()).json

    assert answer["user"]["name"] == NAME
    assert answer["organization"]["name"] == ORGANIZATION
    assert set(answer) == {
        "user",
        "organization",
        "accessToken",
        "refreshToken",
        "tokenType",
        "expiresIn",
        "deviceToken",
        "notice",
    }


def test_a_wrong_e_mail_and_a_wrong_password_get_one_answer(server: RunningServer) -> None:
    password = login(server, password="wrong horse battery")
    email = login(server, email="nobody@example.org")
    strange = login(server, email="ü" * 500, password="")

    assert password.error == (401, "Invalid e-mail or password")
    assert password.body == email.body == strange.body


def test_logging_out_ends_the_access_token_too(server: RunningServer) -> None:
    kept, ended = login(server).json, login(server).json
    body = {"refreshToken": ended["refreshToken"]}

    for _ in range(2):
        assert ask(server.url, "POST", "/api/auth/logout", json_body=body).status == 204
    assert me(server, ended["accessToken"]).error == (401, "The session has ended; sign in again")
    assert me(server, kept["accessToken"]).status == 200


def test_an_access_token_lives_fifteen_minutes_and_no_longer(tmp_path: Path) -> None:
    clock = Hands()
    clock.now = clock.now.replace(microsecond=0)
    with running_in_thread(tmp_path, clock=clock) as server:
        token = login(server).json["accessToken"]

        clock.move(minutes=15, microseconds=-1)
        assert me(server, token).status == 200
        clock.move(microseconds=1)
        assert me(server, token).error[0] == 401


def test_a_token_that_was_not_signed_here_is_401(server: RunningServer) -> None:
    claims = jwt.decode(server.token, options={"verify_signature": False})
    key = server.key_file.read_bytes().strip()
    head, body, _ = server.token.split(".")
    none = urlsafe_b64encode(b'{"alg":"none","typ":"at+jwt"}').decode().rstrip("=")
    typ = {"typ": "at+jwt"}
    strange = [
        jwt.encode(claims, "x" * 32, "HS256", headers=typ),
        jwt.encode(claims, key, "HS512", headers=typ),
        jwt.encode(claims, key, "HS256"),
        *(
            jwt.encode({k: v for k, v in claims.items() if k != name}, key, "HS256", headers=typ)
            for name in claims
        ),
        jwt.encode({**claims, "aud": "others"}, key, "HS256", headers=typ),
        jwt.encode({**claims, "sub": "x"}, key, "HS256", headers=typ),
        jwt.encode({**claims, "sid": claims["sub"]}, key, "HS256", headers=typ),
        f"{none}.{body}.",
        f"{head}.{body}.",
        "a.b.c",
        "é",
        "x" * 5000,
    ]
    good = jwt.encode(claims, key, "HS256", headers=typ)

    assert me(server, good).status == 200
    assert {me(server, token).status for token in strange} == {401}


def test_an_organization_belongs_to_who_creates_it(server: RunningServer) -> None:
    token = register(server, "founder@example.org").json["accessToken"]
    made = ask(server.url, "POST", "/api/orgs", bearer(token), json_body={"name": "New"})

    assert made.status == 201
    assert (made.json["role"], made.json["ciMetricsEnabled"]) == ("owner", False)
    shown = ask(server.url, "GET", f"/api/orgs/{made.json['id']}", bearer(token))
    listed = ask(server.url, "GET", "/api/orgs", bearer(token))
    assert shown.json == made.json
    assert listed.json == {"items": [made.json], "total": 1, "page": 1, "limit": 20}


def test_a_list_is_given_by_pages_newest_first(server: RunningServer) -> None:
    token = register(server, "pages@example.org").json["accessToken"]
    for name in "abc":
        ask(server.url, "POST", "/api/orgs", bearer(token), json_body={"name": name})

    def names(query: str) -> tuple[list[str], int]:
        answer = ask(server.url, "GET", f"/api/orgs?{query}", bearer(token)).json
        return [item["name"] for item in answer["items"]], answer["total"]

    assert names("limit=2") == (["c", "b"], 3)
    assert names("limit=2&page=2") == (["a"], 3)
    assert names("limit=2&page=3") == ([], 3)


def test_a_key_is_shown_once_and_revoked_for_good(server: RunningServer) -> None:
    path = f"/api/orgs/{server.org_id}/ci-keys"
    made = ask(server.url, "POST", path, bearer(server.admin_token), json_body={"name": "n" * 255})

    assert made.status == 201
    assert set(made.json) == {"id", "name", "apiKey", "createdAt"}
    assert made.json["apiKey"].startswith("svc_")
    assert len(made.json["apiKey"]) == 68

    def shown() -> Any:
        listed = ask(server.url, "GET", path, bearer(server.member_token))
        assert made.json["apiKey"].encode() not in listed.body
        return next(item for item in listed.json["items"] if item["id"] == made.json["id"])

    assert set(shown()) == {"id", "name", "createdAt", "lastUsedAt", "revokedAt"}
    one = f"{path}/{made.json['id']}"
    assert ask(server.url, "DELETE", one, bearer(server.admin_token)).status == 204
    revoked = shown()["revokedAt"]
    assert ask(server.url, "DELETE", one, bearer(server.admin_token)).status == 204
    assert shown()["revokedAt"] == revoked is not None


@pytest.mark.parametrize("name", ["", "n" * 256, 1, None, "a\0b"])
def test_a_key_needs_a_name_of_1_to_255_characters(server: RunningServer, name: Any) -> None:
    path = f"/api/orgs/{server.org_id}/ci-keys"
    reply = ask(server.url, "POST", path, bearer(server.token), json_body={"name": name})

    assert reply.issue_paths == [["body", "name"]]


def test_a_key_of_another_organization_cannot_be_revoked(server: RunningServer) -> None:
    path = f"/api/orgs/{server.org_id}/ci-keys"
    key = ask(server.url, "GET", path, bearer(server.token)).json["items"][-1]
    answer = register(server, "thief@example.org", organization="Thieves").json
    other = f"/api/orgs/{answer['organization']['id']}/ci-keys/{key['id']}"

    reply = ask(server.url, "DELETE", other, bearer(answer["accessToken"]))

    assert reply.error == (404, "CI key not found")


def test_a_person_makes_so_many_organizations_and_sees_them_by_pages(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ORGANIZATIONS_MAX", 3)
    person = register(server, "many@example.org", organization="Own 0").json
    token = bearer(person["accessToken"])

    def make(number: int) -> Reply:
        return ask(server.url, "POST", "/api/orgs", token, json_body={"name": f"Own {number}"})

    made = [make(number) for number in (1, 2, 3)]

    assert [reply.status for reply in made] == [201, 201, 409]
    assert made[-1].error[1].startswith("You own 100 organizations, and nobody makes more; give")
    monkeypatch.setattr(limits, "PAGE_LIMIT_MAX", 2)
    pages = [ask(server.url, "GET", f"/api/auth/me?page={page}", token).json for page in (1, 2)]
    names = [[one["name"] for one in page["organizations"]] for page in pages]
    assert names == [["Own 2", "Own 1"], ["Own 0"]]
    assert [(one["total"], one["page"]) for one in pages] == [(3, 1), (3, 2)]
    other = bearer(register(server, "other@example.org").json["accessToken"])
    joined = made[0].json["id"]
    join(server.url, joined, person["accessToken"], other[1].removeprefix("Bearer "), "owner")
    own_id = person["user"]["id"]
    left = ask(server.url, "DELETE", f"/api/orgs/{joined}/members/{own_id}", token)
    assert left.status == 204
    assert make(4).status == 201, "who gave one away makes another"
