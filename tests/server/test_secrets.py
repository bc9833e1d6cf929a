# SPDX-License-Identifier: Apache-2.0
"""No key, password or token stands in the clear in the database files or in the log."""

import logging
from pathlib import Path

import pytest

from hwci.server.settings import VARIABLES, read_settings
from tests.server.asking import ask, bearer, ci_key
from tests.server.running import EMAIL, PASSWORD, RunningServer, report, running_in_thread


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
    return [
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


def test_no_setting_that_may_hold_a_secret_shows_in_a_repr() -> None:
    given = {one.name: "valkey://:hush@host" for one in VARIABLES if one.secret}

    assert len(given) > 1
    assert "hush" not in repr(read_settings(given))
