# SPDX-License-Identifier: Apache-2.0
"""No key, password or token stands in the clear in the database files or in the log."""

import logging
from itertools import product
from pathlib import Path

import pytest

from hwci.server.app import ResetPassword
from hwci.server.settings import VARIABLES, read_settings
from tests.support.asking import ask, bearer, ci_key, connect, say
from tests.support.databases import about_a_file
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    PASSWORD,
    RunningServer,
    report,
    running_in_thread,
)


def use(server: RunningServer) -> list[str]:
    """Use the server fully, its refusals too; give every secret that was said."""
    registration = {"email": "new@example.org", "password": "a password of mine", "name": "N"}
    signed_in = ask(server.url, "POST", "/api/auth/register", json_body=registration).json
    login = ask(
        server.url, "POST", "/api/auth/login", json_body={"email": EMAIL, "password": PASSWORD}
    ).json
    wrong = {"email": EMAIL, "password": "the wrong password"}
    ask(server.url, "POST", "/api/auth/login", json_body=wrong)
    keys = f"/api/orgs/{server.org_id}/ci-keys"
    key = ask(server.url, "POST", keys, bearer(server.token), json_body={"name": "k"}).json
    ask(server.url, "POST", "/api/ci/run-report", ci_key(key["apiKey"]), json_body=report())
    ask(server.url, "POST", "/api/ci/run-report", ci_key(key["apiKey"]), json_body={})
    ask(server.url, "GET", f"{server.org_url.removeprefix(server.url)}/ci-metrics", bearer("x.y.z"))
    ask(server.url, "DELETE", f"{keys}/{key['id']}", bearer(server.token))
    held = {"refreshToken": signed_in["refreshToken"]}
    renewed = ask(server.url, "POST", "/api/auth/refresh", json_body=held).json
    leaving = {"refreshToken": renewed["refreshToken"]}
    ask(server.url, "POST", "/api/auth/logout", json_body=leaving)
    assert ask(server.url, "POST", "/api/auth/refresh", json_body=held).status == 401
    changed = {"currentPassword": "a wrong guess of mine", "newPassword": "a second one of mine"}
    ask(server.url, "POST", "/api/auth/password", bearer(server.admin_token), json_body=changed)
    links = [server.operate(ResetPassword(email=ADMIN_EMAIL)) for _ in range(2)]
    reset = {"resetToken": links[1].reset_token, "newPassword": "a third one of mine"}
    assert ask(server.url, "POST", "/api/auth/reset", json_body=reset).status == 204
    return [
        *changed.values(),
        *(link.reset_token or "" for link in links),
        reset["newPassword"] or "",
        server.ci_key,
        server.token,
        server.admin_token,
        PASSWORD,
        key["apiKey"],
        registration["password"],
        wrong["password"],
        *(
            answer[name]
            for answer in (signed_in, login, renewed)
            for name in ("accessToken", "refreshToken")
        ),
    ]


@about_a_file
def test_no_secret_stands_in_the_database_files_or_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with running_in_thread(tmp_path) as server:
        said = use(server)
        while_it_runs = contents(tmp_path)
    afterwards = contents(tmp_path)

    assert any(name.endswith("-wal") for name in while_it_runs)
    assert "GET /api/orgs/" in caplog.text, "the access log was listened to"
    key = (tmp_path / "hwci.db.key").read_text().strip()
    for secret in (*said, key):
        bare = secret.removeprefix("svc_")
        forms = [bare.encode(), bytes.fromhex(bare) if is_hex(bare) else bare.encode()]
        for content in (*while_it_runs.values(), *afterwards.values()):
            assert not any(form in content for form in forms)
        assert bare not in caplog.text


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.glob("hwci.db*") if path.is_file() and path.suffix != ".key"]
    return {path.name: path.read_bytes() for path in files}


def is_hex(text: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in text)


CANARY = "Zq7xKv9wJp3mLt5nRb8yHc2d"
PLACES = (
    f"Authorization: Bearer {CANARY}",
    f"X-API-Key: svc_{CANARY}",
    f"Cookie: hwci_refresh={CANARY}",
    f"Proxy-Authorization: Basic {CANARY}",
)
MALFORMED = {
    "NUL": "GET /healthz HTTP/1.1\r\nHost: x\r\n{}\0\r\n\r\n",
    "control character": "GET /healthz HTTP/1.1\r\nHost: x\r\n{}\x01\r\n\r\n",
    "folded": "GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n {}\r\n\r\n",
    "continued after nothing": "GET /healthz HTTP/1.1\r\n {}\r\n\r\n",
    "bare line feed": "GET /healthz HTTP/1.1\r\nHost: x\n{}\n\n",
    "bare carriage return": "GET /healthz HTTP/1.1\r\nHost: x\r{}\r\r",
    "no colon": "GET /healthz HTTP/1.1\r\nHost: x\r\nX {}\r\n\r\n",
    "two hosts": "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: {}\r\n{}\r\n\r\n",
    "too long": "GET /healthz HTTP/1.1\r\nHost: x\r\n{}" + "a" * 9_000 + "\r\n\r\n",
    "too many": "GET /healthz HTTP/1.1\r\nHost: x\r\n" + "{}\r\n" * 200 + "\r\n",
    "as the request line": "{}\r\n\r\n",
    "as the method": "{} /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    "in the query": "GET /healthz?token={} HTTP/9.9\r\nHost: x\r\n\r\n",
    "in a query of bytes": "GET /healthz?token={}\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    "in a query too long": "GET /?t={}" + "a" * 9_000 + " HTTP/1.1\r\nHost: x\r\n\r\n",
    "in the host": "GET /healthz HTTP/1.1\r\nHost: {}:x\r\nConnection: close\r\n\r\n",
    "in the address": "GET http://{}@[/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "as a length": "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
    "as a coding": "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {}\r\n\r\n",
    "as an expectation": "POST /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Expect: {}\r\n\r\n",
    "as a chunk": "POST /api/auth/login HTTP/1.1\r\nHost: x\r\n{}\r\n"
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{}\r\n\r\n",
    "as a body": "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{:99}",
    "as a content type": "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Content-Type: {}\r\nContent-Length: 0\r\n\r\n",
    "well formed": "GET /api/auth/me?t={} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n\r\n",
}


def test_no_piece_of_a_credential_in_a_malformed_request_stands_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """All that is logged at any level, by the framework and the event loop too."""
    caplog.set_level(logging.DEBUG)
    with running_in_thread(tmp_path) as server:
        for header, shape in product(PLACES, MALFORMED.values()):
            raw = shape.replace("{}", header).replace("{:99}", f"{header:99}")
            assert say(server.url, raw.encode("latin-1")).startswith(b"HTTP/1.")
        with connect(server.url) as line:  # and one that goes before its head is whole
            line.sendall(f"GET / HTTP/1.1\r\n{PLACES[0]}".encode())

    assert caplog.text.count("is refused with 400") > 40, "the log was listened to"
    for start in range(len(CANARY) - 4):
        assert CANARY[start : start + 5] not in caplog.text


def test_no_setting_that_may_hold_a_secret_shows_in_a_repr() -> None:
    given = {one.name: "valkey://:hush@host" for one in VARIABLES if one.secret}

    assert len(given) > 1
    assert "hush" not in repr(read_settings(given))
